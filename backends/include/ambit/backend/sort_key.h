// Maps numbers to unsigned keys in the order of kernels::sort, on host or device: NaN is the
// largest, both zeros are equal. For descending order use complemented keys. Keys can be compared
// and split into digits as integers. Source: Terdiman 2000, "Radix sort revisited".
#pragma once

#include <ambit/api.h>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ambit {

/// Unsigned integer of the width of T.
template <class T>
using SortKey =
    std::conditional_t<sizeof(T) <= 2, std::conditional_t<sizeof(T) == 1, uint8_t, uint16_t>,
                       std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;

/// Return the key of x: smaller keys come first, NaN last; descending: complemented.
template <class T>
AMBIT_HOST_DEVICE SortKey<T> sort_key(T x, bool descending) {
  using Key = SortKey<T>;
  constexpr Key kTop = static_cast<Key>(Key{1} << (8 * sizeof(T) - 1));
  Key key;
  if constexpr (std::floating_point<T>) {
    const Key bits = std::bit_cast<Key>(x + T(0));  // maps -0 to 0
    key = bits & kTop ? static_cast<Key>(~bits) : static_cast<Key>(bits | kTop);
    key = x != x ? std::numeric_limits<Key>::max() : key;
  } else if constexpr (std::is_signed_v<T>) {
    key = static_cast<Key>(static_cast<Key>(x) ^ kTop);
  } else {
    key = static_cast<Key>(x);
  }
  return descending ? static_cast<Key>(~key) : key;
}

}  // namespace ambit
