// Temporary files of writers, and removal of those of killed writers. Private to core.
#pragma once

#include <string>

namespace ambit {

/// Return a short random name, practically unique.
std::string temporary_name();

/// Lock an open temporary file as being written. The system releases the lock when the process ends
/// for any reason. Return false if another holder has the lock.
bool mark_as_written(int fd) noexcept;

/// Remove the temporary files in a folder that are no longer being written. Never fails: skips
/// files that it cannot open or that belong to other users.
void remove_stale_files(int folder) noexcept;

}  // namespace ambit
