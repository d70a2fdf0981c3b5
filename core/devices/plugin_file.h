// Checks of a plugin's file before its code runs. Private to core.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace ambit {

/// Return the files in a folder that are plugins by name; if the folder cannot be read, return an
/// empty list and set errno.
std::vector<std::filesystem::path> plugins_in(const std::filesystem::path& folder);

// Errors of all functions below: BackendError naming the problem; the caller adds the file.

/// Check that a plugin may be opened: a complete regular file that, with its folder, is not
/// world-writable (AMBIT_TRUST_PLUGINS=1 skips the latter).
void check_plugin_file(const std::filesystem::path& path);

/// Check that an ELF file is as long as its headers say: the system's loader maps those ranges, and
/// access beyond the end of the file raises SIGBUS. Files that are not ELF files of this machine
/// pass: the loader reports them.
void check_whole_library(int descriptor, uint64_t size_bytes);

}  // namespace ambit
