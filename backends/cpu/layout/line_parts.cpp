#include "line_parts.h"

#include <ambit/autograd.h>
#include <ambit/backend/kernels.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>
#include <ambit/parallel.h>

#include <algorithm>

namespace ambit::cpu {
namespace {

// Return the dim but `dim` that x is best cut along, -1 where it has one line.
int64_t dim_beside(int64_t dim, const Tensor& x) {
  int64_t best = -1;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (d != dim && x.size(d) > 1 && (best < 0 || x.size(d) > x.size(best))) best = d;
  }
  return best;
}

}  // namespace

void in_line_parts(int64_t dim, const Operands& outputs, const Operands& inputs,
                   const std::function<void(Operands& outputs, Operands& inputs)>& kernel) {
  const NoGradGuard no_grad;
  // As core's parts of other ops: 2 MiB of float32 for a thread.
  const int64_t most = int64_t{get_num_threads()} << 19, n = inputs[0].numel();
  const int64_t along = dim_beside(dim, inputs[0]);
  if (n > most && along >= 0) {
    const int64_t size = inputs[0].size(along), parts = (n + most - 1) / most;
    const int64_t step = (size + parts - 1) / parts;
    for (int64_t first = 0; first < size; first += step) {
      const auto part = [&](const Operands& whole) {
        Operands some;
        for (const Tensor& t : whole) {
          some.push_back(t.defined() ? narrow(t, along, first, std::min(step, size - first)) : t);
        }
        return some;
      };
      in_line_parts(dim, part(outputs), part(inputs), kernel);
    }
    return;
  }
  Operands to, from;
  for (const Tensor& t : inputs) from.push_back(t.to(kFloat32).contiguous());
  for (const Tensor& t : outputs) {
    const bool takes = !t.defined() || (!is_reduced(t.dtype()) && t.is_contiguous());
    const DType dtype = t.defined() && !is_reduced(t.dtype()) ? t.dtype() : kFloat32;
    to.push_back(takes ? t : empty(t.sizes(), dtype));
  }
  kernel(to, from);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (to[i].defined() && !to[i].is_same(outputs[i])) {
      Tensor y = outputs[i];
      kernels::copy(y, to[i]);
    }
  }
}

}  // namespace ambit::cpu
