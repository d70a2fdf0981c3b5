// Softmax and its logarithm.
#include <ambit/backend/kernels.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/record.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/reduce.h>

#include "core/ops/composite.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/unrecorded.h"
#include "core/ops/reduce/reduce_shape.h"

namespace ambit {
namespace {

// The differentiable formula; the kernel computes the same in one pass.
Tensor softmax_grad_formula(const Tensor& g, const Tensor& y, int64_t dim, bool log) {
  if (log) return g - exp(y) * sum(g, {dim}, true);
  return y * (g - sum(g * y, {dim}, true));
}

Tensor softmax_grad(const Tensor& g, const Tensor& y, int64_t dim, bool log) {
  if (GradMode::is_enabled()) return softmax_grad_formula(g, y, dim, log);
  Tensor dx = empty_like(y);
  Tensor out = at_least_1d(dx);
  kernels::softmax_grad(out, at_least_1d(dense(g)), at_least_1d(y), dim, log);
  return dx;
}

Tensor softmax(const char* op, const Tensor& self, int64_t dim, bool log) {
  expect_floating(op, self);
  dim = wrap_dim(op, dim, self.dim());
  const Tensor x = at_least_1d(dense(self));
  Tensor out = empty(x.sizes(), x.options());
  kernels::softmax(out, x, dim, log);
  set_sizes(out, self.sizes());
  return record(op, out, wrt(self, [y = saved_output(out), dim, log](const Tensor& g) {
                  return softmax_grad(g, y(), dim, log);
                }));
}

}  // namespace

Tensor softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  AMBIT_AUTOCAST(softmax, self, dim, dtype)
  return softmax("softmax", self.defined() && dtype ? self.to(*dtype) : self, dim, false);
}

Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  AMBIT_AUTOCAST_AS("softmax", log_softmax, self, dim, dtype)
  return softmax("log_softmax", self.defined() && dtype ? self.to(*dtype) : self, dim, true);
}

void composite::softmax(Tensor& y, const Tensor& x, int64_t dim, bool log) {
  if (x.numel() == 0) return;
  const Tensor peak = run_reduce(x, {"softmax", x.sizes(), {dim}, true}, ReduceOp::max, x.dtype());
  if (log) {
    const Tensor shifted = x - peak;
    y.copy_(shifted - ambit::log(sum(exp(shifted), {dim}, true)));
  } else {
    const Tensor e = exp(x - peak);
    y.copy_(e / sum(e, {dim}, true));
  }
}

void composite::softmax_grad(Tensor& dx, const Tensor& dy, const Tensor& y, int64_t dim, bool log) {
  dx.copy_(softmax_grad_formula(dy, y, dim, log));
}

}  // namespace ambit
