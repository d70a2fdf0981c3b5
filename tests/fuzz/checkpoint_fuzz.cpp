// A whole PyTorch file: reading it gives an error or a value.
#include <ambit/checkpoint.h>
#include <ambit/error.h>

#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  ambit::Metadata metadata;
  try {
    ambit::load_checkpoint(file.path(), ambit::kCPU, &metadata);
  } catch (const ambit::SerializationError&) {
  }
  return 0;
}
