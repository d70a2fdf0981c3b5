// One convolution cut into smaller ones, which threads compute on their own. The cut depends on the
// sizes alone, so that no sum depends on the number of threads.
#pragma once

#include "conv_sizes.h"

namespace ambit::cpu {

/// Some images, or some rows of one image: slices of its outermost spatial dim.
struct ConvPart {
  int64_t image, images;
  int64_t x_row, x_rows, y_row, y_rows;
  int64_t padding_top, padding_bottom;
};

class ConvParts {
 public:
  /// Whose rows a part has for itself; the rows of the other one that they need may be another
  /// part's too.
  enum class Own { x, y };

  /// At most `most` parts.
  ConvParts(const ConvSizes& g, Own own, int64_t most);

  int64_t count() const { return count_; }
  ConvPart operator[](int64_t i) const;

 private:
  void cut_rows(int64_t wanted);
  ConvPart with_rows_of_y(ConvPart part) const;
  ConvPart with_rows_of_x(ConvPart part) const;

  /// Of the dim that is cut.
  struct Axis {
    explicit Axis(const ConvSizes& g);
    int64_t x, y, window;  // sizes; of the window dilation * (taps - 1) + 1
    int64_t stride, padding;
  };

  const ConvSizes& g_;
  const Axis axis_;
  Own own_;
  int64_t images_, count_ = 1;        // images of a part
  int64_t rows_ = 0, row_parts_ = 1;  // rows_ of a part, where images are cut
};

}  // namespace ambit::cpu
