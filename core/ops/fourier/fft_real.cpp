// The discrete Fourier transform of real numbers and its inverse, along a dim. Tensors hold only
// half of the pairs; the others are their conjugates. The gradient of each direction is the other
// direction, where the pairs whose conjugates are missing (all except the first and, for even
// lengths, the last) are multiplied by 1/2 or 2.
#include <ambit/backend/alias.h>
#include <ambit/backend/kernels.h>
#include <ambit/detail/fft.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {
namespace {

// Return `sizes` as [B,N,C], or as [B,N,C,2] of pairs, where N is the size of `dim`.
Dims lines_of(IntArrayRef sizes, int64_t dim, bool are_pairs) {
  Dims lines{1, sizes[static_cast<size_t>(dim)], 1};
  const auto dims = static_cast<int64_t>(sizes.size()) - are_pairs;
  for (int64_t d = 0; d < dims; ++d) {
    if (d != dim) lines[d < dim ? 0 : 2] *= sizes[static_cast<size_t>(d)];
  }
  if (are_pairs) lines.push_back(2);
  return lines;
}

// Multiply by `factor` the pairs of a transform of length n whose conjugates are missing.
Tensor times_mirrored(const Tensor& pairs, int64_t dim, int64_t n, double factor) {
  const int64_t mirrored = (n - 1) / 2, rest = n / 2 - mirrored;
  if (mirrored == 0) return pairs;
  std::vector<Tensor> parts{pairs.narrow(dim, 0, 1), pairs.narrow(dim, 1, mirrored) * factor};
  if (rest > 0) parts.push_back(pairs.narrow(dim, 1 + mirrored, rest));
  return cat(parts, dim);
}

}  // namespace

Tensor rfft_pairs(const Tensor& x, int64_t dim, double scale) {
  expect_floating("rfft_pairs", x);
  dim = wrap_dim("rfft_pairs", dim, x.dim());
  const int64_t n = x.size(dim);
  if (n < 1) throw ShapeError("rfft_pairs: expected a dim of one or more elements, got 0");
  Dims sizes(x.sizes());
  sizes[static_cast<size_t>(dim)] = n / 2 + 1;
  sizes.push_back(2);
  Tensor out = allocate("rfft_pairs", sizes, x.dtype(), x.device());
  if (x.numel() > 0) {
    Tensor y = alias(out, lines_of(sizes, dim, true));
    kernels::fft_real(y, alias(dense(x), lines_of(x.sizes(), dim, false)), false, scale);
  }
  return record("rfft_pairs", std::move(out), wrt(x, [=](const Tensor& g) {
                  return irfft_pairs(times_mirrored(g, dim, n, 0.5), dim, n, scale);
                }));
}

Tensor irfft_pairs(const Tensor& x, int64_t dim, int64_t n, double scale) {
  expect_floating("irfft_pairs", x);
  if (x.dim() < 2 || x.size(-1) != 2) {
    throw ShapeError(
        fmt::format("irfft_pairs: expected a shape of two or more dims, the last of size 2, got {}",
                    str(x.sizes())));
  }
  dim = wrap_dim("irfft_pairs", dim, x.dim());
  if (dim == x.dim() - 1) {
    throw IndexError("irfft_pairs: expected a dim other than the last, which has the pairs");
  }
  if (n < 1 || x.size(dim) != n / 2 + 1) {
    throw ShapeError(fmt::format("irfft_pairs: expected {} pairs for a length of {}, got {}",
                                 n / 2 + 1, n, x.size(dim)));
  }
  Dims sizes(x.sizes());
  sizes.erase(sizes.size() - 1);
  sizes[static_cast<size_t>(dim)] = n;
  Tensor out = allocate("irfft_pairs", sizes, x.dtype(), x.device());
  if (x.numel() > 0) {
    Tensor y = alias(out, lines_of(sizes, dim, false));
    kernels::fft_real(y, alias(dense(x), lines_of(x.sizes(), dim, true)), true, scale);
  }
  return record("irfft_pairs", std::move(out), wrt(x, [=](const Tensor& g) {
                  return times_mirrored(rfft_pairs(g, dim, scale), dim, n, 2);
                }));
}

// Calls fft_pairs: forward with imaginary parts of 0, inverse with the missing conjugates added.
void composite::fft_real(Tensor& y, const Tensor& x, bool inverse, double scale) {
  if (x.numel() == 0) return;
  const int64_t n = inverse ? y.size(1) : x.size(1), mirrored = (n - 1) / 2;
  if (!inverse) {
    const Tensor pairs = stack({x, zeros_like(x)}, -1);
    Tensor all = empty_like(pairs);
    kernels::fft_pairs(all, pairs, false, scale);
    y.copy_(all.narrow(1, 0, n / 2 + 1));
    return;
  }
  Tensor pairs = x;
  if (mirrored > 0) {
    const Tensor others = x.narrow(1, 1, mirrored).flip({1});
    const Tensor conjugates = stack({others.select(-1, 0), neg(others.select(-1, 1))}, -1);
    pairs = cat({x, conjugates}, 1);
  }
  Tensor all = empty_like(pairs);
  kernels::fft_pairs(all, pairs, true, scale);
  y.copy_(all.select(-1, 0));
}

}  // namespace ambit
