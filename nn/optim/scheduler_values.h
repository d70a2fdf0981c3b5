// Reading a scheduler's checkpoint.
#pragma once

#include <ambit/error.h>
#include <ambit/value.h>
#include <fmt/format.h>

namespace ambit::optim {

/// Return dict[name]. Errors: SerializationError unless it is an int of at least `least`.
inline int64_t count_of(const Value& dict, const char* name, int64_t least = 0) {
  const int64_t n = dict[name].to_int();
  if (n < least) {
    throw SerializationError(
        fmt::format("checkpoint: expected {} of at least {}, got {}", name, least, n));
  }
  return n;
}

}  // namespace ambit::optim
