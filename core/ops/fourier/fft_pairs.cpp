// The discrete Fourier transform along a dim. Its matrix is symmetric, so that the gradient is the
// transform in the other direction.
#include <ambit/detail/fft.h>

#include <ambit/backend/alias.h>
#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {

Tensor fft_pairs(const Tensor& x, int64_t dim, bool inverse, double scale) {
  expect_floating("fft_pairs", x);
  if (x.dim() < 2 || x.size(-1) != 2) {
    throw ShapeError(
        fmt::format("fft_pairs: expected a shape of two or more dims, the last of size 2, got {}",
                    str(x.sizes())));
  }
  dim = wrap_dim("fft_pairs", dim, x.dim());
  if (dim == x.dim() - 1) {
    throw IndexError("fft_pairs: expected a dim other than the last, which has the pairs");
  }
  Tensor out = allocate("fft_pairs", x.sizes(), x.dtype(), x.device());
  if (x.numel() > 0) {
    Dims lines{1, x.size(dim), 1, 2};
    for (int64_t d = 0; d < x.dim() - 1; ++d) {
      if (d != dim) lines[d < dim ? 0 : 2] *= x.size(d);
    }
    Tensor y = alias(out, lines);
    kernels::fft_pairs(y, alias(dense(x), lines), inverse, scale);
  }
  return record("fft_pairs", std::move(out),
                wrt(x, [=](const Tensor& g) { return fft_pairs(g, dim, !inverse, scale); }));
}

}  // namespace ambit
