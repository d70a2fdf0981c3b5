#include "image_slice.h"

#include <ambit/backend/alias.h>

#include "channels_last.h"

namespace ambit::cpu {

std::optional<ImageSlice> ImageSlice::of(const Tensor& t) {
  if (t.dim() != 4 || t.numel() == 0 || !has_native_elements(t.dtype())) return {};
  const IntArrayRef s = t.sizes(), strides = t.strides();
  const int64_t pixels = s[2] * s[3], channels = strides[0] / pixels, image = channels * pixels;
  const auto block = static_cast<int64_t>(t.storage()->size_bytes() / element_size(t.dtype()));
  if (image <= 0 || block % image != 0 || t.storage_offset() % pixels != 0) return {};
  const Dims expected{image, pixels, s[3], 1};
  for (size_t d = 0; d < 4; ++d) {
    if (s[d] > 1 && strides[d] != expected[d]) return {};
  }
  const int64_t images = block / image, first_image = t.storage_offset() / image,
                first_channel = t.storage_offset() / pixels % channels;
  if (first_image + s[0] > images || first_channel + s[1] > channels) return {};
  return ImageSlice(t, {images, channels, s[2], s[3]}, first_image * image + first_channel);
}

PhysicalLayout ImageSlice::layout() const {
  return channels_last_layout(t_.dtype(), block_[0], block_[1], block_[2] * block_[3]);
}

Tensor ImageSlice::native() const {
  const Dims strides = channels_last_strides(block_);
  const Tensor block = alias(
      t_, Storage(new StorageImpl(t_.storage()->native_data(), t_.storage()->size_bytes(), {})),
      strides);
  return alias(block, t_.sizes(), strides, first_);
}

// Use the order of NativeScope: convert to row-major first, then acquire.
ChannelsLastCopy::ChannelsLastCopy(const Tensor& y, const Tensor& x) {
  if (y.dim() != 4 || !(x.storage()->is_native() || y.storage()->is_native())) return;
  const std::optional<ImageSlice> to = ImageSlice::of(y), from = ImageSlice::of(x);
  const bool native_x = from && from->is_native();
  if (to && from && to->is_whole() && from->is_whole()) return;
  if (!to || !(native_x || to->is_native()) || !y.storage()->adopt(to->layout())) return;
  if (!native_x) x.storage()->make_row_major();
  y_ = to->native();
  if (native_x && x.storage()->acquire_native()) {
    read_ = x.storage().get();
    x_ = from->native();
  } else {
    x_ = x;
  }
}

ChannelsLastCopy::~ChannelsLastCopy() {
  if (read_) read_->release_native();
}

}  // namespace ambit::cpu
