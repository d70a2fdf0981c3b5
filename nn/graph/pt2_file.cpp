#include "pt2_file.h"

#include <ambit/detail/late_library.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>

#include <fmt/format.h>

#include "block_reader.h"
#include "core/files/file_kind.h"

namespace ambit::graph {
namespace {

constexpr std::string_view kModels = "models/", kJson = ".json";

const ZipLibrary& zip_library() { return *static_cast<const ZipLibrary*>(late_library("zip")); }

}  // namespace

Pt2File::Pt2File(const InputFile& file) {
  const std::string begin = begin_of(file);
  if (!begin.starts_with("PK")) {
    fail("expected a .pt2 file as torch.export.save() writes it, got {}",
         kind_of_bytes(begin, file.size_bytes()).name);
  }
  const ByteSource bytes(file.descriptor(), file.size_bytes());
  zip_ = zip_library().open(bytes);
  bool is_old = false, is_script = false;
  for (size_t i = 0; i < zip_->entries().size(); ++i) {
    const ZipReader::Entry& entry = zip_->entries()[i];
    const std::string name = entry.name.substr(entry.name.find('/') + 1);
    is_old |= name.ends_with("serialized_exported_program.json");
    is_script |= name == "constants.pkl";
    if (name.starts_with(kModels) && name.ends_with(kJson)) {
      const std::string model =
          name.substr(kModels.size(), name.size() - kModels.size() - kJson.size());
      if (!model_.empty()) fail("expected one model, got '{}' and '{}'", model_, model);
      model_ = model;
    }
    if (!entries_.emplace(name, i).second) fail("expected one entry '{}', got two", name);
  }
  if (!model_.empty()) {
    const std::string order = find("byteorder") == SIZE_MAX ? "little" : text("byteorder");
    if (order != "little") fail("expected little-endian numbers, got '{}'", order);
    return;
  }
  if (is_old) fail("expected a .pt2 file of PyTorch 2.9 or newer, got an older one: save it again");
  if (is_script) {
    fail(
        "expected a .pt2 file, got a TorchScript archive: export the module with "
        "torch.export.export() and torch.export.save()");
  }
  fail("expected a .pt2 file with models/model.json, got another zip file");
}

size_t Pt2File::find(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? SIZE_MAX : found->second;
}

std::string Pt2File::text(std::string_view name) const {
  const size_t entry = find(name);
  if (entry == SIZE_MAX) fail("expected an entry '{}', got none", name);
  std::string out(zip_->entries()[entry].size_bytes, '\0');
  zip_->read(entry, out.data());
  return out;
}

Tensor Pt2File::elements(const std::string& name, DType dtype) {
  const auto known = read_.find(name);
  if (known != read_.end()) {
    if (known->second.dtype() != dtype) fail("expected one dtype of '{}', got two", name);
    return known->second;
  }
  const size_t entry = find(name);
  if (entry == SIZE_MAX) fail("expected an entry '{}', got none", name);
  const uint64_t bytes = zip_->entries()[entry].size_bytes;
  const size_t size = element_size(dtype);
  if (bytes % size != 0) {
    fail("expected whole elements of {} in '{}', got {} bytes", ambit::name(dtype), name, bytes);
  }
  const Tensor t = empty({static_cast<int64_t>(bytes / size)}, TensorOptions(dtype).device(kCPU));
  unread_.push_back({entry, t.data_ptr()});
  return read_.emplace(name, t).first->second;
}

void Pt2File::fill() {
  zip_->read_all(std::exchange(unread_, {}));
  for (const auto& [name, t] : read_) {
    if (!is_valid(t)) fail("expected bytes 0 and 1 in '{}', got others", name);
  }
}

}  // namespace ambit::graph
