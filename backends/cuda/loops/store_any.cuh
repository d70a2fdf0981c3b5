// *p = v by several threads that may store to the same address.
#pragma once

namespace ambit::cuda {

/// If several threads of a kernel store to p, the value of one of them remains, untorn. Volatile
/// prevents the compiler from assuming that no other thread stores.
template <class T>
__device__ void store_any(T* p, T v) {
  *static_cast<volatile T*>(p) = v;
}

}  // namespace ambit::cuda
