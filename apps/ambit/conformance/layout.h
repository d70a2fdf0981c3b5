// Memory layouts of operands. Each is part of a larger buffer, so that writes outside of it can be
// detected.
#pragma once

#include <ambit/shape.h>

#include <string>
#include <vector>

namespace conformance {

enum class Layout {
  contiguous,
  offset,         // contiguous, with only element alignment
  transposed,     // the dims in reverse order
  strided,        // every second element
  padded,         // rows with gaps between them, like x[:, 1:9]
  broadcast,      // stride 0 in every second dim, starting with the first
  channels_last,  // 4-D, stored as N, H, W, C
};
const char* name(Layout layout);

/// Position of a tensor in a buffer, in elements.
struct Geometry {
  ambit::Dims sizes, strides;
  int64_t offset = 0;  // of the first element, after the guard
  int64_t length = 0;  // of the buffer, including both guards

  /// Return the position of each element in the buffer, in row-major order.
  std::vector<int64_t> positions() const;
};
Geometry laid_out(ambit::IntArrayRef sizes, Layout layout);

/// A layout and the sizes to test with it, or special sizes.
struct Form {
  std::string name;
  Layout layout;
  std::vector<ambit::Dims> sizes;
};
/// Return the forms to test elementwise kernels with: all layouts, no dims, no elements, odd sizes
/// around vector widths, and many elements.
const std::vector<Form>& forms();
inline constexpr Layout kLayouts[] = {Layout::contiguous, Layout::offset, Layout::transposed,
                                      Layout::strided,    Layout::padded, Layout::broadcast};

/// Return the layout for an output: another one if its elements would overlap.
inline Layout for_output(Layout layout) {
  return layout == Layout::broadcast ? Layout::transposed : layout;
}

}  // namespace conformance
