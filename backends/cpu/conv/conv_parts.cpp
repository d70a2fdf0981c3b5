#include "conv_parts.h"

#include <algorithm>
#include <array>
#include <bit>

#include "backends/cpu/runtime/parallel.h"

namespace ambit::cpu {
namespace {

/// Multiply-adds of a part: about 200 us. Work of two grains or more is split into two parts, and
/// into the largest power of two of parts that have at least this work. A part has an overhead of a
/// few us.
constexpr int64_t kPartWork = 8 * kProductGrain;

int64_t parts_for(int64_t work, int64_t most) {
  if (work < 2 * kProductGrain) return 1;
  const auto wanted = std::bit_floor(static_cast<uint64_t>(work / kPartWork));
  return std::clamp<int64_t>(static_cast<int64_t>(wanted), 2, most);
}

/// With fewer images than this, images are split into rows.
constexpr int64_t kFewImages = 8;
/// Minimal rows of a part: neighbouring rows are read or computed twice.
constexpr int64_t kLeastRows = 8;

}  // namespace

ConvParts::Axis::Axis(const ConvSizes& g) {
  const size_t i = g.outermost();
  x = std::array{g.D, g.H, g.W}[i];
  y = std::array{g.O, g.P, g.Q}[i];
  window = g.dilation[i] * (std::array{g.T, g.R, g.S}[i] - 1) + 1;
  stride = g.stride[i];
  padding = g.padding[i];
}

ConvParts::ConvParts(const ConvSizes& g, Own own, int64_t most) : g_(g), axis_(g), own_(own) {
  const int64_t wanted = parts_for(g.work(), most);
  images_ = ceil_div(g.N, std::min(wanted, g.N));
  count_ = ceil_div(g.N, images_);
  if (wanted > g.N && g.N < kFewImages) split_rows(wanted);
}

void ConvParts::split_rows(int64_t wanted) {
  const int64_t all = own_ == Own::y ? axis_.y : axis_.x;
  rows_ = std::max(kLeastRows, ceil_div(all, ceil_div(wanted, g_.N)));
  row_parts_ = ceil_div(all, rows_);
  // Do not split in two rare cases: if a part would consist of padding only, or have negative
  // padding between large strides.
  for (int64_t i = row_parts_; i-- > 0;) {
    const ConvPart part = (*this)[i];
    const int64_t least = std::min(part.padding_top, part.padding_bottom);
    if (part.x_rows <= 0 || part.y_rows <= 0 || least < 0) row_parts_ = 1;
  }
  count_ = g_.N * row_parts_;
}

ConvPart ConvParts::operator[](int64_t i) const {
  ConvPart part{.image = i / row_parts_ * images_,
                .images = 0,
                .x_row = 0,
                .x_rows = axis_.x,
                .y_row = 0,
                .y_rows = axis_.y,
                .padding_top = axis_.padding,
                .padding_bottom = axis_.padding};
  part.images = std::min(images_, g_.N - part.image);
  if (row_parts_ == 1) return part;
  const int64_t first = i % row_parts_ * rows_;
  if (own_ == Own::y) {
    part.y_row = first;
    part.y_rows = std::min(rows_, axis_.y - first);
    return with_rows_of_y(part);
  }
  part.x_row = first;
  part.x_rows = std::min(rows_, axis_.x - first);
  return with_rows_of_x(part);
}

ConvPart ConvParts::with_rows_of_y(ConvPart part) const {
  const int64_t stride = axis_.stride, first = part.y_row * stride - axis_.padding,
                past = first + (part.y_rows - 1) * stride + axis_.window;
  part.x_row = std::max<int64_t>(0, first);
  const int64_t x_past = std::min(axis_.x, past);
  part.x_rows = x_past - part.x_row;
  part.padding_top = part.x_row - first;
  part.padding_bottom = past - x_past;
  return part;
}

ConvPart ConvParts::with_rows_of_x(ConvPart part) const {
  const int64_t stride = axis_.stride, reach = axis_.window - 1;
  const int64_t first = part.x_row + axis_.padding, past = first + part.x_rows;
  part.y_row = std::max<int64_t>(0, ceil_div(first - reach, stride));
  part.y_rows = std::min(axis_.y, (past - 1) / stride + 1) - part.y_row;
  part.padding_top = first - part.y_row * stride;
  part.padding_bottom = (part.y_row + part.y_rows - 1) * stride + reach + 1 - past;
  return part;
}

}  // namespace ambit::cpu
