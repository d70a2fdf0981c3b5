// CPU load of other processes during a measurement, which decides on shared machines whether the
// result is valid.
#pragma once

#include <chrono>

namespace bench {

class OtherLoad {
 public:
  OtherLoad();
  /// Return the mean number of cores kept busy since construction by other processes and by the
  /// host of a virtual machine. Ended children of this process do not count; 0 without /proc/stat.
  /// `known_seconds`: CPU time of running children to exclude.
  double cores(double known_seconds = 0) const;

 private:
  std::chrono::steady_clock::time_point start_;
  double all_, own_;  // seconds of all cores, at the start
};

}  // namespace bench
