// Resizing of images: by a kernel, or composed dim by dim with resample.h for non-floating-point
// images and antialiasing.
#include <ambit/backend/interpolation.h>
#include <ambit/backend/kernels.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/images.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/unrecorded.h"
#include "resample.h"

namespace ambit {
namespace {

using interpolation::Axis;
using Mode = InterpolateParams::Mode;
using TapList = std::vector<Taps::Tap>;
using SharedTaps = std::shared_ptr<const Taps>;

SharedTaps taps_of(const Axis& axis) {
  TapList all;
  for (int64_t i = 0; i < axis.out(); ++i) {
    interpolation::Tap taps[interpolation::kMostTaps];
    axis.taps(i, taps);
    for (int k = 0; k < axis.count(); ++k) all.push_back({taps[k].index, taps[k].weight});
  }
  return std::make_shared<const Taps>(axis.in(), static_cast<size_t>(axis.count()), std::move(all));
}

double linear_filter(double x) { return std::max(1 - std::abs(x), 0.0); }
// The cubic convolution kernel of Keys with a = -0.5.
double cubic_filter(double x) {
  x = std::abs(x);
  return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

// The filter, of width `radius`, is widened by the downsampling factor; its weights sum to 1.
SharedTaps antialiased_taps(bool cubic, int64_t in, int64_t out, bool align_corners,
                            std::optional<double> scale) {
  const double step = align_corners
                          ? out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0
                      : scale && *scale > 0 ? 1 / *scale
                                            : static_cast<double>(in) / static_cast<double>(out);
  const double width = std::max(step, 1.0), support = (cubic ? 2 : 1) * width;
  // Limit the number of taps to the number of elements, even for a tiny scale.
  const auto most = static_cast<size_t>(std::min(std::ceil(support), static_cast<double>(in)));
  const size_t count = most * 2 + 1;
  // Clamp before the conversion, which is undefined for numbers beyond int64; a tiny scale gives
  // such numbers. fmax replaces NaN.
  const auto inside = [in](double at) {
    return static_cast<int64_t>(std::fmin(std::fmax(at, 0), static_cast<double>(in)));
  };
  TapList all;
  for (int64_t i = 0; i < out; ++i) {
    const double center = step * (static_cast<double>(i) + 0.5);
    const int64_t first = inside(center - support + 0.5), end = inside(center + support + 0.5);
    TapList taps;
    double sum = 0;
    for (int64_t j = first; j < end; ++j) {
      const double x = (static_cast<double>(j) - center + 0.5) / width;
      taps.push_back({j, cubic ? cubic_filter(x) : linear_filter(x)});
      sum += taps.back().weight;
    }
    for (Taps::Tap& tap : taps) tap.weight /= sum != 0 ? sum : 1;
    if (taps.empty()) taps.push_back({std::clamp<int64_t>(first, 0, in - 1), 0});
    taps.resize(count, {taps[0].index, 0});
    all.insert(all.end(), taps.begin(), taps.end());
  }
  return std::make_shared<const Taps>(in, count, std::move(all));
}

// PyTorch interpolates floating-point images, and uint8 ones of two spatial dims.
bool are_bytes(const Tensor& self, size_t dims) { return dims == 2 && self.dtype() == kUInt8; }

void check(const char* op, const Tensor& self, IntArrayRef output_size, size_t dims,
           bool weighted) {
  expect_defined(op, "self", self);
  if (weighted && !are_bytes(self, dims)) expect_floating(op, self);
  if (output_size.size() != dims) {
    throw ShapeError(fmt::format("{}: expected an output_size of {} numbers, got {}", op, dims,
                                 str(output_size)));
  }
  const auto outside = [](int64_t n) { return n < 1 || n > INT32_MAX; };
  if (std::any_of(output_size.begin(), output_size.end(), outside)) {
    throw ShapeError(fmt::format("{}: expected output sizes from 1 to {}, got {}", op, INT32_MAX,
                                 str(output_size)));
  }
  const IntArrayRef sizes = self.sizes();
  if (sizes.size() != dims + 2 || std::any_of(sizes.begin() + 2, sizes.end(), outside)) {
    throw ShapeError(
        fmt::format("{}: expected images [N,C] and {} sizes of at least 1, got shape {}", op, dims,
                    str(sizes)));
  }
}

// Return the spatial dims in the order of resizing: the dim that shrinks most comes first, and
// among equal dims the last one, so that little data is moved, mostly in whole rows.
std::vector<size_t> order_of(IntArrayRef in, IntArrayRef out) {
  std::vector<size_t> order;
  for (size_t k = out.size(); k-- > 0;) order.push_back(k);
  const auto growth = [&](size_t k) {
    return static_cast<double>(out[k]) / static_cast<double>(in[k + 2]);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return growth(a) < growth(b); });
  return order;
}

// taps_for(k) returns the taps of spatial dim k.
template <class F>
Tensor resized(const char* op, const Tensor& x, IntArrayRef output_size, const F& taps_for) {
  Tensor out = x;
  for (const size_t k : order_of(x.sizes(), output_size)) {
    const SharedTaps taps = taps_for(k);
    if (!taps->is_identity()) out = resample(op, out, static_cast<int64_t>(k) + 2, taps);
  }
  return out;
}

// As above for uint8 images and weighted sums, where PyTorch resizes the last dim first.
template <class F>
Tensor resized_bytes(const Tensor& x, const F& taps_for) {
  Tensor out = x;
  for (const size_t k : {size_t{1}, size_t{0}}) {
    const SharedTaps taps = taps_for(k);
    if (!taps->is_identity()) out = resample_bytes(out, static_cast<int64_t>(k) + 2, *taps);
  }
  return out;
}

Axis axis_of(const InterpolateParams& p, size_t k, IntArrayRef in, IntArrayRef out, DType dtype) {
  return Axis(p, k, in[k + 2], out[k], dtype == kFloat64);
}

Tensor interpolate_grad(const char* op, const Tensor& g, const Dims& in,
                        const InterpolateParams& p);

// Return x resized to `out`.
Tensor interpolate(const char* op, const Tensor& x, const Dims& out, const InterpolateParams& p) {
  Tensor y = allocate(op, out, x.dtype(), x.device());
  if (y.numel() > 0) kernels::interpolate(y, dense(x), p);
  return record(op, std::move(y), wrt(x, [op, in = Dims(x.sizes()), p](const Tensor& g) {
                  return interpolate_grad(op, g, in, p);
                }));
}

Tensor interpolate_grad(const char* op, const Tensor& g, const Dims& in,
                        const InterpolateParams& p) {
  Tensor dx = allocate(op, in, g.dtype(), g.device());
  if (dx.numel() > 0) kernels::interpolate_grad(dx, dense(g), p);
  return record(op, std::move(dx), wrt(g, [op, out = Dims(g.sizes()), p](const Tensor& gg) {
                  return interpolate(op, gg, out, p);
                }));
}

using Scales = std::initializer_list<std::optional<double>>;

Tensor upsample(const char* op, const Tensor& self, IntArrayRef output_size, Mode mode,
                bool align_corners, Scales scales) {
  const auto again = [&](const Tensor& x) {
    return upsample(op, x, output_size, mode, align_corners, scales);
  };
  AMBIT_AUTOCAST_AS("interpolate", again, self)
  check(op, self, output_size, scales.size(), mode >= Mode::linear);
  InterpolateParams p{.mode = mode, .align_corners = align_corners};
  std::transform(scales.begin(), scales.end(), p.scale.begin(),
                 [](const std::optional<double>& scale) { return scale.value_or(0); });
  Dims sizes(self.sizes());
  std::copy(output_size.begin(), output_size.end(), sizes.begin() + 2);
  if (self.is_floating_point()) return interpolate(op, self, sizes, p);
  const auto taps_for = [&](DType dtype) {
    return
        [&, dtype](size_t k) { return taps_of(axis_of(p, k, self.sizes(), output_size, dtype)); };
  };
  const Tensor out = mode >= Mode::linear ? resized_bytes(self, taps_for(kFloat64))
                                          : resized(op, self, output_size, taps_for(self.dtype()));
  return out.is_same(self) ? clone(self) : out;
}

Tensor antialiased(const char* op, const Tensor& self, IntArrayRef output_size, bool cubic,
                   bool align_corners, Scales scales) {
  const auto again = [&](const Tensor& x) {
    return antialiased(op, x, output_size, cubic, align_corners, scales);
  };
  AMBIT_AUTOCAST_AS("interpolate", again, self)
  check(op, self, output_size, scales.size(), true);
  const auto taps_for = [&](size_t k) {
    return antialiased_taps(cubic, self.sizes()[k + 2], output_size[k], align_corners,
                            scales.begin()[k]);
  };
  const Tensor out = self.is_floating_point() ? resized(op, self, output_size, taps_for)
                                              : resized_bytes(self, taps_for);
  return out.is_same(self) ? clone(self) : out;
}

}  // namespace

void composite::interpolate(Tensor& y, const Tensor& x, const InterpolateParams& p) {
  const IntArrayRef out(y.sizes().begin() + 2, y.sizes().size() - 2);
  y.copy_(resized("interpolate", x, out,
                  [&](size_t k) { return taps_of(axis_of(p, k, x.sizes(), out, x.dtype())); }));
}

void composite::interpolate_grad(Tensor& dx, const Tensor& dy, const InterpolateParams& p) {
  const IntArrayRef out(dy.sizes().begin() + 2, dy.sizes().size() - 2);
  std::vector<size_t> order = order_of(dx.sizes(), out);
  std::reverse(order.begin(), order.end());
  Tensor g = dy;
  for (const size_t k : order) {
    const SharedTaps taps = taps_of(axis_of(p, k, dx.sizes(), out, dx.dtype()));
    if (taps->is_identity()) continue;
    g = resample_grad("interpolate_grad", g, static_cast<int64_t>(k) + 2, taps);
  }
  dx.copy_(g);
}

Tensor upsample_nearest1d(const Tensor& self, IntArrayRef output_size,
                          std::optional<double> scales) {
  return upsample("upsample_nearest1d", self, output_size, Mode::nearest, false, {scales});
}
Tensor upsample_nearest2d(const Tensor& self, IntArrayRef output_size,
                          std::optional<double> scales_h, std::optional<double> scales_w) {
  return upsample("upsample_nearest2d", self, output_size, Mode::nearest, false,
                  {scales_h, scales_w});
}
Tensor upsample_nearest3d(const Tensor& self, IntArrayRef output_size,
                          std::optional<double> scales_d, std::optional<double> scales_h,
                          std::optional<double> scales_w) {
  return upsample("upsample_nearest3d", self, output_size, Mode::nearest, false,
                  {scales_d, scales_h, scales_w});
}

Tensor _upsample_nearest_exact1d(const Tensor& self, IntArrayRef output_size,
                                 std::optional<double> scales) {
  return upsample("_upsample_nearest_exact1d", self, output_size, Mode::nearest_exact, false,
                  {scales});
}
Tensor _upsample_nearest_exact2d(const Tensor& self, IntArrayRef output_size,
                                 std::optional<double> scales_h, std::optional<double> scales_w) {
  return upsample("_upsample_nearest_exact2d", self, output_size, Mode::nearest_exact, false,
                  {scales_h, scales_w});
}
Tensor _upsample_nearest_exact3d(const Tensor& self, IntArrayRef output_size,
                                 std::optional<double> scales_d, std::optional<double> scales_h,
                                 std::optional<double> scales_w) {
  return upsample("_upsample_nearest_exact3d", self, output_size, Mode::nearest_exact, false,
                  {scales_d, scales_h, scales_w});
}

Tensor upsample_linear1d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                         std::optional<double> scales) {
  return upsample("upsample_linear1d", self, output_size, Mode::linear, align_corners, {scales});
}
Tensor upsample_bilinear2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                           std::optional<double> scales_h, std::optional<double> scales_w) {
  return upsample("upsample_bilinear2d", self, output_size, Mode::linear, align_corners,
                  {scales_h, scales_w});
}
Tensor upsample_trilinear3d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                            std::optional<double> scales_d, std::optional<double> scales_h,
                            std::optional<double> scales_w) {
  return upsample("upsample_trilinear3d", self, output_size, Mode::linear, align_corners,
                  {scales_d, scales_h, scales_w});
}

Tensor upsample_bicubic2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                          std::optional<double> scales_h, std::optional<double> scales_w) {
  return upsample("upsample_bicubic2d", self, output_size, Mode::cubic, align_corners,
                  {scales_h, scales_w});
}
Tensor _upsample_bilinear2d_aa(const Tensor& self, IntArrayRef output_size, bool align_corners,
                               std::optional<double> scales_h, std::optional<double> scales_w) {
  return antialiased("_upsample_bilinear2d_aa", self, output_size, false, align_corners,
                     {scales_h, scales_w});
}
Tensor _upsample_bicubic2d_aa(const Tensor& self, IntArrayRef output_size, bool align_corners,
                              std::optional<double> scales_h, std::optional<double> scales_w) {
  return antialiased("_upsample_bicubic2d_aa", self, output_size, true, align_corners,
                     {scales_h, scales_w});
}

}  // namespace ambit
