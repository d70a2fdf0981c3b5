// Parts of ambit that need heavy libraries (zip, protobuf, png) are separate libraries, opened on
// first use, so that other programs start without them. Unlike plugins they belong to ambit's
// build, have fixed names, and are used through libambit's API.
#pragma once

#include <ambit/api.h>

#include <string>

namespace ambit {

/// The result of open_library().
struct OpenedLibrary {
  void* handle = nullptr;  ///< for dlsym(); null on failure
  std::string reason;      ///< the system's error message, on one line
  bool no_memory = false;  ///< out of memory: a later attempt may succeed
};

/// Open a shared library by dlopen(). It and its dependencies are never unloaded, since their
/// threads may run until the process ends.
AMBIT_API OpenedLibrary open_library(const std::string& file);
/// Wrap a dlopen() handle, with the reason if it is null. A plugin must call dlopen() itself, with
/// RTLD_NODELETE, because the loader searches the RUNPATH of the calling library.
AMBIT_API OpenedLibrary opened_library(void* handle);

/// Return the result of the function `ambit_<name>` of <libdir>/ambit/libambit_<name>.so, a table
/// of functions. The library is opened once and stays loaded. Errors: Error with the file and the
/// reason; OutOfMemoryError if the system had no memory for it (a later call tries again).
/// Thread-safe.
AMBIT_API const void* late_library(const std::string& name);

}  // namespace ambit
