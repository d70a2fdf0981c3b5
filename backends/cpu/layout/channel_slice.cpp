#include "channel_slice.h"

#include <ambit/backend/alias.h>

#include "channels_last.h"

namespace ambit::cpu {

std::optional<ChannelSlice> ChannelSlice::of(const Tensor& t) {
  if (t.dim() != 4 || t.numel() == 0 || !has_native_elements(t.dtype())) return {};
  const IntArrayRef s = t.sizes(), strides = t.strides();
  const int64_t pixels = s[2] * s[3], elements = s[0] * pixels;
  const auto block = static_cast<int64_t>(t.storage()->size_bytes() / element_size(t.dtype()));
  if (block % elements != 0 || t.storage_offset() % pixels != 0) return {};
  const int64_t channels = block / elements, first = t.storage_offset() / pixels;
  const Dims expected{channels * pixels, pixels, s[3], 1};
  for (size_t d = 0; d < 4; ++d) {
    if (s[d] > 1 && strides[d] != expected[d]) return {};
  }
  if (first + s[1] > channels) return {};
  return ChannelSlice(t, channels, first);
}

PhysicalLayout ChannelSlice::layout() const {
  const IntArrayRef s = t_.sizes();
  return channels_last_layout(t_.dtype(), s[0], block_channels_, s[2] * s[3]);
}

Tensor ChannelSlice::native() const {
  const IntArrayRef s = t_.sizes();
  const Dims strides = channels_last_strides(IntArrayRef(Dims{s[0], block_channels_, s[2], s[3]}));
  const Tensor block = alias(
      t_, Storage(new StorageImpl(t_.storage()->native_data(), t_.storage()->size_bytes(), {})),
      strides);
  return alias(block, s, strides, first_);
}

// As NativeScope does it: what is made row-major is before anything is acquired.
ChannelsLastCopy::ChannelsLastCopy(const Tensor& y, const Tensor& x) {
  if (y.dim() != 4 || !(x.storage()->is_native() || y.storage()->is_native())) return;
  const std::optional<ChannelSlice> to = ChannelSlice::of(y), from = ChannelSlice::of(x);
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
