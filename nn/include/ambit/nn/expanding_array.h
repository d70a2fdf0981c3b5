// ExpandingArray<D>: D numbers, given as a list or as one number that is repeated; used by options.
#pragma once

#include <ambit/api.h>
#include <ambit/array_ref.h>
#include <ambit/error.h>
#include <ambit/params.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace ambit {

/// An option of layers with D spatial dims: 5, {5} or {5, 3}. Errors: Error unless there are one or
/// D numbers.
template <size_t D, class T = int64_t>
class AMBIT_API ExpandingArray {
 public:
  /// Hold D numbers, or one that is repeated. Errors: Error for a different count.
  ExpandingArray(std::initializer_list<T> list) : ExpandingArray(ArrayRef<T>(list)) {}
  ExpandingArray(const std::vector<T>& list) : ExpandingArray(ArrayRef<T>(list)) {}
  /// Hold these numbers.
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}
  /// Hold the number D times.
  ExpandingArray(T value) { values_.fill(value); }
  /// Hold D numbers, or one that is repeated. Errors: Error for a different count.
  ExpandingArray(ArrayRef<T> list) {
    if (list.size() != 1 && list.size() != D) {
      throw Error("Expected " + std::to_string(D) + " values, but instead got " +
                  std::to_string(list.size()));
    }
    for (size_t i = 0; i < D; ++i) values_[i] = list[list.size() == 1 ? 0 : i];
  }

  /// Return the D numbers.
  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  /// Access a member of the std::array.
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  /// Return number i, without a check.
  T& operator[](size_t i) { return values_[i]; }
  const T& operator[](size_t i) const { return values_[i]; }
  /// View the D numbers; the view is valid as long as this object.
  operator ArrayRef<T>() const { return values_; }
  /// Convert two numbers to the parameters of ops on images.
  operator IntOrPair() const requires(D == 2 && std::same_as<T, int64_t>) {
    return Pair{values_[0], values_[1]};
  }
  /// Return D.
  size_t size() const noexcept { return D; }

 protected:
  /// The D numbers.
  std::array<T, D> values_;
};

/// An ExpandingArray whose elements may be nullopt: {3, std::nullopt}.
template <size_t D, class T = int64_t>
class AMBIT_API ExpandingArrayWithOptionalElem : public ExpandingArray<D, std::optional<T>> {
 public:
  using Base = ExpandingArray<D, std::optional<T>>;
  using Base::Base;
  /// Hold D elements, or one that is repeated. Errors: Error for a different count.
  ExpandingArrayWithOptionalElem(std::initializer_list<std::optional<T>> list) : Base(list) {}
  /// As above, with numbers only.
  ExpandingArrayWithOptionalElem(std::initializer_list<T> list)
      : ExpandingArrayWithOptionalElem(ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(const std::vector<T>& list)
      : ExpandingArrayWithOptionalElem(ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(const std::array<T, D>& values)
      : ExpandingArrayWithOptionalElem(ArrayRef<T>(values)) {}
  ExpandingArrayWithOptionalElem(ArrayRef<T> list)
      : Base(std::vector<std::optional<T>>(list.begin(), list.end())) {}
  /// Hold the number D times.
  ExpandingArrayWithOptionalElem(T value) : Base(std::optional<T>(value)) {}
};

/// Print "3" if there is one number, else "[3, 2]".
template <size_t D, class T>
std::ostream& operator<<(std::ostream& os, const ExpandingArray<D, T>& array) {
  if (array.size() == 1) return os << array[0];
  return os << ArrayRef<T>(array);
}

}  // namespace ambit
