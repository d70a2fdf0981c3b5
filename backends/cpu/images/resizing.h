// The taps of a call of interpolate, as tables: of each element made, which ones it is made from.
#pragma once

#include <ambit/backend/interpolation.h>
#include <ambit/tensor.h>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace ambit::cpu {

/// Weights in both types that kernels multiply by.
struct ResizingWeights {
  template <class T>
  const T* of() const {
    if constexpr (std::is_same_v<T, double>) {
      return in_double.data();
    } else {
      return in_float.data();
    }
  }
  std::vector<double> in_double;
  std::vector<float> in_float;
};

/// One dim. Element i of `to` is the sum over k < count(i) of weight(i, k) times element at(i, k)
/// of `from`.
struct Resizing {
  /// One of size 1 that stays.
  Resizing();
  /// As the axis says, or turned round: which elements of y each of x goes to.
  Resizing(const interpolation::Axis& axis, bool turned);

  int64_t count(int64_t i) const { return begins[place(i) + 1] - begins[place(i)]; }
  int64_t at(int64_t i, int64_t k) const { return index[place(begins[place(i)] + k)]; }
  template <class T>
  T weight(int64_t i, int64_t k) const {
    return weights.of<T>()[begins[place(i)] + k];
  }
  /// Whether element i is an old one as it is.
  bool is_one(int64_t i) const { return count(i) == 1 && weight<double>(i, 0) == 1; }

  int64_t from = 1, to = 1;
  std::vector<int64_t> begins;  // of each element's taps, and the end
  std::vector<int32_t> index;
  ResizingWeights weights;

  /// The same for loops over i: tap k of element i at k * to + i, with k < width; where there is
  /// none it names element `from`, behind the last one, which is 0 then. width 0: it would be
  /// large.
  int64_t width = 0;
  bool needs_zero = false;  // whether any names that
  std::vector<int32_t> column_index;
  ResizingWeights column_weights;

 private:
  static size_t place(int64_t i) { return static_cast<size_t>(i); }
  void make_columns();
};

/// The spatial dims of a call, those that are missing in front.
struct Resizings {
  Resizings(const Tensor& x, const Tensor& y, const InterpolateParams& p, bool turned);

  int64_t images;  // N * C
  Resizing d, h, w;
};

}  // namespace ambit::cpu
