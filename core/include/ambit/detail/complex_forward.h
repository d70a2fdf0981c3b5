// Declare std::complex without its definition: <complex> would add 5 % to the time to compile
// <ambit/ambit.h>. nvcc needs the definition: it checks the body of item<T>() before T is known.
#pragma once

#include <cstddef>

#if defined(__GLIBCXX__) && !defined(__CUDACC__)
// clang-format off
namespace std _GLIBCXX_VISIBILITY(default) {
_GLIBCXX_BEGIN_NAMESPACE_VERSION
template <class T>
class complex;
_GLIBCXX_END_NAMESPACE_VERSION
}  // namespace std
// clang-format on
#else
#include <complex>
#endif
