// A convolution with windows from 4x4 to 6x6 and stride 2 equals one with windows of 2x2 or 3x3 and
// stride 1 over four split images, each with every second row and column of the original, whose
// channels are concatenated. Per output, 4x4 taps cost 16 products and 6x6 cost 36; by Winograd's
// filtering four windows of 2x2 cost less than 6, those of 3x3 cost 9.
#pragma once

#include <array>
#include <optional>

#include "backends/cpu/runtime/scratch.h"
#include "conv_sizes.h"

namespace ambit::cpu {

/// The sizes of a convolution whose x or y may be split; C or K then counts the channels of all
/// four split images.
struct WinogradSizes : ConvSizes {
  WinogradSizes(const ConvSizes& g) : ConvSizes(g) {}
  /// Return g, or the equivalent sizes with windows of 2x2 or 3x3.
  static WinogradSizes of(const ConvSizes& g);
  std::optional<WinogradSizes> as_forward_conv() const;

  /// Write w [K,C,R,S] of the original convolution as [K,4C,2,2] or [K,4C,3,3].
  void split_weights(float* to, const float* w) const;
  /// Inverse of split_weights, for gradients.
  void unite_weights(float* dw, const float* from) const;

  int64_t x_split = 1, y_split = 1;  // 2: every second row and column
  // Sizes of the original image and window. With odd padding the split images have a row or a
  // column before the first pixel.
  int64_t height = 0, width = 0, channels = 0, before_top = 0, before_left = 0;
  std::array<int64_t, 2> window{};

 private:
  /// Call f(i, j) for all elements i of the original weights and their positions j when split.
  template <class F>
  void for_weights(const F& f) const;
};

/// The weights of a convolution in the shape of its WinogradSizes.
class WinogradWeights {
 public:
  WinogradWeights(const WinogradSizes& g, const float* w);
  const float* data() const { return data_; }

 private:
  Scratch scratch_;
  const float* data_;
};

}  // namespace ambit::cpu
