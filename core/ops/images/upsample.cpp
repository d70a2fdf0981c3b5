// Images of other sizes: which taps each way takes; resample.h does the rest, dim by dim.
#include <ambit/error.h>
#include <ambit/ops/images.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/ops/operands/expect.h"
#include "resample.h"

namespace ambit {
namespace {

enum class Filter : uint8_t { nearest, nearest_exact, linear, cubic, linear_aa, cubic_aa };

/// One dim and what is to become of it.
struct DimChange {
  int64_t in, out;
  bool align_corners;
  std::optional<double> scale;  // of the sizes, out / in unless given

  // By how much a step of 1 in the output goes on in the input.
  template <class T = double>
  T step() const {
    if (align_corners) return out > 1 ? static_cast<T>(in - 1) / static_cast<T>(out - 1) : T(0);
    if (scale && *scale > 0) return static_cast<T>(1.0 / *scale);
    return static_cast<T>(in) / static_cast<T>(out);
  }
  double place(int64_t i) const {
    const auto at = static_cast<double>(i);
    return align_corners ? at * step() : (at + 0.5) * step() - 0.5;
  }
  int64_t inside(int64_t i) const { return std::clamp<int64_t>(i, 0, in - 1); }
};

using TapList = std::vector<Taps::Tap>;

// In the images' own precision, since it decides which of two neighbours is taken.
template <class T>
TapList nearest_taps(const DimChange& d, int64_t i, bool exact) {
  const T step = d.step<T>();
  const T at = exact ? std::max(step * (static_cast<T>(i) + T(0.5)) - T(0.5), T(0)) + T(0.5)
                     : step * static_cast<T>(i);
  return {{d.inside(static_cast<int64_t>(std::floor(static_cast<float>(at)))), 1}};
}

TapList linear_taps(const DimChange& d, int64_t i) {
  if (d.in == d.out) return {{i, 1}};
  const double place = std::max(d.place(i), 0.0);
  const int64_t low = d.inside(static_cast<int64_t>(place));
  const double share = std::clamp(place - static_cast<double>(low), 0.0, 1.0);
  return {{low, 1 - share}, {d.inside(low + 1), share}};
}

// The cubic convolution kernel of Keys at a distance in [0, 1] and in [1, 2].
double cubic_near(double x, double a) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
double cubic_far(double x, double a) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }

TapList cubic_taps(const DimChange& d, int64_t i) {
  constexpr double a = -0.75;
  const double place = d.place(i), floor = std::floor(place), t = place - floor;
  const auto low = static_cast<int64_t>(floor);
  return {{d.inside(low - 1), cubic_far(t + 1, a)},
          {d.inside(low), cubic_near(t, a)},
          {d.inside(low + 1), cubic_near(1 - t, a)},
          {d.inside(low + 2), cubic_far(2 - t, a)}};
}

double linear_filter(double x) { return std::max(1 - std::abs(x), 0.0); }
double cubic_filter(double x) {
  x = std::abs(x);
  return x < 1 ? cubic_near(x, -0.5) : x < 2 ? cubic_far(x, -0.5) : 0;
}

// The filter is as wide as the elements that become one; its weights sum to 1.
TapList antialiased_taps(const DimChange& d, int64_t i, double radius, double (*filter)(double)) {
  const double step = d.step(), width = std::max(step, 1.0), support = radius * width;
  const double center = step * (static_cast<double>(i) + 0.5);
  const int64_t first = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
  const int64_t end = std::min(static_cast<int64_t>(center + support + 0.5), d.in);
  TapList taps;
  double sum = 0;
  for (int64_t j = first; j < end; ++j) {
    taps.push_back({j, filter((static_cast<double>(j) - center + 0.5) / width)});
    sum += taps.back().weight;
  }
  for (Taps::Tap& tap : taps) tap.weight /= sum != 0 ? sum : 1;
  if (taps.empty()) taps.push_back({d.inside(first), 0});
  return taps;
}

// How many taps an element has at most: no more than there are, however small a scale is said to
// be.
size_t tap_count(Filter filter, const DimChange& d) {
  const auto wide = [&](double radius) {
    const double reach = std::ceil(radius * std::max(d.step(), 1.0));
    return static_cast<size_t>(std::min(reach, static_cast<double>(d.in))) * 2 + 1;
  };
  switch (filter) {
    case Filter::nearest:
    case Filter::nearest_exact:
      return 1;
    case Filter::linear:
      return 2;
    case Filter::cubic:
      return 4;
    case Filter::linear_aa:
      return wide(1);
    case Filter::cubic_aa:
      return wide(2);
  }
  return 1;
}

TapList taps_of(Filter filter, const DimChange& d, int64_t i, bool in_double) {
  switch (filter) {
    case Filter::nearest:
    case Filter::nearest_exact: {
      const bool exact = filter == Filter::nearest_exact;
      return in_double ? nearest_taps<double>(d, i, exact) : nearest_taps<float>(d, i, exact);
    }
    case Filter::linear:
      return linear_taps(d, i);
    case Filter::cubic:
      return cubic_taps(d, i);
    case Filter::linear_aa:
      return antialiased_taps(d, i, 1, linear_filter);
    case Filter::cubic_aa:
      return antialiased_taps(d, i, 2, cubic_filter);
  }
  return {};
}

std::shared_ptr<const Taps> make_taps(Filter filter, const DimChange& d, bool in_double) {
  const size_t count = tap_count(filter, d);
  TapList all;
  all.reserve(static_cast<size_t>(d.out) * count);
  for (int64_t i = 0; i < d.out; ++i) {
    TapList taps = taps_of(filter, d, i, in_double);
    taps.resize(count, {taps[0].index, 0});
    all.insert(all.end(), taps.begin(), taps.end());
  }
  return std::make_shared<const Taps>(d.in, count, std::move(all));
}

void check(const char* op, const Tensor& self, IntArrayRef output_size, size_t dims,
           Filter filter) {
  expect_defined(op, "self", self);
  if (filter != Filter::nearest && filter != Filter::nearest_exact) expect_floating(op, self);
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

// Where the image becomes smaller is first, then the last dim, so that the least is moved, and most
// of it in whole rows.
Tensor upsample(const char* op, const Tensor& self, IntArrayRef output_size, Filter filter,
                bool align_corners, std::initializer_list<std::optional<double>> scales) {
  check(op, self, output_size, scales.size(), filter);
  std::vector<size_t> order;
  for (size_t k = scales.size(); k-- > 0;) order.push_back(k);
  const auto growth = [&](size_t k) {
    return static_cast<double>(output_size[k]) / static_cast<double>(self.sizes()[k + 2]);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return growth(a) < growth(b); });
  Tensor out = self;
  for (const size_t k : order) {
    const DimChange d{self.sizes()[k + 2], output_size[k], align_corners, scales.begin()[k]};
    const auto taps = make_taps(filter, d, self.dtype() == kFloat64);
    if (taps->is_identity()) continue;
    out = resample(op, out, static_cast<int64_t>(k) + 2, taps);
  }
  return out.is_same(self) ? clone(self) : out;
}

}  // namespace

