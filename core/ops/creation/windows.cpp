// Window functions, computed on the host: bitwise identical on every device.
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <ambit/ops/windows.h>
#include <fmt/format.h>

#include <numbers>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

// Return value(x) for x = k / (m - 1), computed in float64 on the host, as a window with `options`.
template <class F>
Tensor window(const char* op, int64_t n, bool periodic, const TensorOptions& options, F value) {
  if (n < 0) throw Error(fmt::format("{}: expected a length of 0 or more, got {}", op, n));
  const DType dtype = options.dtype();
  if (!is_floating_point(dtype)) throw_not_floating(op, dtype);
  allocate(op, {n}, kFloat64, kMeta);  // throws if too large, with the same message on all devices
  if (n < 2 || options.device().is_meta()) return ones({n}, options);
  const NoGradGuard no_grad;
  const Tensor k = arange(n, TensorOptions(kFloat64).device(kCPU));
  const Tensor host = value(k / static_cast<double>(periodic ? n : n - 1));
  return finish(host.to(dtype).to(options.device()), options);
}

Tensor cosine(const Tensor& x, double turns) { return cos(x * (2 * std::numbers::pi * turns)); }

}  // namespace

Tensor bartlett_window(int64_t n, bool periodic, const TensorOptions& options) {
  return window("bartlett_window", n, periodic, options,
                [](const Tensor& x) { return 1 - abs(x * 2 - 1); });
}
Tensor bartlett_window(int64_t n, const TensorOptions& options) {
  return bartlett_window(n, true, options);
}

Tensor blackman_window(int64_t n, bool periodic, const TensorOptions& options) {
  return window("blackman_window", n, periodic, options,
                [](const Tensor& x) { return 0.42 - cosine(x, 1) * 0.5 + cosine(x, 2) * 0.08; });
}
Tensor blackman_window(int64_t n, const TensorOptions& options) {
  return blackman_window(n, true, options);
}

Tensor hann_window(int64_t n, bool periodic, const TensorOptions& options) {
  return window("hann_window", n, periodic, options,
                [](const Tensor& x) { return 0.5 - cosine(x, 1) * 0.5; });
}
Tensor hann_window(int64_t n, const TensorOptions& options) {
  return hann_window(n, true, options);
}

Tensor hamming_window(int64_t n, bool periodic, double alpha, double beta,
                      const TensorOptions& options) {
  return window("hamming_window", n, periodic, options,
                [&](const Tensor& x) { return alpha - cosine(x, 1) * beta; });
}
Tensor hamming_window(int64_t n, bool periodic, double alpha, const TensorOptions& options) {
  return hamming_window(n, periodic, alpha, 0.46, options);
}
Tensor hamming_window(int64_t n, bool periodic, const TensorOptions& options) {
  return hamming_window(n, periodic, 0.54, options);
}
Tensor hamming_window(int64_t n, const TensorOptions& options) {
  return hamming_window(n, true, options);
}

Tensor kaiser_window(int64_t n, bool periodic, double beta, const TensorOptions& options) {
  return window("kaiser_window", n, periodic, options, [&](const Tensor& x) {
    const Tensor inside = (1 - square(x * 2 - 1)).clamp_min(0);
    return i0(sqrt(inside) * beta) / i0(full({}, beta, x.options()));
  });
}
Tensor kaiser_window(int64_t n, bool periodic, const TensorOptions& options) {
  return kaiser_window(n, periodic, 12, options);
}
Tensor kaiser_window(int64_t n, const TensorOptions& options) {
  return kaiser_window(n, true, options);
}

}  // namespace ambit
