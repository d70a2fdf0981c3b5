// The only native layout of this backend: images [N,C,H,W] with channels innermost, in which
// oneDNN's convolutions are fastest. Native layouts: core/include/ambit/detail/storage.h. Kernels
// access them through native_scope.h, as strides.
#pragma once

#include <ambit/tensor.h>

namespace ambit::cpu {

/// Return the channels-last layout of t [N,C,H,W].
PhysicalLayout channels_last_layout(const Tensor& t);
PhysicalLayout channels_last_layout(DType dtype, int64_t images, int64_t channels, int64_t pixels);
Dims channels_last_strides(IntArrayRef sizes);

/// Return true if the dtype may be channels-last: 16- and 32-bit elements, and masks.
inline bool has_native_elements(DType dtype) {
  return element_size(dtype) == 4 || element_size(dtype) == 2 || dtype == kBool;
}
/// Return true if t may be channels-last: it covers a whole block of images.
bool may_be_channels_last(const Tensor& t);
/// Return true if the layout of t's storage belongs to t, a batch of images [N,C,H,W].
bool layout_is_of(const Tensor& t);
/// Return true if t is a batch of images whose storage is channels-last.
inline bool is_channels_last(const Tensor& t) {
  return t.storage()->is_native() && layout_is_of(t);
}
/// Return true if the strides of t are channels-last.
bool has_channels_last_strides(const Tensor& t);

/// Convert row-major images x [N,C,H,W] to `to` [N,H,W,C].
void row_major_to_channels_last(void* to, const Tensor& x);
/// Convert a channels-last block to `to` in row-major order.
void channels_last_to_row_major(void* to, const void* from, const PhysicalLayout& layout);

}  // namespace ambit::cpu
