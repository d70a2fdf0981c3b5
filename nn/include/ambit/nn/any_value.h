// AnyValue: a value of any type; AnyModule passes arguments and results in it.
#pragma once

#include <ambit/tensor.h>

#include <any>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace ambit::nn {

/// Throw Error "<what>: expected float, got double".
[[noreturn]] AMBIT_API void throw_other_type(const char* what, const std::type_info& expected,
                                             const std::type_info& got);

/// A value of any copyable type.
class AnyValue {
 public:
  /// Hold no value: try_get() returns null.
  AnyValue() = default;
  /// Hold the value.
  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, AnyValue>) explicit AnyValue(T&& value)
      : value_(std::forward<T>(value)) {}

  /// Return a pointer to the value, null if it is of another type.
  template <class T>
  T* try_get() {
    return std::any_cast<T>(&value_);
  }
  /// Return the value. Errors: Error if it is of another type.
  template <class T>
  T get() {
    if (T* value = try_get<T>()) return *value;
    throw_other_type("AnyValue", typeid(T), type_info());
  }
  /// Return the type of the value, void if there is none.
  const std::type_info& type_info() const noexcept { return value_.type(); }

 private:
  std::any value_;
};

}  // namespace ambit::nn
