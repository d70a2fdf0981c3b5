// c10::SymInt: an integer. Symbolic ones of libtorch's compilers do not exist in ambit.
#pragma once

#include <ambit/array_ref.h>
#include <torch/namespaces.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

namespace c10 {

class SymInt {
 public:
  constexpr SymInt(int64_t value = 0) : value_(value) {}
  constexpr operator int64_t() const { return value_; }

  int64_t guard_int(const char* /*file*/, int64_t /*line*/) const { return value_; }
  int64_t expect_int() const { return value_; }
  int64_t as_int_unchecked() const { return value_; }
  std::optional<int64_t> maybe_as_int() const { return value_; }
  bool is_symbolic() const { return false; }
  bool is_heap_allocated() const { return false; }
  bool has_hint() const { return true; }
  SymInt clone() const { return *this; }
  SymInt min(const SymInt& other) const { return std::min(value_, other.value_); }
  SymInt max(const SymInt& other) const { return std::max(value_, other.value_); }

  SymInt& operator+=(const SymInt& other) { return *this = value_ + other.value_; }
  SymInt& operator-=(const SymInt& other) { return *this = value_ - other.value_; }
  SymInt& operator*=(const SymInt& other) { return *this = value_ * other.value_; }
  SymInt& operator/=(const SymInt& other) { return *this = value_ / other.value_; }

 private:
  int64_t value_;
};
static_assert(sizeof(SymInt) == sizeof(int64_t));

using SymIntArrayRef = ambit::ArrayRef<SymInt>;

inline ambit::IntArrayRef asIntArrayRefUnchecked(SymIntArrayRef list) {
  return {reinterpret_cast<const int64_t*>(list.data()), list.size()};
}
inline std::optional<ambit::IntArrayRef> asIntArrayRefSlowOpt(SymIntArrayRef list) {
  return asIntArrayRefUnchecked(list);
}
inline ambit::IntArrayRef asIntArrayRefSlow(SymIntArrayRef list, const char* /*file*/,
                                            int64_t /*line*/) {
  return asIntArrayRefUnchecked(list);
}
inline SymIntArrayRef fromIntArrayRefSlow(ambit::IntArrayRef list) {
  return {reinterpret_cast<const SymInt*>(list.data()), list.size()};
}
#define C10_AS_INTARRAYREF_SLOW(list) ::c10::asIntArrayRefSlow(list, __FILE__, __LINE__)

}  // namespace c10

template <>
struct std::hash<c10::SymInt> {
  size_t operator()(c10::SymInt value) const noexcept { return std::hash<int64_t>()(value); }
};
