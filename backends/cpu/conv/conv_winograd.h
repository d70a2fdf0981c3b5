// Convolution by Winograd's minimal filtering, float32, for windows of 3x3 and 5x5, and of 5, and
// many channels: a quarter, less than a sixth and two fifths of the multiply-adds; of 2x2, where
// images are split, 0.36. Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks",
// arXiv:1509.09308. What lies at one of 36, 64 or 8 points of all tiles and channels is a matrix:
// products of such matrices are the convolution.
// Planes of a window are further channels: a plane of y is made of the values of so many of x, one
// behind the other.
#pragma once

#include "backends/cpu/runtime/parallel.h"
#include "conv_sizes.h"
#include "winograd_sizes.h"

namespace ambit::cpu {

/// The side of the smallest square windows that it has on this CPU.
int64_t least_winograd_side();
/// Whether there is one, and it is faster than adding up products.
bool has_winograd_conv(const WinogradSizes& g);

// x [N,D,H,W,C] and y [N,O,P,Q,K] lie channels-last, or whole if they are split. Sums mix what
// meets different pixels of a tile: each is off by about twice what sums of products are, of 5x5
// five times, of the largest of its tile. They return false where a result is not finite, as it may
// be for a neighbour's sake: it is of no use then.

/// y = x * w + b [K]; b may be null. w [K,C,T,R,S], or, `turned`, [C,K,T,R,S] with taps from last
/// to first.
[[nodiscard]] bool winograd_conv(const WinogradSizes& g, float* y, const float* x, const float* w,
                                 bool turned, const float* b);
/// dw [K,C,T,R,S]
[[nodiscard]] bool winograd_conv_weight_grad(const WinogradSizes& g, float* dw, const float* dy,
                                             const float* x);

/// Pixels of y that a tile has in a row, of a window that has so many taps in one.
constexpr int64_t winograd_outputs(int64_t taps) { return taps == 1 ? 1 : taps == 2 ? 5 : 4; }

/// Tiles of 4x4 or 5x5 pixels of y in some planes each, to which 6x6 or 8x8 of x belong; of windows
/// of one row tiles of one row.
class WinogradTiles {
 public:
  explicit WinogradTiles(const ConvSizes& g)
      : planes_(ceil_div(g.O, ceil_div(g.O, kMostPlanes))),
        height_(winograd_outputs(g.R)),
        width_(winograd_outputs(g.S)),
        layers_(ceil_div(g.O, planes_)),
        rows_(ceil_div(g.P, height_)),
        columns_(ceil_div(g.Q, width_)),
        count_(g.N * layers_ * rows_ * columns_) {}
  int64_t count() const { return count_; }
  /// Of a tile.
  int64_t planes() const { return planes_; }

  struct Tile {
    int64_t image, plane, row, column;  // of y
  };
  Tile operator[](int64_t i) const {
    const int64_t row = i / columns_, layer = row / rows_;
    return {layer / layers_, layer % layers_ * planes_, row % rows_ * height_,
            i % columns_ * width_};
  }

 private:
  static constexpr int64_t kMostPlanes = 28;

  int64_t planes_, height_, width_, layers_, rows_, columns_, count_;
};

/// Images or volumes that lie channels-last, and where in them the pixels of each tile begin. Those
/// that are split are found in the whole ones.
struct WinogradImages {
  const float* data;
  int64_t depth, height, width, channels, padding_front, padding_top, padding_left,
      split = 1, before_top = 0, before_left = 0;

  /// from [rows, columns] = where the channels of the pixels of a tile lie: of a plane of it, or of
  /// one of the split images.
  void find(const WinogradTiles::Tile& tile, int64_t image, const float* zeros, int64_t rows,
            int64_t columns, const float** from) const;
};
WinogradImages winograd_images(const WinogradSizes& g, const float* x);

}  // namespace ambit::cpu
