#include "other_load.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace bench {
namespace {

// See proc(5): cpu user nice system idle iowait irq softirq steal ..., in ticks.
double seconds_of_all() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  file >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  return (user + nice + system + irq + softirq + steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double seconds_of(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double seconds_of_own() { return seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN); }

}  // namespace

OtherLoad::OtherLoad()
    : start_(std::chrono::steady_clock::now()), all_(seconds_of_all()), own_(seconds_of_own()) {}

double OtherLoad::cores(double known_seconds) const {
  const double others = (seconds_of_all() - all_) - (seconds_of_own() - own_) - known_seconds;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  return std::max(0.0, others / elapsed.count());
}

}  // namespace bench
