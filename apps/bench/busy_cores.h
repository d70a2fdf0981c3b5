// Simulates a shared machine: one busy process per core.
#pragma once

#include <sys/types.h>

#include <vector>

namespace bench {

/// During its lifetime, a busy child process runs on each core that this process may use. The
/// children end with this process in any case. Errors: ambit::Error.
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
