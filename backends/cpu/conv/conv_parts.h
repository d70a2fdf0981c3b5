// A convolution split into smaller ones, which threads compute independently. The split depends
// only on the sizes, so that no sum depends on the number of threads.
#pragma once

#include "conv_sizes.h"

namespace ambit::cpu {

/// Some images, or some rows of one image: slices along its outermost spatial dim.
struct ConvPart {
  int64_t image, images;
  int64_t x_row, x_rows, y_row, y_rows;
  int64_t padding_top, padding_bottom;
};

class ConvParts {
 public:
  /// The operand whose rows are disjoint between parts; the required rows of the other one may
  /// overlap.
  enum class Own { x, y };

  /// Split into at most `most` parts.
  ConvParts(const ConvSizes& g, Own own, int64_t most);

  int64_t count() const { return count_; }
  ConvPart operator[](int64_t i) const;

 private:
  void split_rows(int64_t wanted);
  ConvPart with_rows_of_y(ConvPart part) const;
  ConvPart with_rows_of_x(ConvPart part) const;

  /// The dim that is split.
  struct Axis {
    explicit Axis(const ConvSizes& g);
    int64_t x, y, window;  // window: its extent, dilation * (taps - 1) + 1
    int64_t stride, padding;
  };

  const ConvSizes& g_;
  const Axis axis_;
  Own own_;
  int64_t images_, count_ = 1;        // images per part; number of parts
  int64_t rows_ = 0, row_parts_ = 1;  // if images are split: rows per part, parts per image
};

}  // namespace ambit::cpu
