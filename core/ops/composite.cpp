// Composite defaults whose op is defined elsewhere or is no public op.
#include "composite.h"

#include <ambit/kernels.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include "broadcast.h"

namespace ambit::composite {
namespace {

// index [n] as gather and scatter want it: one entry for each element of a tensor of `sizes`.
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
void sgd_step(Tensor& p, Tensor& buf, const Tensor& g, const SgdParams& params) {
  Tensor step = g;
  if (params.weight_decay != 0) step = step.add(p, params.weight_decay);
  if (params.momentum != 0) {
    if (params.first_step) {
      buf.copy_(step);
    } else {
      buf.mul_(params.momentum).add_(step, 1 - params.dampening);
    }
    step = params.nesterov ? step.add(buf, params.momentum) : buf;
  }
  p.sub_(step, params.lr);
}

}  // namespace ambit::composite
