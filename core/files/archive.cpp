// OutputArchive and InputArchive. The file format is implemented in pytorch/.
#include <ambit/archive.h>
#include <ambit/autograd.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <iterator>
#include <ostream>
#include <sstream>
#include <utility>

#include "archive_entry.h"
#include "atomic_file.h"
#include "fail.h"
#include "input_file.h"
#include "lack_of_memory.h"
#include "pytorch/archive_writer.h"
#include "pytorch/checkpoint_reader.h"
#include "utf8.h"

namespace ambit::serialize {
namespace {

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  fail_about_file(fmt::format(text, std::forward<T>(args)...));
}

// libtorch parses keys as quoted strings and does not handle every escape.
void check_key(const std::string& key) {
  const bool plain = std::none_of(key.begin(), key.end(), [](unsigned char c) {
    return c < ' ' || c == '"' || c == '\\' || c == 0x7f;
  });
  if (!plain || !is_utf8(key)) {
    fail(
        "write: expected a key in UTF-8 without quotes, backslashes and control characters, got "
        "'{}'",
        one_line(key));
  }
}

// Pass the archive to `write`; errors name the destination `name`.
void write_archive(const std::vector<ArchiveEntry>& entries, const std::string& name,
                   const std::function<void(const ArchiveFile&)>& write) {
  named_in_lack_of_memory("save", name, [&] {
    std::unique_ptr<const ArchiveFile> file;
    try {
      file = std::make_unique<const ArchiveFile>(entries);
    } catch (const SerializationError& e) {
      fail("save: cannot write '{}': {}", name, e.what());
    }
    write(*file);
  });
}

constexpr const char* kStream = "the stream";
constexpr const char* kMemory = "memory";

}  // namespace

// --- writing

OutputArchive::OutputArchive() : entries_(std::make_unique<std::vector<ArchiveEntry>>()) {}
OutputArchive::OutputArchive(OutputArchive&& other) noexcept = default;
OutputArchive& OutputArchive::operator=(OutputArchive&& other) noexcept = default;
OutputArchive::~OutputArchive() = default;

void OutputArchive::put(const std::string& key, ArchiveEntry entry) {
  check_key(key);
  entry.key = key;
  const auto [known, is_new] = position_.try_emplace(key, entries_->size());
  if (!is_new) {
    (*entries_)[known->second] = std::move(entry);
    return;
  }
  try {
    entries_->push_back(std::move(entry));
  } catch (...) {
    position_.erase(known);
    throw;
  }
}

void OutputArchive::write(const std::string& key, const Tensor& tensor, bool is_buffer) {
  if (!tensor.defined()) return;
  if (tensor.is_meta()) fail("write: expected a tensor with values as '{}', got one on meta", key);
  put(key, {.value = tensor,
            .role = is_buffer ? ArchiveEntry::Role::buffer : ArchiveEntry::Role::parameter});
}

void OutputArchive::write(const std::string& key, const Value& value) {
  try {
    script_type(value);
  } catch (const SerializationError& e) {
    fail("write: {} as '{}'", e.what(), one_line(key));
  }
  put(key, {.value = value});
}

void OutputArchive::write(const std::string& key, const OutputArchive& nested) {
  int below = 0;
  for (const ArchiveEntry& e : *nested.entries_) below = std::max(below, e.depth);
  // Reserve 10 levels for the values inside.
  constexpr int kMost = Value::kMaxDepth - 10;
  if (below >= kMost) fail("write: expected at most {} levels of archives, got more", kMost);
  put(key, {.nested = std::make_shared<const std::vector<ArchiveEntry>>(*nested.entries_),
            .depth = below + 1});
}

void OutputArchive::save_to(const std::string& path) const {
  write_archive(*entries_, path, [&](const ArchiveFile& archive) {
    AtomicFile file(path);
    archive.write([&file](const void* data, uint64_t size_bytes) { file.write(data, size_bytes); });
    file.commit();
  });
}

void OutputArchive::save_to(std::ostream& stream) const {
  write_archive(*entries_, kStream, [&](const ArchiveFile& archive) {
    archive.write([&stream](const void* data, uint64_t size_bytes) {
      stream.write(static_cast<const char*>(data), static_cast<std::streamsize>(size_bytes));
      if (!stream) fail("save: cannot write to the stream, which is no longer good");
    });
    if (!stream.flush()) fail("save: cannot write to the stream, which is no longer good");
  });
}

void OutputArchive::save_to(
    const std::function<size_t(const void* data, size_t size_bytes)>& write) const {
  write_archive(*entries_, "the function", [&](const ArchiveFile& archive) {
    archive.write([&write](const void* data, uint64_t size_bytes) {
      const size_t taken = size_bytes > 0 ? write(data, size_bytes) : 0;
      if (taken != size_bytes) {
        fail("save: expected the function to write {} bytes, got {}", size_bytes, taken);
      }
    });
  });
}

// --- loading

void InputArchive::set_root(Value root, const std::string& path) {
  if (!root.is_dict())
    fail_load(path, fmt::format("expected an archive, got {}", root.kind_name()));
  root_ = std::move(root);
  prefix_.clear();
  next_ = 0;
}

void InputArchive::load_from(const std::string& path, std::optional<Device> device) {
  set_root(read_pytorch(path, device.value_or(kCPU), false).value, path);
}

