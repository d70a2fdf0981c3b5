// The timestamps of events and event files.
#pragma once

#include <chrono>

namespace ambit::tensorboard {

/// Return the seconds since 1970.
inline double wall_time_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace ambit::tensorboard
