// Load backends from shared libraries; report every file that was tried. Search path: see
// docs/adding-a-backend.md.
#pragma once

#include <ambit/api.h>

#include <string>
#include <vector>

namespace ambit {

/// Result of loading one file.
struct LoadAttempt {
  std::string file;     ///< its path
  bool loaded = false;  ///< false: `result` has the reason
  std::string result;   ///< "cuda: 2 devices", or the reason of the failure
};

/// Load the backends of one shared library. A file already loaded is skipped; one that failed is
/// tried again. Errors: BackendError with the reason, also kept in load_report().
AMBIT_API void load_backend(const std::string& path);
/// Load every plugin of $AMBIT_BACKEND_PATH (files or folders, separated by colons) and of
/// `<libdir>/ambit/backends` that was not tried yet. Never throws: errors are in load_report().
AMBIT_API void load_all_backends() noexcept;
/// Return the result of every file tried so far, in order.
AMBIT_API std::vector<LoadAttempt> load_report();

}  // namespace ambit
