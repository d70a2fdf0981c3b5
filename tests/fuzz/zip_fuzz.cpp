// A zip file, with every entry read.
#include <ambit/detail/late_library.h>
#include <ambit/error.h>

#include <vector>

#include "core/files/pytorch/zip_reader.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto* library = static_cast<const ambit::ZipLibrary*>(ambit::late_library("zip"));
  const MemoryFile file(data, size);
  try {
    const auto zip = library->open({file.descriptor(), size});
    uint64_t together = 0;
    for (size_t i = 0; i < zip->entries().size(); ++i) {
      if (!zip->entries()[i].is_readable) continue;
      std::vector<char> bytes(zip->entries()[i].size_bytes);
      together += bytes.size();
      // Deflate expands a byte to at most 1032 bytes.
      if (together > 1032 * size + 1031 * zip->entries().size()) std::abort();
      zip->read(i, bytes.data());
    }
  } catch (const ambit::SerializationError&) {
  }
  return 0;
}