Tensor upsample_nearest1d(const Tensor& self, IntArrayRef output_size,
                          std::optional<double> scales) {
  return upsample("upsample_nearest1d", self, output_size, Filter::nearest, false, {scales});
}
Tensor upsample_nearest2d(const Tensor& self, IntArrayRef output_size,
                          std::optional<double> scales_h, std::optional<double> scales_w) {
  return upsample("upsample_nearest2d", self, output_size, Filter::nearest, false,
                  {scales_h, scales_w});
}
Tensor upsample_nearest3d(const Tensor& self, IntArrayRef output_size,
                          std::optional<double> scales_d, std::optional<double> scales_h,
                          std::optional<double> scales_w) {
  return upsample("upsample_nearest3d", self, output_size, Filter::nearest, false,
                  {scales_d, scales_h, scales_w});
}

Tensor _upsample_nearest_exact1d(const Tensor& self, IntArrayRef output_size,
                                 std::optional<double> scales) {
  return upsample("_upsample_nearest_exact1d", self, output_size, Filter::nearest_exact, false,
                  {scales});
}
Tensor _upsample_nearest_exact2d(const Tensor& self, IntArrayRef output_size,
                                 std::optional<double> scales_h, std::optional<double> scales_w) {
  return upsample("_upsample_nearest_exact2d", self, output_size, Filter::nearest_exact, false,
                  {scales_h, scales_w});
}
Tensor _upsample_nearest_exact3d(const Tensor& self, IntArrayRef output_size,
                                 std::optional<double> scales_d, std::optional<double> scales_h,
                                 std::optional<double> scales_w) {
  return upsample("_upsample_nearest_exact3d", self, output_size, Filter::nearest_exact, false,
                  {scales_d, scales_h, scales_w});
}

Tensor upsample_linear1d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                         std::optional<double> scales) {
  return upsample("upsample_linear1d", self, output_size, Filter::linear, align_corners, {scales});
}
Tensor upsample_bilinear2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                           std::optional<double> scales_h, std::optional<double> scales_w) {
  return upsample("upsample_bilinear2d", self, output_size, Filter::linear, align_corners,
                  {scales_h, scales_w});
}
Tensor upsample_trilinear3d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                            std::optional<double> scales_d, std::optional<double> scales_h,
                            std::optional<double> scales_w) {
  return upsample("upsample_trilinear3d", self, output_size, Filter::linear, align_corners,
                  {scales_d, scales_h, scales_w});
}

Tensor upsample_bicubic2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                          std::optional<double> scales_h, std::optional<double> scales_w) {
  return upsample("upsample_bicubic2d", self, output_size, Filter::cubic, align_corners,
                  {scales_h, scales_w});
}
Tensor _upsample_bilinear2d_aa(const Tensor& self, IntArrayRef output_size, bool align_corners,
                               std::optional<double> scales_h, std::optional<double> scales_w) {
  return upsample("_upsample_bilinear2d_aa", self, output_size, Filter::linear_aa, align_corners,
                  {scales_h, scales_w});
}
Tensor _upsample_bicubic2d_aa(const Tensor& self, IntArrayRef output_size, bool align_corners,
                              std::optional<double> scales_h, std::optional<double> scales_w) {
  return upsample("_upsample_bicubic2d_aa", self, output_size, Filter::cubic_aa, align_corners,
                  {scales_h, scales_w});
}

}  // namespace ambit
