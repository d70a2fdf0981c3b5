// c10::ArrayRef, printed as "[1, 2]".
#pragma once

#include <ambit/array_ref.h>
#include <ambit/shape.h>
#include <c10/util/Optional.h>

#include <array>
#include <ostream>
#include <vector>

namespace ambit {

template <class T>
std::ostream& operator<<(std::ostream& os, ArrayRef<T> list) {
  os << '[';
  for (size_t i = 0; i < list.size(); ++i) os << (i > 0 ? ", " : "") << list[i];
  return os << ']';
}

}  // namespace ambit

namespace c10 {

/// An optional list; converted to dims, nullopt means all dims.
class OptionalIntArrayRef : public optional<IntArrayRef> {
 public:
  using optional<IntArrayRef>::optional;
  operator IntArrayRef() const { return value_or(IntArrayRef()); }
  operator ambit::OptionalIntArrayRef() const {
    return has_value() ? ambit::OptionalIntArrayRef(**this) : ambit::OptionalIntArrayRef();
  }
};

template <class T>
ArrayRef<T> makeArrayRef(const T& one) {
  return one;
}
template <class T>
ArrayRef<T> makeArrayRef(const T* data, size_t size) {
  return {data, size};
}
template <class T>
ArrayRef<T> makeArrayRef(const std::vector<T>& list) {
  return list;
}
template <class T, size_t n>
ArrayRef<T> makeArrayRef(const std::array<T, n>& list) {
  return list;
}

}  // namespace c10
