// Loads the input as a safetensors file: an error, or tensors with the same names and sizes after
// saving and loading.
#include <ambit/error.h>
#include <ambit/serialize.h>

#include "memory_file.h"

using namespace ambit;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  StateDict tensors;
  Metadata metadata;
  try {
    tensors = load(file.path(), kCPU, &metadata);
  } catch (const SerializationError&) {
    return 0;
  }
  static const LinkFolder folder;
  const std::string copy = folder.path() + "/copy";
  try {
    save(tensors, copy, metadata);
  } catch (const SerializationError&) {  // text that is not UTF-8, which JSON's escapes can make
    return 0;
  }
  const StateDict back = load(copy);
  if (back.size() != tensors.size()) std::abort();
  for (size_t i = 0; i < back.size(); ++i) {
    if (back[i].first != tensors[i].first) std::abort();
    if (back[i].second.sizes() != tensors[i].second.sizes()) std::abort();
  }
  return 0;
}
