// How a kernel gets at operands that may lie channels-last: all of them at once, in the one order
// in which two kernels never wait for each other. First what has to be row-major is made so, and
// only then are inputs kept from being converted.
#pragma once

#include <ambit/tensor.h>

#include <array>
#include <initializer_list>

namespace ambit::cpu {

/// The operands of one kernel, for as long as it runs. It takes its outputs and inputs from here;
/// those that lie channels-last are aliases with the strides of that. Undefined tensors stay so.
class NativeScope {
 public:
  struct Operands {
    std::initializer_list<const Tensor*> outputs = {};    ///< written channels-last if they may be
    std::initializer_list<const Tensor*> row_major = {};  ///< outputs and inputs, used as they are
    std::initializer_list<const Tensor*> inputs = {};     ///< read as they lie
    bool inputs_follow = false;  ///< to native outputs: contiguous inputs by way of copies
  };
  static constexpr size_t kMost = 3;  ///< of outputs, and of inputs

  explicit NativeScope(const Operands& operands);

  const Tensor& output(size_t i) const { return outputs_[i]; }
  const Tensor& input(size_t i) const { return inputs_[i]; }
  /// Whether all outputs shall be written channels-last.
  bool has_native_outputs() const { return native_outputs_; }

 private:
  /// One reader of a block in its native layout.
  class Reader {
   public:
    Reader() = default;
    ~Reader() {
      if (block_) block_->release_native();
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    bool acquire(const StorageImpl* block) {
      if (block->acquire_native()) block_ = block;
      return block_ != nullptr;
    }

   private:
    const StorageImpl* block_ = nullptr;
  };

  void take_output(size_t i, const Tensor& y);
  void take_input(size_t i, const Tensor& x, bool follows);

  std::array<Tensor, kMost> outputs_, inputs_;
  std::array<Reader, kMost> readers_;
  bool native_outputs_ = true;
};

}  // namespace ambit::cpu
