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
  using value_type = T;                                      ///< type of the elements
  using size_type = size_t;                                  ///< type of size() and of indices
  using iterator = const T*;                                 ///< elements are read-only
  using const_iterator = const T*;                           ///< same as iterator
  using reverse_iterator = std::reverse_iterator<const T*>;  ///< from the last element

  /// An empty list.
  constexpr ArrayRef() = default;
  /// A view of `size` elements from an address on.
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  /// A view of [begin, end).
  constexpr ArrayRef(const T* begin, const T* end)
      : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  /// A view of one element, which must outlive it.
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
  /// A view of a list in braces, which lives until the end of the full expression.
  constexpr ArrayRef(std::initializer_list<T> l) : data_(l.begin()), size_(l.size()) {}
#pragma GCC diagnostic pop
  /// A view of a vector, valid until the vector changes.
  template <class A>
  ArrayRef(const std::vector<T, A>& v) : data_(v.data()), size_(v.size()) {}
  /// A view of an array.
  template <size_t n>
  constexpr ArrayRef(const std::array<T, n>& a) : data_(a.data()), size_(n) {}
  /// A view of a C array.
  template <size_t n>
  constexpr ArrayRef(const T (&a)[n]) : data_(a), size_(n) {}
  /// A view of sizes, valid until they change.
  template <std::same_as<Dims> D>
  ArrayRef(const D& d) : data_(d.data()), size_(d.size()) {}
  /// nullopt converts to an empty list, which for dims means all of them.
  template <std::same_as<std::optional<ArrayRef>> Optional>
  ArrayRef(const Optional& l) : ArrayRef(l ? *l : ArrayRef()) {}

  constexpr size_t size() const { return size_; }           ///< number of elements
  constexpr bool empty() const { return size_ == 0; }       ///< true for no elements
  constexpr const T* data() const { return data_; }         ///< address; null by default
  constexpr const T* begin() const { return data_; }        ///< first element
  constexpr const T* end() const { return data_ + size_; }  ///< after the last element
  constexpr const T* cbegin() const { return begin(); }     ///< same as begin()
  constexpr const T* cend() const { return end(); }         ///< same as end()
  /// Iterates from the last element to the first.
  constexpr reverse_iterator rbegin() const { return reverse_iterator(end()); }
  /// The end of rbegin()'s iteration.
  constexpr reverse_iterator rend() const { return reverse_iterator(begin()); }
  constexpr const T& operator[](size_t i) const { return data_[i]; }  ///< i is not checked
  /// Return element i. Errors: IndexError.
  constexpr const T& at(size_t i) const {
    check(i, i < size_);
    return data_[i];
  }
  constexpr const T& front() const { return at(0); }         ///< Errors: IndexError if empty.
  constexpr const T& back() const { return at(size_ - 1); }  ///< Errors: IndexError if empty.
  /// Return n elements, starting at `start`. Errors of this and all below: IndexError if the list
  /// is too short.
  constexpr ArrayRef slice(size_t start, size_t n) const {
    check(start + n, start <= size_ && n <= size_ - start);
    return {data_ + start, n};
  }
  /// Return all elements from `start` on.
  constexpr ArrayRef slice(size_t start) const {
    check(start, start <= size_);
    return {data_ + start, size_ - start};
  }
  /// Return all but the first n elements.
  constexpr ArrayRef drop_front(size_t n = 1) const { return slice(n); }
  /// Return all but the last n elements.
  constexpr ArrayRef drop_back(size_t n = 1) const {
    check(n, n <= size_);
    return {data_, size_ - n};
  }

  /// Return a copy of the elements.
  std::vector<T> vec() const { return {begin(), end()}; }
  /// Return true if both lists have equal lengths and elements.
  constexpr bool equals(ArrayRef o) const { return *this == o; }
  /// Same as equals().
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

/// A list of sizes, strides or dims.
using IntArrayRef = ArrayRef<int64_t>;

}  // namespace ambit
