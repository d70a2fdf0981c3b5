// Tables of the taps of an interpolation: the source elements of each result element.
#pragma once

#include <ambit/backend/interpolation.h>
#include <ambit/tensor.h>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace ambit::cpu {

/// Weights in both types that kernels use.
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

/// One dim: element i of the result is the sum over k < count(i) of weight(i, k) * element at(i, k)
/// of the source; sizes `to` and `from`.
struct Resizing {
  /// A dim of size 1 that is copied.
  Resizing();
  /// The taps of the axis, or with `turned` their transpose: for each element of x the elements of
  /// y that use it.
  Resizing(const interpolation::Axis& axis, bool turned);

  int64_t count(int64_t i) const { return begins[place(i) + 1] - begins[place(i)]; }
  int64_t at(int64_t i, int64_t k) const { return index[place(begins[place(i)] + k)]; }
  template <class T>
  T weight(int64_t i, int64_t k) const {
    return weights.of<T>()[begins[place(i)] + k];
  }
  /// Return true if element i is a copy of one source element.
  bool is_one(int64_t i) const { return count(i) == 1 && weight<double>(i, 0) == 1; }

  int64_t from = 1, to = 1;
  std::vector<int64_t> begins;  // offset of each element's first tap, and the end
  std::vector<int32_t> index;
  ResizingWeights weights;

  /// The taps for loops over i: tap k < width of element i is at k * to + i. Missing taps refer to
  /// index `from`, a zero after the last element. `width` is 0 if the table would be too large.
  int64_t width = 0;
  bool needs_zero = false;  // true if a tap refers to index `from`
  std::vector<int32_t> column_index;
  ResizingWeights column_weights;

 private:
  static size_t place(int64_t i) { return static_cast<size_t>(i); }
  void make_columns();
};

/// The spatial dims of a call; missing leading ones are the identity.
struct Resizings {
  Resizings(const Tensor& x, const Tensor& y, const InterpolateParams& p, bool turned);

  int64_t images;  // N * C
  Resizing d, h, w;
};

}  // namespace ambit::cpu
