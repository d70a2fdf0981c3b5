// What can be said of a plugin's file before its code runs. Private to core.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace ambit {

/// Return the files of a folder that a search takes for plugins, by name; none, with errno set,
/// where it cannot be read.
std::vector<std::filesystem::path> plugins_in(const std::filesystem::path& folder);

// Errors of all that follow: BackendError naming what is wrong; the caller adds the file.

/// Check that a plugin may be opened: that it is a file, whole, and that not everybody may write it
/// or its folder (AMBIT_TRUST_PLUGINS=1 does not look at that).
void check_plugin_file(const std::filesystem::path& path);

/// Check that an ELF file is as long as its headers say: the system's loader maps what they name,
/// and who touches what is not there is ended by SIGBUS. What is no ELF file of this machine's kind
/// passes: the loader refuses it in its own words.
void check_whole_library(int descriptor, uint64_t size_bytes);

}  // namespace ambit
