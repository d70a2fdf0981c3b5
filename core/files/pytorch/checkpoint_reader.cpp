// load_checkpoint(): detects the format by content. libambit_zip.so reads PyTorch's formats.
#include <ambit/checkpoint.h>
#include <ambit/detail/late_library.h>
#include <ambit/error.h>

#include <fmt/format.h>

#include <algorithm>

#include "checkpoint_reader.h"
#include "core/files/file_kind.h"
#include "core/files/input_file.h"
#include "core/files/lack_of_memory.h"
#include "zip_reader.h"

namespace ambit {
namespace {

constexpr size_t kMostNames = 1'000'000;

const ZipLibrary& zip_library() { return *static_cast<const ZipLibrary*>(late_library("zip")); }

// Reject other files here, where the error can name their kind.
void check_is_pytorch(std::string_view begin, uint64_t size_bytes) {
  const FileKind kind = kind_of_bytes(begin, size_bytes);
  if (!kind.is_pytorch()) throw SerializationError(kind.refusal());
}

ByteSource bytes_of(const InputFile& file) { return {file.descriptor(), file.size_bytes()}; }

}  // namespace

PytorchContent read_pytorch(const std::string& path, Device device, bool metadata) {
  return named_in_lack_of_memory("load", path, [&] {
    const InputFile file(path);
    try {
      check_is_pytorch(begin_of(file), file.size_bytes());
      return zip_library().read(bytes_of(file), device, metadata);
    } catch (const SerializationError& e) {
      fail_load(path, e.what());
    }
  });
}

PytorchContent read_pytorch_bytes(std::string_view bytes, const std::string& name, Device device) {
  return named_in_lack_of_memory("load", name, [&] {
    try {
      check_is_pytorch(bytes, bytes.size());
      return zip_library().read({bytes.data(), bytes.size()}, device, false);
    } catch (const SerializationError& e) {
      fail_load(name, e.what());
    }
  });
}

Value read_plain_pickle(std::string_view bytes) { return zip_library().read_pickle(bytes); }

bool is_script_file(const std::string& path) {
  return named_in_lack_of_memory("load", path, [&] {
    try {
      const InputFile file(path);
      return kind_of_bytes(begin_of(file), file.size_bytes()).format == FileKind::Format::zip &&
             zip_library().is_script(bytes_of(file));
    } catch (const SerializationError&) {
      return false;
    }
  });
}

namespace {

std::string name_of(const Value& key) {
  if (key.kind() == Value::Kind::string) return key.to_string();
  return key.kind() == Value::Kind::integer ? std::to_string(key.to_int()) : key.kind_name();
}

// `left`: how many more values may be visited. An object that a file shares a million times would
// get a million names.
void flatten_into(StateDict& tensors, const std::string& prefix, const Value& object,
                  size_t& left) {
  for (const auto& [key, value] : object.entries()) {
    if (left-- == 0) {
      throw SerializationError(fmt::format("expected at most {} names, got more", kMostNames));
    }
    const std::string name = prefix + name_of(key);
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
  if (is_safetensors_file(path)) return read_safetensors(path, map_location, metadata);
  PytorchContent content = read_pytorch(path, map_location, metadata != nullptr);
  if (metadata) *metadata = std::move(content.metadata);
  return std::move(content.value);
}

Value pickle_load(const std::vector<char>& data) {
  return read_pytorch_bytes({data.data(), data.size()}, "pickle_load()", kCPU).value;
}

}  // namespace ambit
