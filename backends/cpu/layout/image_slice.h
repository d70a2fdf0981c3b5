// Some of the images or channels of a block, as in the view x.narrow(1, start, length): written by
// concatenation, read by its gradient, and used for parts of upcast calls. Copies of slices keep
// the channels-last layout.
#pragma once

#include <ambit/tensor.h>

#include <optional>
#include <utility>

namespace ambit::cpu {

/// A part [N,C,H,W] of the block of images in t's storage.
class ImageSlice {
 public:
  /// Return none if t is not a slice, or its dtype is never channels-last.
  static std::optional<ImageSlice> of(const Tensor& t);

  /// Return the channels-last layout of the block.
  PhysicalLayout layout() const;
  /// Return true if the block is channels-last now.
  bool is_native() const { return t_.storage()->is_native() && t_.storage()->layout() == layout(); }
  bool is_whole() const { return t_.sizes() == IntArrayRef(block_); }
  /// Return t as a view of the channels-last block; valid while the block is acquired or adopted.
  Tensor native() const;

 private:
  ImageSlice(const Tensor& t, const Dims& block, int64_t first)
      : t_(t), block_(block), first_(first) {}

  const Tensor& t_;
  Dims block_;     // sizes of the block
  int64_t first_;  // offset of t in the channels-last block
};

/// Two tensors for a copy that preserves the layout.
class ChannelsLastCopy {
 public:
  /// y and x have equal sizes. If x or y is channels-last, y is written channels-last if possible,
  /// except when both are whole blocks, whose copies are usually read in row-major order.
  ChannelsLastCopy(const Tensor& y, const Tensor& x);
  ~ChannelsLastCopy();
  ChannelsLastCopy(const ChannelsLastCopy&) = delete;
  ChannelsLastCopy& operator=(const ChannelsLastCopy&) = delete;

  /// Return true if y is written channels-last; otherwise use the given operands.
  explicit operator bool() const { return y_.defined(); }
  const Tensor& y() const { return y_; }
  const Tensor& x() const { return x_; }

 private:
  Tensor y_, x_;
  const StorageImpl* read_ = nullptr;  // acquired
};

}  // namespace ambit::cpu
