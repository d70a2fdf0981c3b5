// Some of the channels of a block of images, as a view like x.narrow(1, start, length) has them:
// what concatenation writes and its gradient reads. Copies of them keep to channels-last where it
// lies so.
#pragma once

#include <ambit/tensor.h>

#include <optional>
#include <utility>

namespace ambit::cpu {

/// Channels [first, first + C) of the block [N,block_channels,H,W] that is t's storage.
class ChannelSlice {
 public:
  /// None where t [N,C,H,W] is no such part, or of elements that never lie channels-last.
  static std::optional<ChannelSlice> of(const Tensor& t);

  /// The layout of the block when channels-last.
  PhysicalLayout layout() const;
  /// Whether it lies so.
  bool is_native() const { return t_.storage()->is_native() && t_.storage()->layout() == layout(); }
  bool is_whole() const { return t_.sizes()[1] == block_channels_; }
  /// t in the block, which lies channels-last and is acquired, or adopted, for as long.
  Tensor native() const;

 private:
  ChannelSlice(const Tensor& t, int64_t block_channels, int64_t first)
      : t_(t), block_channels_(block_channels), first_(first) {}

  const Tensor& t_;
  int64_t block_channels_, first_;
};

/// Two tensors to copy between, as they lie in memory.
class ChannelsLastCopy {
 public:
  /// y and x of one dtype and sizes. Where x lies channels-last y shall, too, if it may, but for
  /// copies of whole blocks: who asks for those is about to look at them.
  ChannelsLastCopy(const Tensor& y, const Tensor& x);
  ~ChannelsLastCopy();
  ChannelsLastCopy(const ChannelsLastCopy&) = delete;
  ChannelsLastCopy& operator=(const ChannelsLastCopy&) = delete;

  /// Whether y is written channels-last; else the operands are as they were given.
  explicit operator bool() const { return y_.defined(); }
  const Tensor& y() const { return y_; }
  const Tensor& x() const { return x_; }

 private:
  Tensor y_, x_;
  const StorageImpl* read_ = nullptr;  // acquired
};

}  // namespace ambit::cpu
