// Convolutions of windows from 4x4 to 6x6 that move by two are ones of 2x2 or 3x3 that move by one,
// of four images, each of which has every second row and column of the larger one. Their channels
// lie one behind the other. At a position 4x4 taps are 16 products, 6x6 are 36, by Winograd's
// filtering the four windows of 2x2 less than 6 and those of 3x3 9.
#pragma once

#include <array>
#include <optional>

#include "backends/cpu/runtime/scratch.h"
#include "conv_sizes.h"

namespace ambit::cpu {

/// The sizes of a convolution of which x or y may be split so; C or K are channels of all four.
struct WinogradSizes : ConvSizes {
  WinogradSizes(const ConvSizes& g) : ConvSizes(g) {}
  /// Return g, or the one of 2x2 or 3x3 that it is.
  static WinogradSizes of(const ConvSizes& g);
  std::optional<WinogradSizes> turned_round() const;

  /// Write w [K,C,R,S], of the convolution that was split, as [K,4C,2,2] or [K,4C,3,3].
  void split_weights(float* to, const float* w) const;
  /// The way back, for gradients.
  void unite_weights(float* dw, const float* from) const;

  int64_t x_split = 1, y_split = 1;  // 2: of rows and of columns
  // Of the image that is split, one of its four, and the convolution that it had. Of an odd padding
  // a row and a column is before the first pixel.
  int64_t height = 0, width = 0, channels = 0, before_top = 0, before_left = 0;
  std::array<int64_t, 2> window{};

 private:
  /// f(i, j) for all elements i of the weights as they were, and j as they are.
  template <class F>
  void for_weights(const F& f) const;
};

/// The weights of a convolution as those of its WinogradSizes.
class WinogradWeights {
 public:
  WinogradWeights(const WinogradSizes& g, const float* w);
  const float* data() const { return data_; }

 private:
  Scratch scratch_;
  const float* data_;
};

}  // namespace ambit::cpu
