// ExpandingArray<D>: D numbers of a list, or D times one number.
#pragma once

#include <ambit/params.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <vector>

namespace torch {

/// Errors: Error unless there are one or D numbers.
template <size_t D, class T = int64_t>
class ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> list) : ExpandingArray(at::ArrayRef<T>(list)) {}
  ExpandingArray(const std::vector<T>& list) : ExpandingArray(at::ArrayRef<T>(list)) {}
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}
  ExpandingArray(T value) { values_.fill(value); }
  ExpandingArray(at::ArrayRef<T> list) {
    TORCH_CHECK(list.size() == 1 || list.size() == D, "Expected ", D, " values, but instead got ",
                list.size());
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
  operator at::ArrayRef<T>() const { return values_; }
  operator ambit::IntOrPair() const requires(D == 2 && std::same_as<T, int64_t>) {
    return ambit::Pair{values_[0], values_[1]};
  }
  size_t size() const noexcept { return D; }

 private:
  std::array<T, D> values_;
};

template <size_t D, class T>
std::ostream& operator<<(std::ostream& os, const ExpandingArray<D, T>& array) {
  if (array.size() == 1) return os << (*array)[0];
  return os << at::ArrayRef<T>(array);
}

}  // namespace torch
