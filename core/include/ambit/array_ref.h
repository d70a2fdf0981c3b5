// ArrayRef: a non-owning list, for parameters. IntArrayRef is the list of sizes.
#pragma once

#include <ambit/api.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <vector>

namespace ambit {

class Dims;

/// Always throw IndexError "ArrayRef: expected ...".
[[noreturn]] AMBIT_API void throw_outside_array(size_t index, size_t size);

/// A non-owning view of a list of T: use it for parameters, never store it. A single T converts to
/// a list of one: `ones(3)`, `x.view(-1)`.
template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using size_type = size_t;
  using iterator = const T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<const T*>;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end)
      : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  // A floating-point number or a bool does not convert to a list of sizes.
  template <std::floating_point F>
  ArrayRef(F) = delete;
  template <std::same_as<bool> B>
  ArrayRef(B) = delete;
#pragma GCC diagnostic push
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  constexpr ArrayRef(std::initializer_list<T> l) : data_(l.begin()), size_(l.size()) {}
#pragma GCC diagnostic pop
  template <class A>
  ArrayRef(const std::vector<T, A>& v) : data_(v.data()), size_(v.size()) {}
  template <size_t n>
  constexpr ArrayRef(const std::array<T, n>& a) : data_(a.data()), size_(n) {}
  template <size_t n>
  constexpr ArrayRef(const T (&a)[n]) : data_(a), size_(n) {}
  template <std::same_as<Dims> D>
  ArrayRef(const D& d) : data_(d.data()), size_(d.size()) {}
  /// nullopt converts to an empty list, which for dims means all of them.
  template <std::same_as<std::optional<ArrayRef>> Optional>
  ArrayRef(const Optional& l) : ArrayRef(l ? *l : ArrayRef()) {}

  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* data() const { return data_; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T* cbegin() const { return begin(); }
  constexpr const T* cend() const { return end(); }
  constexpr reverse_iterator rbegin() const { return reverse_iterator(end()); }
  constexpr reverse_iterator rend() const { return reverse_iterator(begin()); }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  // Errors of all members below: IndexError if the list is too short.
  constexpr const T& at(size_t i) const {
    check(i, i < size_);
    return data_[i];
  }
  constexpr const T& front() const { return at(0); }
  constexpr const T& back() const { return at(size_ - 1); }
  /// Return n elements, starting at `start`.
  constexpr ArrayRef slice(size_t start, size_t n) const {
    check(start + n, start <= size_ && n <= size_ - start);
    return {data_ + start, n};
  }
  /// Return all elements from `start` on.
  constexpr ArrayRef slice(size_t start) const {
    check(start, start <= size_);
    return {data_ + start, size_ - start};
  }
  constexpr ArrayRef drop_front(size_t n = 1) const { return slice(n); }
  constexpr ArrayRef drop_back(size_t n = 1) const {
    check(n, n <= size_);
    return {data_, size_ - n};
  }

  std::vector<T> vec() const { return {begin(), end()}; }
  constexpr bool equals(ArrayRef o) const { return *this == o; }
  friend constexpr bool operator==(ArrayRef a, ArrayRef b) {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; ++i) {
      if (!(a.data_[i] == b.data_[i])) return false;
    }
    return true;
  }

 private:
  constexpr void check(size_t index, bool inside) const {
    if (!inside) [[unlikely]] {
      throw_outside_array(index, size_);
    }
  }

  const T* data_ = nullptr;
  size_t size_ = 0;
};

using IntArrayRef = ArrayRef<int64_t>;

}  // namespace ambit
