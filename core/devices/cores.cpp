#include <ambit/detail/cores.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace ambit {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// Return the processors in this process's affinity mask.
std::vector<int> processors() {
  constexpr int kMost = 1 << 16;
  for (int most = CPU_SETSIZE; most <= kMost; most *= 2) {  // the kernel's set may be larger
    std::vector<cpu_set_t> set(static_cast<size_t>(most / CPU_SETSIZE));
    const size_t bytes = set.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, set.data()) != 0) continue;
    std::vector<int> found;
    for (int i = 0; i < most; ++i) {
      if (CPU_ISSET_S(i, bytes, set.data())) found.push_back(i);
    }
    return found;
  }
  return {0};
}

// Hyperthreads of one core list the same siblings.
int cores_of_affinity(const fs::path& root) {
  std::set<std::string> cores;
  for (const int processor : processors()) {
    const std::string number = std::to_string(processor);
    const std::string siblings = first_line(root / "sys/devices/system/cpu" / ("cpu" + number) /
                                            "topology/thread_siblings_list");
    cores.insert(siblings.empty() ? number : siblings);
  }
  return static_cast<int>(cores.size());
}

constexpr double kNoQuota = std::numeric_limits<double>::infinity();

// "50000 100000" or "max 100000": quota and period in us, see the kernel's cgroup-v2.rst.
double quota_v2(const fs::path& group) {
  std::ifstream in(group / "cpu.max");
  double quota = 0, period = 0;
  return in >> quota >> period && period > 0 ? quota / period : kNoQuota;
}

double quota_v1(const fs::path& group) {
  double quota = 0, period = 0;
  std::ifstream(group / "cpu.cfs_quota_us") >> quota;
  std::ifstream(group / "cpu.cfs_period_us") >> period;
  return quota > 0 && period > 0 ? quota / period : kNoQuota;
}

// A group is limited by its ancestors too. In a container any of them may be the root of the file
// system.
template <class Quota>
double least(const fs::path& mount, const fs::path& group, const Quota& quota) {
  double cores = quota(mount);
  fs::path path = mount;
  for (const fs::path& name : group.relative_path()) {
    path /= name;
    cores = std::min(cores, quota(path));
  }
  return cores;
}

// Lines "0::/group" of version 2, "4:cpu,cpuacct:/group" of version 1; see cgroups(7).
double cores_of_cgroups(const fs::path& root) {
  double cores = kNoQuota;
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path group = line.substr(second + 1), mount = root / "sys/fs/cgroup";
    if (controllers == ",,") cores = std::min(cores, least(mount, group, quota_v2));
    if (controllers.find(",cpu,") != std::string::npos) {
      cores = std::min(cores, least(mount / "cpu", group, quota_v1));
    }
  }
  return cores;
}

}  // namespace

int available_cores(const fs::path& root) {
  const double cores = std::min<double>(cores_of_affinity(root), std::ceil(cores_of_cgroups(root)));
  return std::max(1, static_cast<int>(cores));
}

}  // namespace ambit
