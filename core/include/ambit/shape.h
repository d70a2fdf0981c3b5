// Dims, an owned list of sizes (IntArrayRef in array_ref.h is the view), and shape arithmetic
// shared by all ops. Nothing here depends on tensors.
#pragma once

#include <ambit/array_ref.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace ambit {

/// An owned list of sizes or strides; allocates only beyond 5 dims.
class Dims {
 public:
  static constexpr size_t kInline = 5;  ///< number of dims stored without an allocation

  /// Hold no dims.
  Dims() = default;
  /// n times `value`.
  explicit Dims(size_t n, int64_t value = 0) { resize(n, value); }
  /// A copy of the numbers; a moved list is empty.
  /// @{
  Dims(IntArrayRef a) { assign(a); }
  Dims(std::initializer_list<int64_t> l) { assign(IntArrayRef(l)); }
  Dims(const std::vector<int64_t>& v) { assign(IntArrayRef(v)); }
  Dims(const Dims& o) {
    if (o.capacity_ > kInline) {
      assign(o);
    } else {
      copy_inline(o);
    }
  }
  Dims(Dims&& o) noexcept { take(o); }
  Dims& operator=(const Dims& o) {
    if (this != &o) assign(o);
    return *this;
  }
  Dims& operator=(Dims&& o) noexcept {
    if (this != &o) {
      if (capacity_ > kInline) delete[] heap_;
      take(o);
    }
    return *this;
  }
  /// @}
  ~Dims() {
    if (capacity_ > kInline) delete[] heap_;
  }

  /// Members of std::vector. The index of operator[] and the presence of back() are not checked.
  /// Addresses are valid until the size changes or the list is moved.
  /// @{
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return capacity_ > kInline ? heap_ : inline_; }
  const int64_t* data() const { return capacity_ > kInline ? heap_ : inline_; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  int64_t& operator[](size_t i) { return data()[i]; }
  int64_t operator[](size_t i) const { return data()[i]; }
  int64_t back() const { return data()[size_ - 1]; }

  void push_back(int64_t v);
  /// @}
  void insert(size_t at, int64_t v);         ///< before position `at` <= size()
  void erase(size_t at);                     ///< remove position `at` < size()
  void resize(size_t n, int64_t value = 0);  ///< new ones at the end become `value`
  /// Compare numbers and lengths.
  /// @{
  friend bool operator==(const Dims& a, const Dims& b) { return IntArrayRef(a) == IntArrayRef(b); }
  friend bool operator==(const Dims& a, IntArrayRef b) { return IntArrayRef(a) == b; }
  /// @}

 private:
  AMBIT_API void reserve(size_t n);
  void assign(IntArrayRef a) {
    if (a.size() > capacity_) reserve(a.size());
    int64_t* d = data();
    for (size_t i = 0; i < a.size(); ++i) d[i] = a[i];
    size_ = static_cast<uint32_t>(a.size());
  }
  void take(Dims& o) {
    size_ = o.size_;
    capacity_ = o.capacity_;
    if (capacity_ > kInline) {
      heap_ = o.heap_;
      o.capacity_ = kInline;
    } else {
      copy_inline(o);
    }
    o.size_ = 0;
  }
  // Copies all five, used or not: a few moves without a loop.
  void copy_inline(const Dims& o) {
    for (size_t i = 0; i < kInline; ++i) inline_[i] = o.inline_[i];
    size_ = o.size_;
  }

  union {
    int64_t inline_[kInline] = {};
    int64_t* heap_;
  };
  uint32_t size_ = 0;
  uint32_t capacity_ = kInline;
};

inline void Dims::resize(size_t n, int64_t value) {
  if (n > capacity_) reserve(n);
  for (size_t i = size_; i < n; ++i) data()[i] = value;
  size_ = static_cast<uint32_t>(n);
}
inline void Dims::push_back(int64_t v) { resize(size_ + 1, v); }
inline void Dims::insert(size_t at, int64_t v) {
  resize(size_ + 1);
  for (size_t i = size_ - 1; i > at; --i) data()[i] = data()[i - 1];
  data()[at] = v;
}
inline void Dims::erase(size_t at) {
  for (size_t i = at; i + 1 < size_; ++i) data()[i] = data()[i + 1];
  --size_;
}

/// An IntArrayRef that may be omitted: nullopt, {}, {0, 1}, 3. A parameter type; never store it.
class OptionalIntArrayRef {
 public:
  /// Nothing is given: nullopt.
  /// @{
  constexpr OptionalIntArrayRef() = default;
  constexpr OptionalIntArrayRef(std::nullopt_t) {}
  /// @}
  /// A view of the argument, which must outlive it.
  /// @{
  constexpr OptionalIntArrayRef(IntArrayRef list) : list_(list), given_(true) {}
  constexpr OptionalIntArrayRef(const int64_t& one) : list_(one), given_(true) {}
  constexpr OptionalIntArrayRef(std::initializer_list<int64_t> l) : list_(l), given_(true) {}
  OptionalIntArrayRef(const std::vector<int64_t>& v) : list_(v), given_(true) {}
  OptionalIntArrayRef(const Dims& d) : list_(d), given_(true) {}
  /// @}

  /// Members of std::optional; without a list, * is an empty one.
  /// @{
  constexpr bool has_value() const { return given_; }
  constexpr explicit operator bool() const { return given_; }
  constexpr IntArrayRef operator*() const { return list_; }
  constexpr const IntArrayRef* operator->() const { return &list_; }
  constexpr IntArrayRef value_or(IntArrayRef other) const { return given_ ? list_ : other; }
  /// @}

 private:
  IntArrayRef list_;
  bool given_ = false;
};

/// Format as "[2, 3]".
AMBIT_API std::string str(IntArrayRef sizes);
/// Print str(sizes).
AMBIT_API std::ostream& operator<<(std::ostream& os, IntArrayRef sizes);

/// Return the number of elements. Errors: ShapeError for a size < 0 or more than 2^63-1 elements.
AMBIT_API int64_t count(const char* op, IntArrayRef sizes);
/// Return the strides of a contiguous (row-major) tensor, in elements.
AMBIT_API Dims contiguous_strides(IntArrayRef sizes);
/// Return the shape that both broadcast to. Errors: ShapeError naming `op` and both shapes.
/// Source: numpy.org/doc/stable/user/basics.broadcasting.html.
AMBIT_API Dims broadcast(const char* op, IntArrayRef a, IntArrayRef b);
/// Map dim in [-ndim, ndim) to [0, ndim); a 0-dim tensor allows -1 and 0. Errors: IndexError.
AMBIT_API int64_t wrap_dim(const char* op, int64_t dim, int64_t ndim);

}  // namespace ambit
