// What else the machine does while something is measured: on shared machines it decides whether a
// figure means anything.
#pragma once

#include <chrono>

namespace bench {

class OtherLoad {
 public:
  OtherLoad();
  /// Return how many cores processes other than this one and its children that have ended, and the
  /// host of a virtual machine, have kept busy since the construction; 0 where there is no
  /// /proc/stat. `known_seconds`: what children that still run have spent since then.
  double cores(double known_seconds = 0) const;

 private:
  std::chrono::steady_clock::time_point start_;
  double all_, own_;  // seconds of all cores, at the start
};

}  // namespace bench
