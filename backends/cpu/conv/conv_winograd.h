// Convolution by Winograd's minimal filtering, float32, for windows of 3x3 and 5x5 and many
// channels: a quarter and less than a sixth of the multiply-adds. Lavin and Gray, "Fast Algorithms
// for Convolutional Neural Networks", arXiv:1509.09308. What lies at one of 36 or 64 points of all
// tiles and channels is a matrix: products of such matrices are the convolution.
#pragma once

#include "backends/cpu/runtime/parallel.h"
#include "conv_sizes.h"

namespace ambit::cpu {

/// Whether there is one, and it is faster than adding up products.
bool has_winograd_conv(const ConvSizes& g);

// x [N,H,W,C] and y [N,P,Q,K] lie channels-last. Sums mix what meets different pixels of a tile:
// each is off by about twice what sums of products are, of 5x5 five times, of the largest of its
// tile. They return false where a result is not finite, as it may be for a neighbour's sake: it is
// of no use then.

/// y = x * w + b [K]; b may be null. w [K,C,R,S], or, `turned`, [C,K,R,S] with taps from last to
/// first.
[[nodiscard]] bool winograd_conv(const ConvSizes& g, float* y, const float* x, const float* w,
                                 bool turned, const float* b);
/// dw [K,C,R,S]
[[nodiscard]] bool winograd_conv_weight_grad(const ConvSizes& g, float* dw, const float* dy,
                                             const float* x);

inline constexpr int64_t kWinogradOutputs = 4;

/// Tiles of 4x4 pixels of y, to which 6x6 or 8x8 of x belong.
class WinogradTiles {
 public:
  explicit WinogradTiles(const ConvSizes& g)
      : rows_(ceil_div(g.P, kWinogradOutputs)),
        columns_(ceil_div(g.Q, kWinogradOutputs)),
        count_(g.N * rows_ * columns_) {}
  int64_t count() const { return count_; }

  struct Tile {
    int64_t image, row, column;  // of y
  };
  Tile operator[](int64_t i) const {
    return {i / columns_ / rows_, i / columns_ % rows_ * kWinogradOutputs,
            i % columns_ * kWinogradOutputs};
  }

 private:
  int64_t rows_, columns_, count_;
};

}  // namespace ambit::cpu
