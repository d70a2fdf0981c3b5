// Forms of constant operands that kernels keep between calls, such as the weights of a convolution
// in the layout of its algorithm. Work that is repeated with the same parameters, such as a plan,
// owns them and says which operands are constant; kernels ask for them.
#pragma once

#include <ambit/api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ambit {

/// Used by one thread at a time.
class AMBIT_API PackedConstants {
 public:
  /// Forms larger than this are not kept: they would need too much memory.
  static constexpr size_t kMostBytes = size_t{16} << 20;
  /// A kernel, and the sizes on which the form depends.
  using Key = std::array<int64_t, 9>;

  PackedConstants();
  ~PackedConstants();
  PackedConstants(const PackedConstants&) = delete;
  PackedConstants& operator=(const PackedConstants&) = delete;

  /// Replace the addresses of the constants, in host memory, and drop all forms.
  void reset(std::vector<const void*> constants);
  /// Return the bytes of all forms.
  size_t bytes() const { return bytes_; }

  /// While it lives, kernels that the calling thread calls use the forms.
  class AMBIT_API Scope {
   public:
    explicit Scope(PackedConstants& constants);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    PackedConstants* before_;
  };

  /// Memory for a form; `data` is null if the kernel must use memory of its own.
  struct Form {
    void* data = nullptr;
    bool is_new = false;  ///< to be filled by the kernel
  };
  /// Return true if a form of about these bytes is kept for the operand at `constant`.
  static bool keeps(const void* constant, size_t bytes);
  /// Return the form of the operand at `constant`. Errors: OutOfMemoryError.
  static Form find(const void* constant, const Key& key, size_t bytes);

 private:
  struct Kept;

  std::vector<const void*> constants_;  // sorted
  std::map<std::pair<const void*, Key>, std::unique_ptr<Kept>> forms_;
  size_t bytes_ = 0;
};

}  // namespace ambit
