// Temporary memory of a kernel call, from the CPU's caching allocator; a hit costs about 20 ns.
#pragma once

#include <cstddef>

namespace ambit::cpu {

class Scratch {
 public:
  /// Allocate memory aligned to 64 bytes. Errors: OutOfMemoryError.
  explicit Scratch(size_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  template <class T = char>
  T* data() const {
    return static_cast<T*>(data_);
  }

 private:
  size_t bytes_;
  void* data_;
};

}  // namespace ambit::cpu
