// Frequencies of Fourier transforms, computed on the host, and their order.
#include <ambit/error.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/fft.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

// Return `count` frequencies of n samples at distance d: k / (n d) for k < half, then
// (k - n) / (n d).
Tensor frequencies(const char* op, int64_t n, double d, int64_t count, int64_t half,
                   const TensorOptions& options) {
  if (n < 0) throw Error(fmt::format("{}: expected a length of 0 or more, got {}", op, n));
  const DType dtype = options.dtype();
  if (!is_floating_point(dtype)) throw_not_floating(op, dtype);
  allocate(op, {count}, kFloat64, kMeta);  // throws if too large, on all devices
  if (options.device().is_meta()) return finish(allocate(op, {count}, dtype, kMeta), options);
  const Tensor host = allocate(op, {count}, kFloat64, kCPU);
  const double step = 1 / (static_cast<double>(n) * d);
  double* p = host.data_ptr<double>();
  for (int64_t k = 0; k < count; ++k) p[k] = static_cast<double>(k < half ? k : k - n) * step;
  return finish(to(host, options.device(), dtype), options);
}

// Roll each dim by (size + extra) / 2.
Tensor shifted(const char* op, const Tensor& self, OptionalIntArrayRef dim, int64_t extra) {
  expect_defined(op, "self", self);
  Dims dims, shifts;
  if (dim) {
    dims = Dims(*dim);
  } else {
    for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  }
  for (const int64_t d : dims) {
    shifts.push_back((self.size(wrap_dim(op, d, self.dim())) + extra) / 2);
  }
  if (dims.empty()) throw ShapeError(fmt::format("{}: expected dims, got none", op));
  return roll(self, shifts, dims);
}

}  // namespace

Tensor fft_fftfreq(int64_t n, double d, const TensorOptions& options) {
  return frequencies("fft_fftfreq", n, d, n, n - n / 2, options);
}
Tensor fft_fftfreq(int64_t n, const TensorOptions& options) { return fft_fftfreq(n, 1, options); }

Tensor fft_rfftfreq(int64_t n, double d, const TensorOptions& options) {
  return frequencies("fft_rfftfreq", n, d, n / 2 + 1, n / 2 + 1, options);
}
Tensor fft_rfftfreq(int64_t n, const TensorOptions& options) { return fft_rfftfreq(n, 1, options); }

Tensor fft_fftshift(const Tensor& self, OptionalIntArrayRef dim) {
  return shifted("fft_fftshift", self, dim, 0);
}
Tensor fft_ifftshift(const Tensor& self, OptionalIntArrayRef dim) {
  return shifted("fft_ifftshift", self, dim, 1);
}

}  // namespace ambit
