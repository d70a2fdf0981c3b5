// Memory for small objects that every op creates and frees: tensors, storages, graph nodes. Freed
// blocks go to lists of the freeing thread, so that allocation needs neither a lock nor an atomic;
// a thread may free a block that another thread allocated.
#pragma once

#include <ambit/api.h>

#include <cstddef>
#include <vector>

namespace ambit {

/// Return memory for an object of `bytes`, aligned as operator new does. Errors: OutOfMemoryError.
AMBIT_API void* allocate_object(size_t bytes);
/// Free a block of allocate_object(bytes), from any thread.
AMBIT_API void free_object(void* p, size_t bytes) noexcept;

/// Base of classes whose objects are allocated this way.
struct Pooled {
  static void* operator new(size_t bytes) { return allocate_object(bytes); }
  static void operator delete(void* p, size_t bytes) noexcept { free_object(p, bytes); }
};

/// An allocator of memory from the pool for containers' elements.
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
