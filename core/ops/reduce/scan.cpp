// Running sums, products and the like along one dim.
#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/scan.h>
#include <ambit/ops/shape.h>

#include "core/ops/operands/expect.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {

Tensor cumsum(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  expect_defined("cumsum", "self", self);
  dim = wrap_dim("cumsum", dim, self.dim());
  const DType to_dtype = dtype.value_or(self.is_floating_point() ? self.dtype() : kInt64);
  if (to_dtype != self.dtype()) return cumsum(self.to(to_dtype), dim);
  const Tensor x = at_least_1d(self);
  Tensor out = empty(x.sizes(), x.options());
  kernels::scan(out, x, dim, ScanOp::sum);
  set_sizes(out, self.sizes());
  return record("cumsum", std::move(out), wrt(self, [dim](const Tensor& g) {
                  if (g.dim() == 0) return g;
                  return flip(cumsum(flip(g, {dim}), dim), {dim});
                }));
}

}  // namespace ambit
