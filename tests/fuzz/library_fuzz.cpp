// A plugin's ELF headers: read within the file, and believed only where the file holds what they
// say.
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
