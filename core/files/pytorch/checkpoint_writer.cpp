// save_checkpoint(): the pickle, then the storages, one after the other.
#include <ambit/checkpoint.h>
#include <ambit/error.h>

#include <fmt/format.h>

#include "core/files/atomic_file.h"
#include "core/files/lack_of_memory.h"
#include "core/files/utf8.h"
#include "file_storages.h"
#include "pickle.h"
#include "pytorch_file.h"
#include "zip_writer.h"

namespace ambit {
namespace {

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  throw SerializationError(fmt::format(text, std::forward<T>(args)...));
}

void check_metadata(const Metadata& metadata) {
  constexpr size_t kMaxName = 1000;
  for (const auto& [key, text] : metadata) {
    if (key.empty() || key.size() > kMaxName || !is_utf8(key) || key.find("..") != key.npos) {
      fail("expected metadata under names in UTF-8 without '..', got '{}'", key);
    }
  }
}

void write_checkpoint(const Value& value, const std::string& path, const Metadata& metadata) {
  using namespace pytorch_file;
  FileStorages storages;
  std::string pickled;
  try {
    check_metadata(metadata);
    storages.plan(value);
    pickled = pickle::write(value, [&](const Tensor& t) { return storages.place_of(t); });
    if (pickled.size() > kMaxPickleBytes) {
      fail("expected at most {} bytes without the tensors, got {}", kMaxPickleBytes,
           pickled.size());
    }
  } catch (const SerializationError& e) {
    fail("save: cannot write '{}': {}", path, e.what());
  }
  AtomicFile file(path);
  ZipWriter zip([&file](const void* data, uint64_t size_bytes) { file.write(data, size_bytes); });
  zip.add_in_folder(kPickle, pickled);
  zip.add_in_folder(kByteOrder, "little");
  storages.write(zip);
  zip.add_in_folder(kVersion, kVersionText);
  for (const auto& [key, text] : metadata)
    zip.add_in_folder(fmt::format("{}{}", kExtra, key), text);
  zip.finish();
  file.commit();
}

}  // namespace

void save_checkpoint(const Value& value, const std::string& path, const Metadata& metadata) {
  named_in_lack_of_memory("save", path, [&] { write_checkpoint(value, path, metadata); });
}

}  // namespace ambit
