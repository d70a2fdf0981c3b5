// Scratch memory of one kernel call, from the GPU's allocator.
#pragma once

#include <cstddef>

#include "call.h"

namespace ambit::cuda {

/// Memory for the work that the current call queues. Freed at the end of the scope, possibly before
/// that work runs: the next user of the memory is ordered after it.
class Workspace {
 public:
  /// `bytes` may be 0. Errors: OutOfMemoryError.
  explicit Workspace(size_t bytes)
      : allocator_(Call::stream().gpu.allocator()),
        data_(bytes > 0 ? allocator_.allocate(bytes, Call::stream().clock) : nullptr) {}
  ~Workspace() {
    if (data_) allocator_.free(data_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  BlockAllocator& allocator_;
  void* const data_;
};

}  // namespace ambit::cuda
