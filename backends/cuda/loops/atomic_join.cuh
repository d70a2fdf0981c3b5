// Atomic *p = join(*p, v) for every element type, by compare-and-swap.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ambit::cuda {

template <class T, class Join>
__device__ void atomic_join(T* p, T v, const Join& join) {
  if constexpr (sizeof(T) >= 4) {
    using Word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
    auto* const word = reinterpret_cast<Word*>(p);
    Word seen = *static_cast<volatile Word*>(word), before;  // other threads change it
    do {
      before = seen;
      const T joined = join(std::bit_cast<T>(before), v);
      seen = atomicCAS(word, before, std::bit_cast<Word>(joined));
    } while (seen != before);
  } else {
    using Bits = std::conditional_t<sizeof(T) == 1, uint8_t, uint16_t>;
    const auto address = reinterpret_cast<uintptr_t>(p);
    auto* const word = reinterpret_cast<unsigned*>(address & ~uintptr_t{3});
    const unsigned shift = static_cast<unsigned>(address & 3) * 8;
    const unsigned mask = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;
    unsigned seen = *static_cast<volatile unsigned*>(word), before;
    do {
      before = seen;
      const T old = std::bit_cast<T>(static_cast<Bits>(before >> shift));
      const auto joined = unsigned{std::bit_cast<Bits>(join(old, v))} << shift;
      seen = atomicCAS(word, before, (before & ~mask) | joined);
    } while (seen != before);
  }
}

}  // namespace ambit::cuda
