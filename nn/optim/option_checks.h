// A check shared by the options of all optimizers.
#pragma once

#include <ambit/error.h>
#include <fmt/format.h>

#include <initializer_list>
#include <utility>

namespace ambit::optim {

/// Errors: Error naming the first option that is below 0 or NaN.
inline void check_not_negative(const char* optimizer,
                               std::initializer_list<std::pair<const char*, double>> options) {
  for (const auto& [what, value] : options) {
    if (!(value >= 0)) {  // true for NaN too
      throw Error(fmt::format("{}: expected {} of at least 0, got {}", optimizer, what, value));
    }
  }
}

}  // namespace ambit::optim
