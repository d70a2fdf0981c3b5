// Indices and weights of the elements of x that make up an element of y in `interpolate`, dim by
// dim. Header-only, so that every backend, including device code, uses the same ones. Element i of
// a dim of `out` elements is at position (i + 0.5) / scale - 0.5 of the input dim of `in` elements,
// or with align_corners at i (in - 1) / (out - 1), and is computed from the elements around it;
// positions outside are clamped to the border. Source: Keys 1981, IEEE TASSP 29 (6) for cubic;
// torch.nn.functional.interpolate.
#pragma once

#include <ambit/api.h>
#include <ambit/params.h>

#include <cmath>
#include <cstdint>

namespace ambit::interpolation {

/// An element of x, and its weight.
struct Tap {
  int64_t index;  ///< index in the dim of x
  double weight;  ///< the weights of the taps of one element of y sum to 1
};

/// The maximum of Axis::count().
inline constexpr int kMostTaps = 4;

/// One dim of an interpolation.
class Axis {
 public:
  using Mode = InterpolateParams::Mode;  ///< nearest, nearest_exact, linear or cubic

  /// The identity.
  Axis() = default;
  /// Spatial dim `d`. Whether x is float64 decides ties between two nearest elements.
  Axis(const InterpolateParams& p, size_t d, int64_t in, int64_t out, bool in_float64)
      : in_(in),
        out_(out),
        mode_(p.mode),
        align_corners_(p.align_corners && p.mode >= Mode::linear),
        in_float64_(in_float64) {
    if (mode_ == Mode::linear && in == out) mode_ = Mode::nearest;
    const double scale = p.scale[d];
    if (align_corners_) {
      step_ = out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
    } else if (mode_ != p.mode) {
      step_ = 1;
    } else {
      step_ = scale > 0 ? 1 / scale : static_cast<double>(in) / static_cast<double>(out);
      float_step_ = scale > 0 ? static_cast<float>(1 / scale)
                              : static_cast<float>(in) / static_cast<float>(out);
    }
  }

  AMBIT_HOST_DEVICE int64_t in() const { return in_; }    ///< size of x's dim
  AMBIT_HOST_DEVICE int64_t out() const { return out_; }  ///< size of y's dim
  /// Return the number of taps of an element; some may have weight 0 or the same index.
  AMBIT_HOST_DEVICE int count() const {
    return mode_ == Mode::cubic ? 4 : mode_ == Mode::linear ? 2 : 1;
  }
  /// Write the taps of element i of y. Their indices are non-decreasing in k and in i.
  AMBIT_HOST_DEVICE void taps(int64_t i, Tap* to) const {
    if (mode_ == Mode::cubic) return cubic(i, to);
    if (mode_ == Mode::linear) return linear(i, to);
    to[0] = {nearest(i), 1};
  }
  /// Return the first index of the taps.
  AMBIT_HOST_DEVICE int64_t first(int64_t i) const {
    Tap t[kMostTaps];
    taps(i, t);
    return t[0].index;
  }
  /// Return the last index of the taps.
  AMBIT_HOST_DEVICE int64_t last(int64_t i) const {
    Tap t[kMostTaps];
    taps(i, t);
    return t[count() - 1].index;
  }

 private:
  AMBIT_HOST_DEVICE int64_t inside(int64_t i) const { return i < 0 ? 0 : i < in_ ? i : in_ - 1; }
  AMBIT_HOST_DEVICE double place(int64_t i) const {
    const auto at = static_cast<double>(i);
    return align_corners_ ? at * step_ : (at + 0.5) * step_ - 0.5;
  }
  template <class T>
  AMBIT_HOST_DEVICE int64_t nearest(int64_t i, T step) const {
    const auto at = static_cast<T>(i);
    if (mode_ == Mode::nearest) return inside(floor_of(step * at));
    const T centre = step * (at + T(0.5)) - T(0.5);
    return inside(floor_of((centre > 0 ? centre : T(0)) + T(0.5)));
  }
  template <class T>
  AMBIT_HOST_DEVICE int64_t floor_of(T at) const {
    return whole(static_cast<double>(std::floor(static_cast<float>(at))));
  }
  // Convert to an integer; a value far outside becomes one just outside.
  AMBIT_HOST_DEVICE int64_t whole(double at) const {
    return at < -2 ? -2 : at < static_cast<double>(in_) ? static_cast<int64_t>(at) : in_ + 1;
  }
  AMBIT_HOST_DEVICE int64_t nearest(int64_t i) const {
    if (in_ == out_ && step_ == 1) return i;
    return in_float64_ ? nearest(i, step_) : nearest(i, float_step_);
  }
  AMBIT_HOST_DEVICE void linear(int64_t i, Tap* to) const {
    const double from = place(i), at = from > 0 ? from : 0;
    const int64_t low = inside(whole(at));
    const double beyond = at - static_cast<double>(low), share = beyond < 1 ? beyond : 1;
    to[0] = {low, 1 - share};
    to[1] = {inside(low + 1), share};
  }
  // The cubic convolution kernel with a = -0.75, for a distance in [0, 1] and in [1, 2].
  AMBIT_HOST_DEVICE static double near(double x) { return (1.25 * x - 2.25) * x * x + 1; }
  AMBIT_HOST_DEVICE static double far(double x) { return ((-0.75 * x + 3.75) * x - 6) * x + 3; }
  AMBIT_HOST_DEVICE void cubic(int64_t i, Tap* to) const {
    const double at = place(i), floor = std::floor(at), t = at - floor;
    const int64_t low = whole(floor);
    to[0] = {inside(low - 1), far(t + 1)};
    to[1] = {inside(low), near(t)};
    to[2] = {inside(low + 1), near(1 - t)};
    to[3] = {inside(low + 2), far(2 - t)};
  }

  int64_t in_ = 1, out_ = 1;
  Mode mode_ = Mode::nearest;
  bool align_corners_ = false, in_float64_ = true;
  double step_ = 1;  // step in x for each element of y
  float float_step_ = 1;
};

}  // namespace ambit::interpolation
