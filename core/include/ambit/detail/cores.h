// The number of cores available to this process.
#pragma once

#include <ambit/api.h>

#include <filesystem>

namespace ambit {

/// Return the number of cores that this process may use: the physical cores (two hyperthreads are
/// one) in its affinity mask, limited by its cgroups' quota, rounded up. At least 1. `root`: prefix
/// of /proc and /sys, for tests.
AMBIT_API int available_cores(const std::filesystem::path& root = "/");

}  // namespace ambit
