// Parts of ambit that need heavy libraries (zip, protobuf, png) are libraries of their own, opened
// when they are first used, so that every other program starts without them. Unlike plugins they
// are ambit's: of one build, known by name, behind an API of libambit.
#pragma once

#include <ambit/api.h>

#include <string>

namespace ambit {

/// Return what the function `ambit_<name>` of <libdir>/ambit/libambit_<name>.so returns, a table of
/// functions. The library is opened once and stays.
/// Errors: Error with the file and the reason. Thread safety: any thread.
AMBIT_API const void* late_library(const std::string& name);

}  // namespace ambit
