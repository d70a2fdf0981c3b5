#include "busy_cores.h"

#include <ambit/error.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {
namespace {

[[noreturn]] void stay_busy(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent exited before prctl()
  for (volatile unsigned i = 0;;) i = i + 1;
}

}  // namespace

BusyCores::BusyCores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) CPU_ZERO(&cores);
  const pid_t parent = getpid();
  for (int i = 0; i < CPU_COUNT(&cores); ++i) {
    const pid_t child = fork();
    if (child == 0) stay_busy(parent);
    if (child < 0) {
      const int error = errno;
      end();
      throw ambit::Error(
          fmt::format("--loaded: expected to start a process, got {}", strerror(error)));
    }
    children_.push_back(child);
  }
}

BusyCores::~BusyCores() { end(); }

void BusyCores::end() {
  for (const pid_t child : children_) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

}  // namespace bench
