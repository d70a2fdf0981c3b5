// save_checkpoint(): decides where each tensor's elements go, then writes the pickle and the
// storages, one after the other.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <bit>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/files/lack_of_memory.h"
#include "core/files/utf8.h"
#include "pickle.h"
#include "pytorch_file.h"
#include "zip_writer.h"

namespace ambit {
namespace {

static_assert(std::endian::native == std::endian::little, "files are written little-endian");

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  throw SerializationError(fmt::format(text, std::forward<T>(args)...));
}

// Calls `visit` with every tensor once, and looks at what is shared once.
class TensorWalk {
 public:
  explicit TensorWalk(std::function<void(const Tensor&)> visit) : visit_(std::move(visit)) {}

  void walk(const Value& v) {
    if (v.kind() == Value::Kind::tensor) {
      const Tensor& t = v.to_tensor();
      if (!t.defined() || t.is_meta()) {
        fail("expected tensors with values, got {}", t.defined() ? "one on meta" : "undefined");
      }
      if (seen_.insert(t.impl()).second) visit_(t);
    } else if (v.is_dict()) {
      if (!seen_.insert(&v.entries()).second) return;
      for (const auto& [key, item] : v.entries()) walk(item);
    } else if (v.kind() == Value::Kind::list || v.kind() == Value::Kind::tuple) {
      if (!seen_.insert(&v.items()).second) return;
      for (const Value& item : v.items()) walk(item);
    }
  }

 private:
  std::function<void(const Tensor&)> visit_;
  std::unordered_set<const void*> seen_;
};

// The storages of a file. What several tensors share is written whole, and so is memory that is no
// larger than its tensor: their strides are kept. A tensor alone in larger memory is written
// contiguous and by itself.
class Storages {
 public:
  void plan(const Value& value) {
    std::unordered_map<const StorageImpl*, int> users;
    TensorWalk([&](const Tensor& t) { ++users[t.storage().get()]; }).walk(value);
    TensorWalk([&](const Tensor& t) {
      if (users[t.storage().get()] > 1 || t.storage()->size_bytes() <= t.nbytes()) {
        place_in_whole(t);
      } else {
        place_alone(t);
      }
    }).walk(value);
  }

  const pickle::Place& place_of(const Tensor& t) const { return places_.at(t.impl()); }

  /// Return how many there are, and the bytes of one, on the cpu.
  size_t size() const { return sources_.size(); }
  Tensor bytes(size_t i) const { return sources_[i].cpu().contiguous(); }

 private:
  void place_in_whole(const Tensor& t) {
    const auto known = whole_.find({t.storage().get(), t.dtype()});
    const auto numel = static_cast<int64_t>(t.storage()->size_bytes() / element_size(t.dtype()));
    size_t storage = sources_.size();
    if (known == whole_.end()) {
      whole_.emplace(std::pair(t.storage().get(), t.dtype()), storage);
      sources_.push_back(t.detach().as_strided({numel}, {1}, 0));
    } else {
      storage = known->second;
    }
    place(t, {std::to_string(storage), numel, t.storage_offset(), t.strides()});
  }

  void place_alone(const Tensor& t) {
    place(t, {std::to_string(sources_.size()), t.numel(), 0, contiguous_strides(t.sizes())});
    sources_.push_back(t.detach());
  }

  void place(const Tensor& t, pickle::Place place) { places_.emplace(t.impl(), std::move(place)); }

  std::unordered_map<const TensorImpl*, pickle::Place> places_;
  std::map<std::pair<const StorageImpl*, DType>, size_t> whole_;
  std::vector<Tensor> sources_;
};

void add(ZipWriter& file, std::string_view name, std::string_view bytes) {
  file.add(fmt::format("{}{}", pytorch_file::kFolder, name), bytes.data(), bytes.size());
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
  Storages storages;
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
  ZipWriter file(path);
  add(file, kPickle, pickled);
  add(file, kByteOrder, "little");
  for (size_t i = 0; i < storages.size(); ++i) {
    const Tensor t = storages.bytes(i);
    add(file, fmt::format("{}{}", kData, i), {static_cast<const char*>(t.data_ptr()), t.nbytes()});
  }
  add(file, kVersion, "3\n");
  for (const auto& [key, text] : metadata) add(file, fmt::format("{}{}", kExtra, key), text);
  file.commit();
}

}  // namespace

void save_checkpoint(const Value& value, const std::string& path, const Metadata& metadata) {
  named_in_lack_of_memory("save", path, [&] { write_checkpoint(value, path, metadata); });
}

}  // namespace ambit
