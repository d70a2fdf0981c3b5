// The temporary files of writers, and what is left of those that were killed. Private to core.
#pragma once

#include <string>

namespace ambit {

/// Return a name that no other file has, by chance alone: short, whatever it is to become.
std::string temporary_name();

/// Mark an open temporary file as one that is being written. The mark is the system's, and ends
/// with the process however it ends. Return false where somebody else has it.
bool mark_as_written(int fd) noexcept;

/// Remove the temporary files in a folder that nobody writes any more. Never fails: what cannot be
/// looked at, or belongs to others, is left.
void remove_stale_files(int folder) noexcept;

}  // namespace ambit
