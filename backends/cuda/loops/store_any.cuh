// *p = v by several threads that may meet at a place.
#pragma once

namespace ambit::cuda {

/// Of the threads that store at p in one kernel, one's value stays, whole, and it is open whose.
/// Volatile, which to the device is a store that others may come between.
template <class T>
__device__ void store_any(T* p, T v) {
  *static_cast<volatile T*>(p) = v;
}

}  // namespace ambit::cuda
