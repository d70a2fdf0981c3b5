// For kernels that only copy elements and depend only on their size.
#pragma once

#include <ambit/dtype.h>

#include <cstdint>
#include <cstring>

namespace ambit::cuda {

/// Call `f.template operator()<Bits>()` with the unsigned integer of the size of `d`'s elements.
template <class F>
void visit_bits(DType d, const F& f) {
  switch (element_size(d)) {
    case 1:
      return f.template operator()<uint8_t>();
    case 2:
      return f.template operator()<uint16_t>();
    case 4:
      return f.template operator()<uint32_t>();
    default:
      return f.template operator()<uint64_t>();
  }
}

/// Reinterpret bits as another type of the same size.
template <class To, class From>
To bits_as(const From& x) {
  static_assert(sizeof(To) == sizeof(From));
  To y;
  std::memcpy(&y, &x, sizeof y);
  return y;
}

}  // namespace ambit::cuda
