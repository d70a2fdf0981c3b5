// How many cores there are for this process.
#pragma once

#include <ambit/api.h>

#include <filesystem>

namespace ambit {

/// Return the number of cores whose time this process may have: of the processors that it may run
/// on those that are cores of their own (two hyperthreads are one), and no more than the quota of
/// its cgroups, rounded up. 1 or more. `root`: where /proc and /sys are, for tests.
AMBIT_API int available_cores(const std::filesystem::path& root = "/");

}  // namespace ambit
