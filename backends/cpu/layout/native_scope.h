// Gives a kernel access to operands that may be channels-last. Locks all of them in a fixed order,
// so that kernels cannot deadlock: first converts operands to row-major where necessary, then
// acquires inputs, which prevents their conversion.
#pragma once

#include <ambit/tensor.h>

#include <array>
#include <initializer_list>

namespace ambit::cpu {

/// The operands of a kernel while it runs. Use its outputs and inputs instead of the originals;
/// channels-last operands are aliases with channels-last strides. Undefined tensors stay undefined.
class NativeScope {
 public:
  struct Operands {
    std::initializer_list<const Tensor*> outputs = {};    ///< written channels-last if possible
    std::initializer_list<const Tensor*> row_major = {};  ///< outputs and inputs, made row-major
    std::initializer_list<const Tensor*> inputs = {};     ///< read in their current layout
    bool inputs_follow = false;  ///< copy contiguous inputs to the layout of native outputs
  };
  static constexpr size_t kMost = 3;  ///< maximal number of outputs, and of inputs

  explicit NativeScope(const Operands& operands);

  const Tensor& output(size_t i) const { return outputs_[i]; }
  const Tensor& input(size_t i) const { return inputs_[i]; }
  /// Return true if all outputs are to be written channels-last.
  bool has_native_outputs() const { return native_outputs_; }

 private:
  /// Guard of a block that is read in its native layout.
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

  void add_output(size_t i, const Tensor& y);
  void add_input(size_t i, const Tensor& x, bool follows);

  std::array<Tensor, kMost> outputs_, inputs_;
  std::array<Reader, kMost> readers_;
  bool native_outputs_ = true;
};

}  // namespace ambit::cpu
