// Declare std::complex without its definition: <complex> would add 5 % to the time to compile
// <ambit/ambit.h>.
#pragma once

#include <cstddef>

#ifdef __GLIBCXX__
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
