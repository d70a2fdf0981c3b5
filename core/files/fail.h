// Shared functions that throw errors about files. Private to core.
#pragma once

#include <ambit/error.h>

#include <string>
#include <string_view>

namespace ambit {

/// Throw SerializationError with the text on one line: it may contain names from files.
[[noreturn]] AMBIT_API void fail_about_file(std::string_view text);
/// Throw OutOfMemoryError "<op>: expected free memory for '<path>', got none".
[[noreturn]] AMBIT_API void fail_for_memory(const char* op, const std::string& path);

}  // namespace ambit
