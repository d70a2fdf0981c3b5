// How the elements of an operand lie in memory: inside a larger buffer, so that what a kernel does
// outside of them can be seen.
#pragma once

#include <ambit/shape.h>

#include <string>
#include <vector>

namespace conformance {

enum class Layout {
  contiguous,
  offset,         // contiguous, but aligned to nothing but an element
  transposed,     // the dims in reverse order
  strided,        // every second element
  padded,         // rows with gaps between them, as x[:, 1:9] has
  broadcast,      // stride 0 in every second dim, from the first on
  channels_last,  // 4-D, in the order N, H, W, C
};
const char* name(Layout layout);

/// A tensor inside a buffer of `length` elements; all in elements.
struct Geometry {
  ambit::Dims sizes, strides;
  int64_t offset = 0;  // of the first element, behind a guard
  int64_t length = 0;  // of the buffer, with a guard on both sides

  /// Return where in the buffer each element is, in row-major order.
  std::vector<int64_t> positions() const;
};
Geometry laid_out(ambit::IntArrayRef sizes, Layout layout);

/// A layout with the sizes that are tried in it, or sizes that are special.
struct Form {
  std::string name;
  Layout layout;
  std::vector<ambit::Dims> sizes;
};
/// Return the forms that elementwise kernels take: all layouts, no dims, no elements, odd sizes
/// around the widths of vectors, and many elements.
const std::vector<Form>& forms();
inline constexpr Layout kLayouts[] = {Layout::contiguous, Layout::offset, Layout::transposed,
                                      Layout::strided,    Layout::padded, Layout::broadcast};

/// Where an output would overlap itself, return another layout.
inline Layout for_output(Layout layout) {
  return layout == Layout::broadcast ? Layout::transposed : layout;
}

}  // namespace conformance
