// load_checkpoint(): finds the entries, runs the pickle, and reads each storage when it is first
// named. Names in the file are compared with names in the file, never with those of a disk.
// TorchScript's archives are read too, as far as they are data: their code is not looked at.
#include <ambit/checkpoint.h>
#include <ambit/detail/late_library.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "checkpoint_reader.h"
#include "core/files/fail.h"
#include "core/files/input_file.h"
#include "core/files/lack_of_memory.h"
#include "pickle.h"
#include "pytorch_file.h"
#include "zip_reader.h"

namespace ambit {
namespace {

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  fail_about_file(fmt::format(text, std::forward<T>(args)...));
}

constexpr size_t kMostNames = 1'000'000;
constexpr size_t kBeginBytes = 4;  // enough to see what kind of file it is

// Says more about files that are no zip than libzip could.
void check_is_zip(std::string_view begin) {
  if (begin.starts_with(
          "\x80\x02\x8a\x0a")) {  // a pickle that begins with a long: its magic number
    fail(
        "expected a zip file, got the format of PyTorch before 1.6; load it in PyTorch and save it "
        "again");
  }
  if (!begin.starts_with("PK")) fail("expected a zip file as torch.save writes it, got another");
}

const ZipLibrary& zip_library() { return *static_cast<const ZipLibrary*>(late_library("zip")); }

class Archive {
 public:
  Archive(std::unique_ptr<ZipReader> zip, Device device) : device_(device), zip_(std::move(zip)) {
    index();
    if (const auto order = text(pytorch_file::kByteOrder); order && *order != "little") {
      fail("expected little-endian numbers, got '{}'", *order);
    }
  }

  Value read_value() {
    const size_t entry = find(pytorch_file::kPickle);
    if (entry == kNone) fail("expected an entry data.pkl, got none");
    if (size_of(entry) > pytorch_file::kMaxPickleBytes) {
      fail("expected a data.pkl of at most {} bytes, got {}", pytorch_file::kMaxPickleBytes,
           size_of(entry));
    }
    const bool script = is_script();
    try {
      return pickle::read(
          read_text(entry), [this](const auto&... id) { return storage(id...); }, script);
    } catch (const SerializationError& e) {
      if (!script) throw;
      fail("got a TorchScript archive: {}", e.what());
    }
  }

  bool is_script() const { return find(pytorch_file::kConstants) != kNone; }

