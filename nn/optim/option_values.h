// Reading and inheriting options. Private to optim.
#pragma once

#include <ambit/error.h>
#include <ambit/value.h>
#include <fmt/format.h>

namespace ambit::optim {

/// Return an option of a checkpoint's group. Errors: SerializationError naming it, if it is missing
/// or cannot be converted to T; PyTorch may store lr as a tensor.
template <class T>
T option(const Value& group, const char* name) {
  const Value& value = group[name];
  try {
    return value.to<T>();
  } catch (const SerializationError& e) {
    throw SerializationError(fmt::format("{}, as the option {}", e.what(), name));
  }
}
inline double number(const Value& group, const char* name) { return option<double>(group, name); }
inline bool flag(const Value& group, const char* name) { return option<bool>(group, name); }

/// Replace `own` by the optimizer's default if it equals the constructor's default.
template <class T>
void inherit_one(T& own, const T& constructed, const T& defaults) {
  if (own == constructed) own = defaults;
}

}  // namespace ambit::optim
