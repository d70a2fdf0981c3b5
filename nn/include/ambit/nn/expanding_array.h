// ExpandingArray<D>: D numbers of a list, or D times one number.
#pragma once

#include <ambit/array_ref.h>
#include <ambit/error.h>
#include <ambit/params.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

namespace ambit {

/// An option of layers with D spatial dims: 5, {5} or {5, 3}. Errors: Error unless there are one or
/// D numbers.
template <size_t D, class T = int64_t>
class ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> list) : ExpandingArray(ArrayRef<T>(list)) {}
  ExpandingArray(const std::vector<T>& list) : ExpandingArray(ArrayRef<T>(list)) {}
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}
  ExpandingArray(T value) { values_.fill(value); }
  ExpandingArray(ArrayRef<T> list) {
    if (list.size() != 1 && list.size() != D) {
      throw Error("Expected " + std::to_string(D) + " values, but instead got " +
                  std::to_string(list.size()));
    }
    if (list.size() == 1) {
      values_.fill(list[0]);
    } else {
      std::copy(list.begin(), list.end(), values_.begin());
    }
  }

  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  operator ArrayRef<T>() const { return values_; }
  operator IntOrPair() const requires(D == 2 && std::same_as<T, int64_t>) {
    return Pair{values_[0], values_[1]};
  }
  size_t size() const noexcept { return D; }

 private:
  std::array<T, D> values_;
};

template <size_t D, class T>
std::ostream& operator<<(std::ostream& os, const ExpandingArray<D, T>& array) {
  if (array.size() == 1) return os << (*array)[0];
  os << '[' << (*array)[0];
  for (size_t i = 1; i < D; ++i) os << ", " << (*array)[i];
  return os << ']';
}

}  // namespace ambit
