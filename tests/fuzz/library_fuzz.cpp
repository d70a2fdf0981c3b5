// A plugin's ELF headers: they are read within the file, and only sizes that the file contains are
// accepted.
#include <ambit/error.h>

#include "core/devices/plugin_file.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  try {
    ambit::check_whole_library(file.descriptor(), size);
  } catch (const ambit::BackendError&) {
  }
  return 0;
}
