// A lack of memory while a file is read or written, as ambit's own error. Private to core.
#pragma once

#include <new>
#include <string>

#include "fail.h"

namespace ambit {

/// Return what `work` does. Errors: OutOfMemoryError naming the path in the place of
/// std::bad_alloc.
template <class Work>
auto named_in_lack_of_memory(const char* op, const std::string& path, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    fail_for_memory(op, path);
  }
}

}  // namespace ambit
