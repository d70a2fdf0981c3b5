// Reading what a scheduler's checkpoint holds.
#pragma once

#include <ambit/error.h>
#include <ambit/value.h>
#include <fmt/format.h>

namespace ambit::optim {

/// Errors: SerializationError for what is no int of at least `least`.
inline int64_t count_of(const Value& dict, const char* name, int64_t least = 0) {
  const int64_t n = dict[name].to_int();
  if (n < least) {
    throw SerializationError(
        fmt::format("checkpoint: expected {} of at least {}, got {}", name, least, n));
  }
  return n;
}

}  // namespace ambit::optim
