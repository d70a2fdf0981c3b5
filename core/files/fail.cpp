#include "fail.h"

#include <ambit/detail/printable.h>
#include <fmt/format.h>

namespace ambit {

void fail_about_file(std::string_view text) { throw SerializationError(printable(text)); }

void fail_for_memory(const char* op, const std::string& path) {
  throw OutOfMemoryError(
      fmt::format("{}: expected free memory for '{}', got none", op, printable(path)));
}

}  // namespace ambit
