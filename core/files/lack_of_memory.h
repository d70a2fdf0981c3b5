// Converts std::bad_alloc while reading or writing a file. Private to core.
#pragma once

#include <new>
#include <string>

#include "fail.h"

namespace ambit {

/// Return work(). Errors: OutOfMemoryError naming the path instead of std::bad_alloc.
template <class Work>
auto named_in_lack_of_memory(const char* op, const std::string& path, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    fail_for_memory(op, path);
  }
}

}  // namespace ambit