  Metadata read_metadata() const {
    Metadata metadata;
    for (const auto& [name, entry] : entries_) {
      if (name.starts_with(pytorch_file::kExtra)) {
        metadata.emplace(name.substr(pytorch_file::kExtra.size()), read_text(entry));
      }
    }
    return metadata;
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  // All entries lie in one folder, whatever its name. TorchScript packs its code, which nobody
  // reads here.
  void index() {
    std::string folder;
    const std::vector<ZipReader::Entry>& all = zip_->entries();
    for (size_t i = 0; i < all.size(); ++i) {
      const std::string& name = all[i].name;
      if (i == 0) folder = name.substr(0, name.find('/') + 1);
      const bool inside = !folder.empty() && folder != "/" && name.starts_with(folder);
      if (!inside || name.find("..") != name.npos) {
        fail("expected entries in one folder, got '{}'", name);
      }
      if (!all[i].is_stored && !name.substr(folder.size()).starts_with(pytorch_file::kCodeFolder)) {
        fail("expected '{}' stored as PyTorch does, got it compressed or encrypted", name);
      }
      entries_.emplace(name.substr(folder.size()), i);
    }
  }

  size_t find(std::string_view name) const {
    const auto found = entries_.find(std::string(name));
    return found == entries_.end() ? kNone : found->second;
  }

  uint64_t size_of(size_t entry) const { return zip_->entries()[entry].size_bytes; }

  std::string read_text(size_t entry) const {
    std::string bytes(size_of(entry), '\0');
    zip_->read(entry, bytes.data());
    return bytes;
  }

  std::optional<std::string> text(std::string_view name) const {
    const size_t entry = find(name);
    return entry == kNone ? std::nullopt : std::optional(read_text(entry));
  }

  Tensor storage(const std::string& key, const StorageType& type, int64_t numel) {
    const auto known = storages_.find(key);
    if (known == storages_.end()) {
      return storages_.emplace(key, std::pair(&type, read_storage(key, type, numel)))
          .first->second.second;
    }
    const auto& [known_type, elements] = known->second;
    if (known_type != &type || elements.numel() != numel) {
      fail("expected storage '{}' with one type and size, got two", key);
    }
    return elements;
  }

  Tensor read_storage(const std::string& key, const StorageType& type, int64_t numel) const {
    const size_t entry = find(fmt::format("{}{}", pytorch_file::kData, key));
    if (entry == kNone) fail("expected a storage '{}' in the file, got none", key);
    const uint64_t size_bytes = size_of(entry);
    const size_t element_bytes = element_size(type.dtype);
    if (numel < 0 || size_bytes % element_bytes != 0 ||
        size_bytes / element_bytes != static_cast<uint64_t>(numel)) {
      fail("expected {} elements of {} in storage '{}', got {} bytes", numel, type.name, key,
           size_bytes);
    }
    const Tensor t = empty({numel}, TensorOptions(type.dtype).device(kCPU));
    zip_->read(entry, t.data_ptr());
    if (!is_valid(t)) fail("expected bytes 0 and 1 in BoolStorage '{}', got others", key);
    return t.to(device_);
  }

  Device device_;
  std::unique_ptr<ZipReader> zip_;
  std::map<std::string, size_t> entries_;  // by their names in the folder
  std::map<std::string, std::pair<const StorageType*, Tensor>> storages_;
};

PytorchContent read_content(std::unique_ptr<ZipReader> zip, Device device, bool metadata) {
  Archive archive(std::move(zip), device);
  PytorchContent content{archive.read_value(), {}, archive.is_script()};
  if (metadata) content.metadata = archive.read_metadata();
  return content;
}

}  // namespace

PytorchContent read_pytorch(const std::string& path, Device device, bool metadata) {
  return named_in_lack_of_memory("load", path, [&] {
    const InputFile file(path);
    try {
      std::string begin(std::min<uint64_t>(file.size_bytes(), kBeginBytes), '\0');
      file.read(begin.data(), begin.size(), 0);
      check_is_zip(begin);
      return read_content(zip_library().open(file.descriptor(), file.size_bytes()), device,
                          metadata);
    } catch (const SerializationError& e) {
      fail_load(path, e.what());
    }
  });
}

PytorchContent read_pytorch_bytes(std::string_view bytes, const std::string& name, Device device) {
  return named_in_lack_of_memory("load", name, [&] {
    try {
      check_is_zip(bytes.substr(0, kBeginBytes));
      return read_content(zip_library().open_memory(bytes.data(), bytes.size()), device, false);
    } catch (const SerializationError& e) {
      fail_load(name, e.what());
    }
  });
}

bool is_zip_file(const std::string& path) {
  try {
    const InputFile file(path);
    // A safetensors file may begin with the same number, its header's length; then a brace follows.
    std::array<char, 9> begin{};
    if (file.size_bytes() < begin.size()) return false;
    file.read(begin.data(), begin.size(), 0);
    return std::string_view(begin.data(), 4) == "PK\x03\x04" && begin[8] != '{';
  } catch (const SerializationError&) {
    return false;
  }
}

bool is_script_file(const std::string& path) {
  if (!is_zip_file(path)) return false;
  return named_in_lack_of_memory("load", path, [&] {
    try {
      const InputFile file(path);
      return Archive(zip_library().open(file.descriptor(), file.size_bytes()), kCPU).is_script();
    } catch (const SerializationError&) {
      return false;
    }
  });
}

namespace {

// `left`: how many values may still be looked at. What a file shares a million times would be named
// a million times.
void flatten_into(StateDict& tensors, const std::string& prefix, const Value& object,
                  size_t& left) {
  for (const auto& [key, value] : object.entries()) {
    if (left-- == 0) fail("expected at most {} names, got more", kMostNames);
    const std::string name =
        prefix +
        (key.kind() == Value::Kind::string ? key.to_string() : std::to_string(key.to_int()));
    if (value.kind() == Value::Kind::tensor) tensors.emplace_back(name, value.to_tensor());
    if (value.is_dict()) flatten_into(tensors, name + ".", value, left);
  }
}

}  // namespace

StateDict flatten(const Value& object) {
  StateDict tensors;
  size_t left = kMostNames;
  flatten_into(tensors, "", object, left);
  return tensors;
}

Value load_checkpoint(const std::string& path, Device map_location, Metadata* metadata) {
  PytorchContent content = read_pytorch(path, map_location, metadata != nullptr);
  if (metadata) *metadata = std::move(content.metadata);
  return std::move(content.value);
}

Value pickle_load(const std::vector<char>& data) {
  return read_pytorch_bytes({data.data(), data.size()}, "pickle_load()", kCPU).value;
}

}  // namespace ambit
