#include "matrices.h"

#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <fmt/format.h>

#include "backends/cuda/runtime/call.h"

namespace ambit::cuda {

MatrixSizes::MatrixSizes(const Tensor& t)
    : batch(t.size(0)), rows(static_cast<int>(t.size(1))), columns(static_cast<int>(t.size(2))) {
  const int64_t m = t.size(1), n = t.size(2);
  if (m > INT32_MAX || n > INT32_MAX || m * n > INT32_MAX) {
    throw ShapeError(fmt::format("{}: expected matrices of fewer than 2^31 elements, got {} x {}",
                                 Call::op(), m, n));
  }
}

Tensor by_columns(const Tensor& x) {
  Tensor y = empty({x.size(0), x.size(2), x.size(1)}, x.options());
  transpose_each(y, x);
  return y;
}

Tensor not_finite(const Tensor& x, Triangle part) {
  Tensor marks = empty({x.size(0)}, x.options().dtype(kInt32));
  mark_not_finite(marks, x, part);
  return marks;
}

}  // namespace ambit::cuda
