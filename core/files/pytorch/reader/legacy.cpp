// torch.save's format before PyTorch 1.6: pickles of a magic number, a version, sizes of C's types,
// the value, and the keys of its storages; then the storages in the order of the keys, each after
// its number of elements. A storage's type is in the value's pickle, and its offset in the file
// follows from the keys, which come after that pickle. So the value's pickle runs twice, the first
// time with storages on meta. Source: _legacy_save in torch/serialization.py of PyTorch.
#include <ambit/error.h>
#include <ambit/ops/creation.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/files/input_file.h"
#include "core/files/pytorch/pickle.h"
#include "core/files/pytorch/pytorch_file.h"
#include "readers.h"

namespace ambit {
namespace {

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  throw SerializationError(fmt::format(text, std::forward<T>(args)...));
}

class LegacyFile {
 public:
  LegacyFile(const ByteSource& source, Device device) : source_(source), device_(device) {}

  Value read() {
    // The pickles rarely exceed the first limit and may not exceed the second.
    for (const uint64_t limit : {uint64_t{1} << 20, 2 * pytorch_file::kMaxPickleBytes}) {
      text_.resize(std::min(limit, source_.size_bytes()));
      source_.read_all(text_.data(), text_.size(), 0);
      try {
        return read_text();
      } catch (const pickle::EndOfPickle&) {
        if (text_.size() == source_.size_bytes() || limit > pytorch_file::kMaxPickleBytes) throw;
      }
    }
    return {};
  }

 private:
  struct Storage {
    const StorageType* type;
    int64_t numel;
    uint64_t offset = 0;  // offset of the first element in the file
    bool is_placed = false;
    Tensor elements{};
  };

  Value read_text() {
    storages_.clear();
    size_t at = 0;
    pickle::Budget budget;
    const auto next = [&](const pickle::StorageSource& storages) {
      size_t used = 0;
      Value value = pickle::read(std::string_view(text_).substr(at), storages, budget,
                                 /*keep_requires_grad=*/false, &used);
      at += used;
      return value;
    };
    const pickle::StorageSource none{[](const std::string&, const StorageType&, int64_t) -> Tensor {
      fail("expected no storage before the value, got one");
    }};
    next(none);  // the magic number, which kind_of_bytes() has checked
    const Value version = next(none);
    if (version.kind() != Value::Kind::integer || version.to_int() != kVersion) {
      fail("expected version {} of the format before PyTorch 1.6, got another", kVersion);
    }
    next(none);  // sizes of the writer's C types; the elements do not depend on them
    const size_t begin = at;
    const pickle::Budget before = budget;
    next({[this](const auto&... id) { return declare(id...); }});
    budget = before;  // the first value was discarded
    const size_t length = at - begin;
    if (length > pytorch_file::kMaxPickleBytes) {
      fail("expected a pickle of at most {} bytes, got {}", pytorch_file::kMaxPickleBytes, length);
    }
    const Value keys = next(none);
    place(keys, at);
    const pickle::StorageSource storages{[this](const auto&... id) { return elements(id...); }};
    return pickle::read(std::string_view(text_).substr(begin, length), storages, budget);
  }

  // First run: only record the storage.
  Tensor declare(const std::string& key, const StorageType& type, int64_t numel) {
    if (numel < 0) fail("expected elements in storage '{}', got {}", key, numel);
    const auto [known, is_new] = storages_.try_emplace(key, Storage{&type, numel});
    if (!is_new &&
        (known->second.type->python_dtype != type.python_dtype || known->second.numel != numel)) {
      fail("expected storage '{}' with one type and size, got two", key);
    }
    if (static_cast<uint64_t>(numel) > source_.size_bytes() / type.element_bytes) {
      fail("expected {} elements of {} in storage '{}', got a file of {} bytes", numel, type.name,
           key, source_.size_bytes());
    }
    return type.dtype ? empty({numel}, TensorOptions(*type.dtype).device("meta")) : Tensor();
  }

  // Find the offsets of the storages. They do not overlap, so together they fit in the file's size.
  void place(const Value& keys, uint64_t at) {
    for (const Value& key : keys.items()) {
      const auto found = storages_.find(key.to_string());
      if (found == storages_.end())
        fail("expected only storages that the value uses, got an unused one");
      Storage& storage = found->second;
      if (std::exchange(storage.is_placed, true)) fail("expected each storage once, got one twice");
      const uint64_t bytes = static_cast<uint64_t>(storage.numel) * storage.type->element_bytes;
      int64_t numel = 0;
      const uint64_t left = source_.size_bytes() - at;
      if (left < sizeof numel || left - sizeof numel < bytes) {
        fail("expected {} bytes of storage '{}', got the file's end", bytes, found->first);
      }
      source_.read_all(&numel, sizeof numel, at);
      if (numel != storage.numel) {
        fail("expected {} elements in storage '{}', got {}", storage.numel, found->first, numel);
      }
      storage.offset = at + sizeof numel;
      at = storage.offset + bytes;
    }
  }

  // Second run: read the storage.
  Tensor elements(const std::string& key, const StorageType& type, int64_t numel) {
    Storage& storage = storages_.at(key);
    if (!storage.is_placed) fail("expected storage '{}' in the file, got none", key);
    if (!type.dtype || storage.elements.defined()) return storage.elements;
    const Tensor t = empty({numel}, TensorOptions(*type.dtype).device(kCPU));
    source_.read_all(t.data_ptr(), t.nbytes(), storage.offset);
    if (!is_valid(t)) fail("expected bytes 0 and 1 in BoolStorage '{}', got others", key);
    return storage.elements = t.to(device_);
  }

  static constexpr int64_t kVersion = 1001;

  const ByteSource& source_;
  Device device_;
  std::string text_;  // the beginning of the file
  std::map<std::string, Storage> storages_;
};

}  // namespace

PytorchContent read_legacy(const ByteSource& source, Device device) {
  try {
    return {LegacyFile(source, device).read(), {}, false};
  } catch (const SerializationError& e) {
    fail("got a file of torch.save() before PyTorch 1.6: {}", e.what());
  }
}

}  // namespace ambit
