// Atomic *p += v for every element type.
#pragma once

#include <cstdint>
#include <type_traits>

namespace ambit::cuda {

template <class T>
__device__ void atomic_add(T* p, T v) {
  if constexpr (std::is_floating_point_v<T>) {
    atomicAdd(p, v);
  } else if constexpr (sizeof(T) == 8) {
    atomicAdd(reinterpret_cast<unsigned long long*>(p), static_cast<unsigned long long>(v));
  } else if constexpr (sizeof(T) == 4) {
    atomicAdd(reinterpret_cast<unsigned*>(p), static_cast<unsigned>(v));
  } else {
    // Compare-and-swap the surrounding 32-bit word until no other thread has changed it.
    const auto address = reinterpret_cast<uintptr_t>(p);
    auto* const word = reinterpret_cast<unsigned*>(address & ~uintptr_t{3});
    const unsigned shift = static_cast<unsigned>(address & 3) * 8;
    const unsigned mask = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;
    unsigned seen = *static_cast<volatile unsigned*>(word), before;  // other threads change it
    do {
      before = seen;
      const auto old = static_cast<T>(before >> shift);
      const auto sum = static_cast<unsigned>(static_cast<T>(old + v)) << shift;
      seen = atomicCAS(word, before, (before & ~mask) | (sum & mask));
    } while (seen != before);
  }
}

}  // namespace ambit::cuda
