// The one native layout of this backend: images [N,C,H,W] with the channels innermost, in which
// oneDNN's convolutions are fastest. core/include/ambit/detail/storage.h says what a native layout
// is, native_scope.h is how kernels come by it; they see it as strides.
#pragma once

#include <ambit/tensor.h>

namespace ambit::cpu {

/// Return the layout of t [N,C,H,W] when channels-last.
PhysicalLayout channels_last_layout(const Tensor& t);
PhysicalLayout channels_last_layout(DType dtype, int64_t images, int64_t channels, int64_t pixels);
Dims channels_last_strides(IntArrayRef sizes);

/// Whether elements may lie so: floats, those of 16 bits, positions, and masks.
inline bool has_native_elements(DType dtype) {
  return element_size(dtype) == 4 || element_size(dtype) == 2 || dtype == kBool;
}
/// Whether t may: a whole block of images.
bool may_be_channels_last(const Tensor& t);
/// Whether the layout of t's storage is that of t, a batch of images [N,C,H,W].
bool layout_is_of(const Tensor& t);
/// Whether t is a batch of images whose storage lies channels-last.
inline bool is_channels_last(const Tensor& t) {
  return t.storage()->is_native() && layout_is_of(t);
}
/// Whether the elements of t, by its strides, lie channels-last.
bool has_channels_last_strides(const Tensor& t);

/// Write images x [N,C,H,W], row-major, to `to` [N,H,W,C].
void row_major_to_channels_last(void* to, const Tensor& x);
/// Write a block that lies channels-last to `to` in row-major order.
void channels_last_to_row_major(void* to, const void* from, const PhysicalLayout& layout);

}  // namespace ambit::cpu
