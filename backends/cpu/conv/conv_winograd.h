// Convolution by Winograd's minimal filtering, float32, with many channels, for windows of 3x3, 5x5
// and 1x5: it needs 0.25, 0.16 and 0.4 of the multiply-adds; for windows of 2x2, which only occur
// with split images (winograd_sizes.h), 0.36. Source: Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks", arXiv:1509.09308. The values of all tiles and channels at one of
// 36, 64 or 8 points form a matrix; the convolution is a product of matrices at each point. Planes
// of a window count as additional channels: a plane of y is computed from as many consecutive
// planes of x.
#pragma once

#include "backends/cpu/runtime/parallel.h"
#include "conv_sizes.h"
#include "winograd_sizes.h"

namespace ambit::cpu {

/// Return the side of the smallest square window that is supported on this CPU.
int64_t least_winograd_side();
/// Return true if the convolution is supported and faster than direct summation.
bool has_winograd_conv(const WinogradSizes& g);

// x [N,D,H,W,C] and y [N,O,P,Q,K] are channels-last; for split images they are the original ones.
// Sums mix values of different pixels of a tile: the error is about twice that of direct summation
// (five times for 5x5), relative to the largest value of the tile. The functions return false if a
// result is not finite, perhaps only because of a neighbouring pixel: discard the result.

/// y = x * w + b [K]; b may be null. w [K,C,T,R,S]; `is_input_grad`: [C,K,T,R,S] with reversed
/// taps.
[[nodiscard]] bool winograd_conv(const WinogradSizes& g, float* y, const float* x, const float* w,
                                 bool is_input_grad, const float* b);
/// dw [K,C,T,R,S]
[[nodiscard]] bool winograd_conv_weight_grad(const WinogradSizes& g, float* dw, const float* dy,
                                             const float* x);

/// Return how many pixels of y a tile has in a row, for a window with `taps` taps in a row.
constexpr int64_t winograd_outputs(int64_t taps) { return taps == 1 ? 1 : taps == 2 ? 5 : 4; }

/// Tiles of 4x4 or 5x5 pixels of y in some planes each, computed from 6x6 or 8x8 pixels of x. For
/// windows of one row tiles have one row.
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
  /// Return the number of planes of y in a tile.
  int64_t planes() const { return planes_; }

  struct Tile {
    int64_t image, plane, row, column;  // in y
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

/// Channels-last images or volumes, and the location of the pixels of each tile. For split
/// images (winograd_sizes.h), these are locations in the original ones.
struct WinogradImages {
  const float* data;
  int64_t depth, height, width, channels, padding_front, padding_top, padding_left,
      split = 1, before_top = 0, before_left = 0;

  /// from [rows, columns] = pointers to the channels of the pixels of a tile, in one of its planes
  /// or one of the split images.
  void find(const WinogradTiles::Tile& tile, int64_t image, const float* zeros, int64_t rows,
            int64_t columns, const float** from) const;
};
WinogradImages winograd_images(const WinogradSizes& g, const float* x);

}  // namespace ambit::cpu
