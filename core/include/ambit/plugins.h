// Backends in shared libraries, as programs meet them: loading one, and the report of every file
// that was tried. Where they are looked for: backends/README.md.
#pragma once

#include <ambit/api.h>

#include <string>
#include <vector>

namespace ambit {

/// What came of one file that the loader tried.
struct LoadAttempt {
  std::string file;
  bool loaded = false;
  std::string result;  ///< "cuda: 2 devices", or the reason why it was refused
};

/// Load the backends of one shared library. Loading the same file again does nothing, where it was
/// refused it is tried again.
/// Errors: BackendError with the reason, also kept in load_report().
AMBIT_API void load_backend(const std::string& path);
/// Load every plugin of $AMBIT_BACKEND_PATH (files or folders, separated by colons) and of
/// <libdir>/ambit/backends that was not tried yet. Never throws: reasons are in load_report().
AMBIT_API void load_all_backends() noexcept;
/// Return what came of every file tried so far, in order.
AMBIT_API std::vector<LoadAttempt> load_report();

}  // namespace ambit
