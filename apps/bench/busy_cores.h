// A machine that others use too: one process a core that never rests.
#pragma once

#include <sys/types.h>

#include <vector>

namespace bench {

/// While it lives, each core that this process may use has another busy process on it, a child of
/// this one. They end with it, in whatever way. Errors: ambit::Error.
class BusyCores {
 public:
  BusyCores();
  ~BusyCores();
  BusyCores(const BusyCores&) = delete;
  BusyCores& operator=(const BusyCores&) = delete;

 private:
  void end();
  std::vector<pid_t> children_;
};

}  // namespace bench
