#include "limited_memory.h"

#include <errno.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

std::atomic<size_t> most_bytes{SIZE_MAX};
std::atomic<long> refused{0};

void* take(size_t bytes, size_t alignment) {
  if (bytes > most_bytes) {
    ++refused;
    return nullptr;
  }
  return alignment ? memalign(alignment, bytes) : std::malloc(bytes);
}

void* take_or_throw(size_t bytes, size_t alignment = 0) {
  if (void* p = take(bytes, alignment)) return p;
  throw std::bad_alloc();
}

}  // namespace

// Not inlined: g++ would warn of free() of a pointer that operator new has returned.
#define AMBIT_REPLACED [[gnu::noinline]]
AMBIT_REPLACED void* operator new(size_t n) { return take_or_throw(n); }
AMBIT_REPLACED void* operator new(size_t n, std::align_val_t a) {
  return take_or_throw(n, static_cast<size_t>(a));
}
AMBIT_REPLACED void* operator new(size_t n, const std::nothrow_t&) noexcept { return take(n, 0); }
AMBIT_REPLACED void* operator new[](size_t n) { return take_or_throw(n); }
AMBIT_REPLACED void* operator new[](size_t n, const std::nothrow_t&) noexcept { return take(n, 0); }
AMBIT_REPLACED void operator delete(void* p) noexcept { std::free(p); }
AMBIT_REPLACED void operator delete(void* p, size_t) noexcept { std::free(p); }
AMBIT_REPLACED void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
AMBIT_REPLACED void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }
AMBIT_REPLACED void operator delete[](void* p) noexcept { std::free(p); }
AMBIT_REPLACED void operator delete[](void* p, size_t) noexcept { std::free(p); }
#undef AMBIT_REPLACED

// The memory of tensors on the cpu.
extern "C" int posix_memalign(void** p, size_t alignment, size_t bytes) noexcept {
  *p = take(bytes, alignment);
  return *p ? 0 : ENOMEM;
}

// libambit maps no block larger than the memory of the machine, which sysconf() returns. The values
// of other names come from __sysconf(), the C library's internal name of sysconf(): a sanitizer
// calls sysconf() before dlsym() works.
extern "C" long __sysconf(int name) noexcept;
extern "C" long sysconf(int name) noexcept {
  const size_t most = most_bytes;
  if (name == _SC_PHYS_PAGES && most != SIZE_MAX) return static_cast<long>(most / 4096);
  return __sysconf(name);
}

namespace limited_memory {

Limit::Limit(size_t most) {
  refused = 0;
  most_bytes = most;
}
Limit::~Limit() { most_bytes = SIZE_MAX; }
long Limit::refusals() const { return refused; }

}  // namespace limited_memory