void InputArchive::load_from(std::istream& stream, std::optional<Device> device) {
  const std::string bytes = named_in_lack_of_memory("load", kStream, [&stream] {
    return std::string(std::istreambuf_iterator<char>(stream), {});
  });
  if (stream.bad()) fail_load(kStream, "it is no longer good");
  set_root(read_pytorch_bytes(bytes, kStream, device.value_or(kCPU)).value, kStream);
}

void InputArchive::load_from(const char* data, size_t size_bytes, std::optional<Device> device) {
  set_root(read_pytorch_bytes({data, size_bytes}, kMemory, device.value_or(kCPU)).value, kMemory);
}

void InputArchive::load_from(
    const std::function<size_t(uint64_t position, void* to, size_t n)>& read,
    const std::function<size_t()>& size, std::optional<Device> device) {
  std::string bytes;
  named_in_lack_of_memory("load", kMemory, [&] {
    bytes.resize(size());
    for (size_t at = 0; at < bytes.size();) {
      const size_t got = read(at, bytes.data() + at, bytes.size() - at);
      if (got == 0 || got > bytes.size() - at) {
        fail_load(kMemory, fmt::format("expected {} bytes, got {}", bytes.size(), at + got));
      }
      at += got;
    }
  });
  load_from(bytes.data(), bytes.size(), device);
}

// --- reading

// Keys are mostly read in order: start the search after the last key found.
const Value* InputArchive::find(const std::string& key) const {
  if (root_.is_none()) return nullptr;
  const Value::Dict& all = root_.entries();
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t at = next_ + i < all.size() ? next_ + i : next_ + i - all.size();
    const auto& [name, value] = all[at];
    if (name.kind() != Value::Kind::string || name.to_string() != key) continue;
    next_ = at + 1 < all.size() ? at + 1 : 0;
    return &value;
  }
  return nullptr;
}

void InputArchive::fail_to_find(const char* what, const std::string& key) const {
  fail("load: expected a serialized {} '{}{}', got none of that name", what, prefix_, key);
}

bool InputArchive::try_read(const std::string& key, Tensor& tensor, bool) const {
  const Value* const value = find(key);
  if (!value || value->kind() != Value::Kind::tensor) return false;
  const Tensor& saved = value->to_tensor();
  const NoGradGuard no_grad;
  const Device device = tensor.defined() ? tensor.device() : saved.device();
  Tensor copy = saved.detach().to(device, saved.dtype(), /*non_blocking=*/false, /*copy=*/true);
  if (tensor.defined()) {
    tensor.set_data(copy);
  } else {
    if (saved.requires_grad()) copy.requires_grad_();
    tensor = std::move(copy);
  }
  return true;
}

bool InputArchive::try_read(const std::string& key, Value& value) const {
  const Value* const found = find(key);
  if (found) value = *found;
  return found != nullptr;
}

namespace {

// Return the entries "<key>.<name>" of a state dict under their names; None if there are none.
Value entries_below(const Value& root, const std::string& key) {
  Value::Dict below;
  if (root.is_none()) return {};
  for (const auto& [name, value] : root.entries()) {
    if (name.kind() != Value::Kind::string) continue;
    const std::string& text = name.to_string();
    if (text.size() > key.size() && text[key.size()] == '.' && text.starts_with(key)) {
      below.emplace_back(text.substr(key.size() + 1), value);
    }
  }
  return below.empty() ? Value() : Value::dict(std::move(below));
}

}  // namespace

bool InputArchive::try_read(const std::string& key, InputArchive& nested) const {
  const Value* const found = find(key);
  const Value below = found ? *found : entries_below(root_, key);
  if (!below.is_dict()) return false;
  InputArchive inner;
  inner.root_ = below;
  inner.prefix_ = prefix_ + key + ".";
  nested = std::move(inner);
  return true;
}

void InputArchive::read(const std::string& key, Tensor& tensor, bool is_buffer) const {
  if (!try_read(key, tensor, is_buffer)) fail_to_find("tensor", key);
}
void InputArchive::read(const std::string& key, Value& value) const {
  if (!try_read(key, value)) fail_to_find("value", key);
}
void InputArchive::read(const std::string& key, InputArchive& nested) const {
  if (!try_read(key, nested)) fail_to_find("archive", key);
}

std::vector<std::string> InputArchive::keys() const {
  std::vector<std::string> all;
  if (root_.is_none()) return all;
  for (const auto& [name, value] : root_.entries()) {
    if (name.kind() == Value::Kind::string) all.push_back(name.to_string());
  }
  return all;
}

// --- one tensor

OutputArchive& operator<<(OutputArchive& archive, const Tensor& tensor) {
  archive.write("0", tensor);
  return archive;
}
InputArchive& operator>>(InputArchive& archive, Tensor& tensor) {
  archive.read("0", tensor);
  return archive;
}

OutputArchive& operator<<(OutputArchive& archive, const std::vector<Tensor>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) archive.write(std::to_string(i), tensors[i]);
  return archive;
}
InputArchive& operator>>(InputArchive& archive, std::vector<Tensor>& tensors) {
  std::vector<Tensor> all = tensors;
  for (Tensor t; archive.try_read(std::to_string(all.size() - tensors.size()), t); t = Tensor()) {
    all.push_back(t);
  }
  tensors = std::move(all);
  return archive;
}

bool is_archive(const std::string& path) { return is_script_file(path); }

}  // namespace ambit::serialize
