#include "file_storages.h"

#include <ambit/error.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <bit>
#include <functional>
#include <string>
#include <unordered_set>

#include "pytorch_file.h"

namespace ambit {
namespace {

static_assert(std::endian::native == std::endian::little, "files are written little-endian");

// Calls `visit` once for every tensor; visits shared containers once.
class TensorWalk {
 public:
  explicit TensorWalk(std::function<void(const Tensor&)> visit) : visit_(std::move(visit)) {}

  void walk(const Value& v) {
    if (v.kind() == Value::Kind::tensor) {
      const Tensor& t = v.to_tensor();
      if (!t.defined() || t.is_meta()) {
        throw SerializationError(fmt::format("expected tensors with values, got {}",
                                             t.defined() ? "one on meta" : "undefined"));
      }
      if (seen_.insert(t.impl()).second) visit_(t);
    } else if (v.is_dict()) {
      if (!seen_.insert(&v.entries()).second) return;
      for (const auto& [key, item] : v.entries()) walk(item);
    } else if (v.kind() == Value::Kind::list || v.kind() == Value::Kind::tuple) {
      if (!seen_.insert(&v.items()).second) return;
      for (const Value& item : v.items()) walk(item);
    } else if (v.kind() == Value::Kind::opaque) {
      if (!seen_.insert(&v.to_opaque()).second) return;
      for (const Value& item : v.to_opaque().arguments) walk(item);
    }
  }

 private:
  std::function<void(const Tensor&)> visit_;
  std::unordered_set<const void*> seen_;
};

}  // namespace

void FileStorages::plan(const Value& value) {
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

void FileStorages::place_in_whole(const Tensor& t) {
  const auto known = whole_.find({t.storage().get(), t.dtype()});
  const auto numel = static_cast<int64_t>(t.storage()->size_bytes() / element_size(t.dtype()));
  size_t storage = sources_.size();
  if (known == whole_.end()) {
    whole_.emplace(std::pair(t.storage().get(), t.dtype()), storage);
    sources_.push_back(t.detach().as_strided({numel}, {1}, 0));
  } else {
    storage = known->second;
  }
  places_.emplace(t.impl(), pickle::Place{std::to_string(storage), numel, t.storage_offset(),
                                          Dims(t.strides())});
}

void FileStorages::place_alone(const Tensor& t) {
  places_.emplace(t.impl(), pickle::Place{std::to_string(sources_.size()), t.numel(), 0,
                                          contiguous_strides(t.sizes())});
  sources_.push_back(t.detach());
}

void FileStorages::write(ZipWriter& zip) const {
  write(zip, fmt::format("{}{}", pytorch_file::kFolder, pytorch_file::kData));
}

void FileStorages::write(ZipWriter& zip, const std::string& prefix) const {
  for (size_t i = 0; i < sources_.size(); ++i) {
    const Tensor t = sources_[i].cpu().contiguous();
    zip.add(fmt::format("{}{}", prefix, i), t.data_ptr(), t.nbytes());
  }
}

}  // namespace ambit
