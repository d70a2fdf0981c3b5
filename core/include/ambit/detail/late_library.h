// Parts of ambit that need heavy libraries (zip, protobuf, png) are libraries of their own, opened
// when they are first used, so that every other program starts without them. Unlike plugins they
// are ambit's: of one build, known by name, behind an API of libambit.
#pragma once

#include <ambit/api.h>

#include <string>

namespace ambit {

/// The result of open_library().
struct OpenedLibrary {
  void* handle = nullptr;  ///< for dlsym(); null: it could not be opened
  std::string reason;      ///< why not, in the system's words, on one line
  bool no_memory = false;  ///< memory was lacking, so that a later attempt may succeed
};

/// Open a shared library by dlopen(), for good: its threads may run its code until the process
/// ends, so neither it nor what it is linked with is ever unloaded.
AMBIT_API OpenedLibrary open_library(const std::string& file);
/// Return a handle of dlopen() with the reason why it is null. A plugin calls dlopen() itself, with
/// RTLD_NODELETE, because the loader searches the RUNPATH of the library that calls it.
AMBIT_API OpenedLibrary opened_library(void* handle);

/// Return what the function `ambit_<name>` of <libdir>/ambit/libambit_<name>.so returns, a table of
/// functions. The library is opened once and stays.
/// Errors: Error with the file and the reason; OutOfMemoryError where the system had no memory for
/// it, then a later call tries again. Thread safety: any thread.
AMBIT_API const void* late_library(const std::string& name);

}  // namespace ambit
