#include "operand_grad.h"

#include <ambit/ops/creation.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

namespace ambit {

Tensor sum_to(const Tensor& g, IntArrayRef sizes) {
  if (g.sizes() == sizes) return g;
  const size_t lead = g.sizes().size() - sizes.size();
  Dims dims;
  for (size_t i = 0; i < g.sizes().size(); ++i) {
    if (i < lead || (sizes[i - lead] == 1 && g.sizes()[i] != 1)) {
      dims.push_back(static_cast<int64_t>(i));
    }
  }
  // Make a view only if some dims are kept and some removed: a gradient that is not a view can
  // become a .grad without a copy.
  if (dims.size() == lead) return sum(g, dims);
  const Tensor kept = sum(g, dims, /*keepdim=*/true);
  return lead == 0 ? kept : view(kept, sizes);
}

Tensor ReduceGradTo::operator()(const Tensor& g) const {
  if (g.sizes() == sizes_) return to(g, device_, dtype_);
  return to(sum_to(g, sizes_), device_, dtype_);
}

Tensor ZerosLike::operator()(const Tensor&) const { return zeros(sizes_, options_); }

}  // namespace ambit
