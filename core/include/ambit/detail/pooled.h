// Memory for the small objects that every op makes and drops: tensors, storages, graph nodes. Freed
// blocks wait in lists of the thread that freed them, so that taking one needs neither a lock nor
// an atomic; a block is nobody's, and may be freed by another thread than asked for it.
#pragma once

#include <ambit/api.h>

#include <cstddef>
#include <vector>

namespace ambit {

/// Return memory for an object of `bytes`, aligned as operator new does. Errors: OutOfMemoryError.
AMBIT_API void* allocate_object(size_t bytes);
/// Take back what allocate_object(bytes) returned, any thread's.
AMBIT_API void free_object(void* p, size_t bytes) noexcept;

/// Base of classes whose objects come from there.
struct Pooled {
  static void* operator new(size_t bytes) { return allocate_object(bytes); }
  static void operator delete(void* p, size_t bytes) noexcept { free_object(p, bytes); }
};

/// The same for what containers hold.
template <class T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(allocate_object(n * sizeof(T))); }
  void deallocate(T* p, size_t n) noexcept { free_object(p, n * sizeof(T)); }
  friend bool operator==(PoolAllocator, PoolAllocator) { return true; }
};
template <class T>
using PooledVector = std::vector<T, PoolAllocator<T>>;

}  // namespace ambit
