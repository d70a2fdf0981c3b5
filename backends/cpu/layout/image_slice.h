// Some of the images or channels of a block, as a view like x.narrow(1, start, length) has them:
// what concatenation writes and its gradient reads, and parts of calls of 16 bits. Copies of them
// keep to channels-last where it lies so.
#pragma once

#include <ambit/tensor.h>

#include <optional>
#include <utility>

namespace ambit::cpu {

/// A part [N,C,H,W] of the block of images that is t's storage.
class ImageSlice {
 public:
  /// None where t is no such part, or of elements that never lie channels-last.
  static std::optional<ImageSlice> of(const Tensor& t);

  /// The layout of the block when channels-last.
  PhysicalLayout layout() const;
  /// Whether it lies so.
  bool is_native() const { return t_.storage()->is_native() && t_.storage()->layout() == layout(); }
  bool is_whole() const { return t_.sizes() == IntArrayRef(block_); }
  /// t in the block, which lies channels-last and is acquired, or adopted, for as long.
  Tensor native() const;

 private:
  ImageSlice(const Tensor& t, const Dims& block, int64_t first)
      : t_(t), block_(block), first_(first) {}

  const Tensor& t_;
  Dims block_;     // its sizes
  int64_t first_;  // element of t when channels-last
};

/// Two tensors to copy between, as they lie in memory.
class ChannelsLastCopy {
 public:
  /// y and x of one size. Where x lies channels-last y shall, too, if it may, but for
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
