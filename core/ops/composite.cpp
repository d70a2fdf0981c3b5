// Composites of ops that are defined elsewhere or are not public.
#include "composite.h"

#include <ambit/backend/kernels.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include "core/ops/operands/broadcast.h"

namespace ambit::composite {
namespace {

// Expand index [n] as gather and scatter require: one entry per element of a tensor of `sizes`.
Tensor index_of_each(const Tensor& index, IntArrayRef sizes, int64_t dim) {
  Dims column(sizes.size(), 1);
  column[static_cast<size_t>(dim)] = index.numel();
  return expanded(index.reshape(column), sizes);
}

}  // namespace

void index_select(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim) {
  kernels::gather(y, x, index_of_each(index, y.sizes(), dim), dim);
}

void index_add(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  kernels::scatter_add(y, index_of_each(index, src.sizes(), dim), src, dim);
}

// Source: torch.optim.SGD; Sutskever et al. 2013 for Nesterov's momentum in this form.
void sgd_step(TensorList p, TensorList buf, TensorList g, const SgdParams& params) {
  for (size_t i = 0; i < p.size(); ++i) {
    Tensor step = g[i];
    if (params.weight_decay != 0) step = step.add(p[i], params.weight_decay);
    if (params.momentum != 0) {
      if (params.first_step) {
        buf[i].copy_(step);
      } else {
        buf[i].mul_(params.momentum).add_(step, 1 - params.dampening);
      }
      step = params.nesterov ? step.add(buf[i], params.momentum) : buf[i];
    }
    p[i].sub_(step, params.lr);
  }
}

// Source: torch.optim.Adam and AdamW; Kingma & Ba 2015, Loshchilov & Hutter 2019.
void adam_step(TensorList p, TensorList m, TensorList v, TensorList t, TensorList g,
               const AdamParams& params) {
  for (size_t i = 0; i < p.size(); ++i) {
    Tensor slope = g[i];
    if (params.weight_decay != 0 && params.decoupled) {
      p[i].mul_(1 - params.lr * params.weight_decay);
    } else if (params.weight_decay != 0) {
      slope = slope.add(p[i], params.weight_decay);
    }
    m[i].mul_(params.beta1).add_(slope, 1 - params.beta1);
    v[i].mul_(params.beta2).add_(slope.square(), 1 - params.beta2);
    if (t.empty()) {
      const Tensor root = v[i].sqrt().mul_(params.root_scale()).add_(params.eps);
      p[i].sub_(m[i] / root, params.step_size());
      continue;
    }
    const auto correction = [&](double beta) { return 1 - pow(beta, t[i].to(kFloat64) + 1); };
    const Tensor root = (v[i] / correction(params.beta2)).sqrt_().add_(params.eps);
    p[i].sub_(m[i] / correction(params.beta1) / root, params.lr);
  }
}

void unscale(TensorList g, Tensor& found, double factor) {
  for (size_t i = 0; i < g.size(); ++i) {
    found.masked_fill_(isfinite(g[i]).all().logical_not(), 1);
    g[i].mul_(factor);
  }
}

}  // namespace ambit::composite
