// Reads a zip file of PyTorch: finds the entries, runs the pickle, and reads each storage when the
// pickle first names it. Names in the file never become paths on disk. Only the data of TorchScript
// archives are read, not their code.
#include <ambit/error.h>
#include <ambit/ops/creation.h>

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "core/files/input_file.h"
#include "core/files/pytorch/pickle.h"
#include "core/files/pytorch/pytorch_file.h"
#include "pickle_tensors.h"
#include "readers.h"

namespace ambit {
namespace {

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  throw SerializationError(fmt::format(text, std::forward<T>(args)...));
}

class Archive {
 public:
  Archive(std::unique_ptr<ZipReader> zip, Device device) : device_(device), zip_(std::move(zip)) {
    index();
    if (const auto order = text(pytorch_file::kByteOrder); order && *order != "little") {
      if (*order != "big") fail("expected the byte order little or big, got '{}'", *order);
      is_big_endian_ = true;
    }
  }

  Value read_value() {
    if (find(pytorch_file::kPickle) == kNone) fail("expected an entry data.pkl, got none");
    if (!is_script()) return read_pickle(pytorch_file::kPickle, pytorch_file::kData, false);
    try {
      return with_constants(read_pickle(pytorch_file::kPickle, pytorch_file::kData, true));
    } catch (const SerializationError& e) {
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

  // `folder` contains the storages that the pickle names.
  Value read_pickle(std::string_view name, std::string_view folder, bool keep_requires_grad) {
    const size_t entry = find(name);
    if (size_of(entry) > pytorch_file::kMaxPickleBytes) {
      fail("expected a {} of at most {} bytes, got {}", name, pytorch_file::kMaxPickleBytes,
           size_of(entry));
    }
    const auto find_storage = [&](const std::string& key, const StorageType& type, int64_t numel) {
      return storage(fmt::format("{}{}", folder, key), type, numel);
    };
    const pickle::StorageSource storages{find_storage, [this] { fill(); }, is_big_endian_};
    Value value = pickle::read(read_text(entry), storages, budget_, keep_requires_grad);
    fill();
    return value;
  }

  // Weights of a frozen module are constants; its code calls them CONSTANTS.c0, CONSTANTS.c1, ...
  Value with_constants(Value object) {
    const Value constants =
        read_pickle(pytorch_file::kConstants, pytorch_file::kConstantData, false);
    if (!constants.isTuple() || constants.items().empty() || !object.is_dict()) return object;
    constexpr uint64_t kNamedBytes =
        256;  // memory for an entry and its name, in vectors whose capacity doubles
    budget_.spend_bytes(constants.items().size() * kNamedBytes);
    Value::Dict named, attributes = object.entries();
    for (const Value& constant : constants.items()) {
      named.emplace_back(fmt::format("c{}", named.size()), constant);
    }
    attributes.emplace_back("CONSTANTS", Value::dict(std::move(named)));
    return Value::dict(std::move(attributes));
  }

  // All entries must be in one folder of any name. TorchScript's code need not be readable.
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
      if (!all[i].is_readable &&
          !name.substr(folder.size()).starts_with(pytorch_file::kCodeFolder)) {
        fail("expected '{}' stored or deflated, got it encrypted or compressed by another method",
             name);
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
    const bool is_same_type = known_type == &type ||
                              (elements.defined() && known_type->python_dtype == type.python_dtype);
    if (!is_same_type || (elements.defined() && elements.numel() != numel)) {
      fail("expected storage '{}' with one type and size, got two", key);
    }
    return elements;
  }

  // Stored entries on the cpu are read together by fill(), so that threads start once. Storages for
  // another device are read and copied one by one, so that the host does not hold all of them.
  Tensor read_storage(const std::string& key, const StorageType& type, int64_t numel) {
    if (!type.dtype) return {};
    const size_t entry = find(key);
    if (entry == kNone && &type == &kUntypedStorage)
      return {};  // a storage of a dtype that ambit may lack
    if (entry == kNone) fail("expected a storage '{}' in the file, got none", key);
    const uint64_t size_bytes = size_of(entry);
    const size_t element_bytes = type.element_bytes;
    if (numel < 0 || size_bytes % element_bytes != 0 ||
        size_bytes / element_bytes != static_cast<uint64_t>(numel)) {
      fail("expected {} elements of {} in storage '{}', got {} bytes", numel, type.name, key,
           size_bytes);
    }
    const Tensor t = empty({numel}, TensorOptions(*type.dtype).device(kCPU));
    unread_.push_back({entry, t.data_ptr()});
    unread_tensors_.emplace_back(key, t);
    if (device_ == kCPU && zip_->entries()[entry].is_stored) return t;
    fill();
    return t.to(device_);
  }

  void fill() {
    zip_->read_all(std::exchange(unread_, {}));
    for (const auto& [key, t] : std::exchange(unread_tensors_, {})) {
      if (is_big_endian_) pickle::reverse_bytes(t);
      if (!is_valid(t)) fail("expected bytes 0 and 1 in BoolStorage '{}', got others", key);
    }
  }

  Device device_;
  std::unique_ptr<ZipReader> zip_;
  bool is_big_endian_ = false;
  pickle::Budget budget_;                  // for all pickles in the file
  std::map<std::string, size_t> entries_;  // positions by name in the folder
  std::map<std::string, std::pair<const StorageType*, Tensor>> storages_;
  std::vector<ZipReader::Read> unread_;
  std::vector<std::pair<std::string, Tensor>> unread_tensors_;  // parallel to unread_, by key
};

}  // namespace

PytorchContent read_zip(const ByteSource& source, Device device, bool metadata) {
  Archive archive(open_zip(source), device);
  PytorchContent content{archive.read_value(), {}, archive.is_script()};
  if (metadata) content.metadata = archive.read_metadata();
  return content;
}

bool is_script_zip(const ByteSource& source) { return Archive(open_zip(source), kCPU).is_script(); }

}  // namespace ambit
