// save_checkpoint(): writes the pickle, then each storage.
#include <ambit/checkpoint.h>
#include <ambit/error.h>

#include <fmt/format.h>

#include "core/files/atomic_file.h"
#include "core/files/fail.h"
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
  fail_about_file(fmt::format(text, std::forward<T>(args)...));
}

void check_metadata(const Metadata& metadata) {
  constexpr size_t kMaxName = 1000;
  for (const auto& [key, text] : metadata) {
    if (key.empty() || key.size() > kMaxName || !is_utf8(key) || key.find("..") != key.npos) {
      fail("expected metadata under names in UTF-8 without '..', got '{}'", key);
    }
  }
}

// The constructor finds every error of the value, before the first byte is written.
class Checkpoint {
 public:
  Checkpoint(const Value& value, const std::string& name, Metadata metadata)
      : metadata_(std::move(metadata)) {
    try {
      check_metadata(metadata_);
      storages_.plan(value);
      pickled_ = pickle::write(value, [&](const Tensor& t) { return storages_.place_of(t); });
      constexpr uint64_t kMost = pytorch_file::kMaxPickleBytes;
      if (pickled_.size() > kMost) {
        fail("expected at most {} bytes without the tensors, got {}", kMost, pickled_.size());
      }
    } catch (const SerializationError& e) {
      fail("save: cannot write '{}': {}", name, e.what());
    }
  }

  void write(ZipWriter::Sink sink) {
    using namespace pytorch_file;
    ZipWriter zip(std::move(sink));
    zip.add_in_folder(kPickle, pickled_);
    zip.add_in_folder(kByteOrder, "little");
    storages_.write(zip);
    zip.add_in_folder(kVersion, kVersionText);
    for (const auto& [key, text] : metadata_)
      zip.add_in_folder(fmt::format("{}{}", kExtra, key), text);
    zip.finish();
  }

 private:
  Metadata metadata_;
  FileStorages storages_;
  std::string pickled_;
};

constexpr const char* kInMemory = "pickle_save()";  // name in errors

}  // namespace

void save_checkpoint(const Value& value, const std::string& path, const Metadata& metadata) {
  named_in_lack_of_memory("save", path, [&] {
    Checkpoint checkpoint(value, path, metadata);
    AtomicFile file(path);
    checkpoint.write([&](const void* data, uint64_t size_bytes) { file.write(data, size_bytes); });
    file.commit();
  });
}

std::vector<char> pickle_save(const Value& value) {
  std::vector<char> bytes;
  named_in_lack_of_memory("save", kInMemory, [&] {
    Checkpoint(value, kInMemory, {}).write([&](const void* data, uint64_t size_bytes) {
      const char* from = static_cast<const char*>(data);
      bytes.insert(bytes.end(), from, from + size_bytes);
    });
  });
  return bytes;
}

}  // namespace ambit
