// save() and load(): tensors to and from safetensors files, or as checkpoints. safetensors.cpp
// knows the header, atomic_file.cpp the replacing of files.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/serialize.h>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_set>

#include "atomic_file.h"
#include "input_file.h"
#include "lack_of_memory.h"
#include "safetensors.h"

namespace ambit {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data are little-endian");

constexpr const char* kOneTensor = "tensor";  // the name that a tensor alone bears

[[noreturn]] void fail_save(const std::string& path, const std::string& why) {
  throw SerializationError(fmt::format("save: cannot write '{}': {}", path, why));
}

bool is_pytorch(const std::string& path) { return path.ends_with(".pth") || path.ends_with(".pt"); }

void check_savable(const StateDict& tensors, const std::string& path) {
  std::unordered_set<std::string_view> names;
  for (const auto& [name, tensor] : tensors) {
    if (!names.insert(name).second) {
      fail_save(path, fmt::format("expected each name once, got '{}' twice", name));
    }
    if (!tensor.defined() || tensor.is_meta()) {
      fail_save(path, fmt::format("expected a tensor with values as '{}', got {}", name,
                                  tensor.defined() ? "one on meta" : "an undefined one"));
    }
  }
}

// The order of the data: wide elements first, so that each tensor is aligned to its element's size.
std::vector<size_t> data_order(const StateDict& tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return element_size(tensors[a].second.dtype()) > element_size(tensors[b].second.dtype());
  });
  return order;
}

std::string make_header(const StateDict& tensors, const std::vector<size_t>& order,
                        const Metadata& metadata) {
  std::vector<safetensors::Entry> entries;
  for (const auto& [name, tensor] : tensors) {
    entries.push_back({.name = name, .dtype = tensor.dtype(), .sizes = tensor.sizes()});
  }
  uint64_t at = 0;
  for (const size_t i : order) {
    entries[i].begin = at;
    entries[i].end = at += tensors[i].second.nbytes();
  }
  return safetensors::format_header(entries, metadata);
}

// Reads the header and checks it against the file's size; sets where the data begin.
safetensors::Header read_header(const InputFile& file, uint64_t& data_begin) {
  constexpr uint64_t kLength = safetensors::kLengthBytes;
  const std::string& path = file.path();
  if (file.size_bytes() < kLength) {
    fail_load(path, fmt::format("expected at least {} bytes, got {}", kLength, file.size_bytes()));
  }
  uint64_t length = 0;
  file.read(&length, kLength, 0);
  const uint64_t most = std::min(file.size_bytes() - kLength, safetensors::kMaxHeaderBytes);
  if (length > most) {
    fail_load(path, fmt::format("expected a header of at most {} bytes, got {}", most, length));
  }
  std::string text(length, '\0');
  file.read(text.data(), length, kLength);
  data_begin = kLength + length;
  try {
    return safetensors::parse_header(text, file.size_bytes() - data_begin);
  } catch (const SerializationError& e) {
    fail_load(path, e.what());
  }
}

Tensor read_tensor(const InputFile& file, const safetensors::Entry& entry, uint64_t data_begin) {
  Tensor t = empty(entry.sizes, TensorOptions(entry.dtype).device(kCPU));
  file.read(t.data_ptr(), t.nbytes(), data_begin + entry.begin);
  if (!is_valid(t)) {
    fail_load(file.path(),
              fmt::format("expected bytes 0 and 1 in '{}' BOOL, got others", entry.name));
  }
  return t;
}

// What `read` makes of a checkpoint; its errors name the file, and leave the metadata as it was.
auto from_checkpoint(const std::string& path, Device device, Metadata* metadata, auto read) {
  Metadata notes;
  const Value value = load_checkpoint(path, device, metadata ? &notes : nullptr);
  try {
    auto result = read(value);
    if (metadata) *metadata = std::move(notes);
    return result;
  } catch (const SerializationError& e) {
    fail_load(path, fmt::format("{}; load_checkpoint() reads everything", e.what()));
  }
}

void write_safetensors(const StateDict& tensors, const std::string& path,
                       const Metadata& metadata) {
  const std::vector<size_t> order = data_order(tensors);
  std::string header;
  try {
    header = make_header(tensors, order, metadata);
  } catch (const SerializationError& e) {
    fail_save(path, e.what());
  }
  AtomicFile file(path);
  const uint64_t length = header.size();
  file.write(&length, safetensors::kLengthBytes);
  file.write(header.data(), header.size());
  for (const size_t i : order) {
    const Tensor t = tensors[i].second.detach().cpu().contiguous();
    file.write(t.data_ptr(), t.nbytes());
  }
  file.commit();
}

StateDict read_safetensors(const std::string& path, Device device, Metadata* metadata) {
  const InputFile file(path);
  uint64_t data_begin = 0;
  safetensors::Header header = read_header(file, data_begin);
  StateDict tensors;
  for (const safetensors::Entry& entry : header.entries) {
    tensors.emplace_back(entry.name, read_tensor(file, entry, data_begin).to(device));
  }
  if (metadata) *metadata = std::move(header.metadata);
  return tensors;
}

}  // namespace

void check_writable(const std::string& path) { AtomicFile::check(path); }

void save(const StateDict& tensors, const std::string& path, const Metadata& metadata) {
  named_in_lack_of_memory("save", path, [&] {
    check_savable(tensors, path);
    if (is_pytorch(path)) return save_checkpoint(tensors, path, metadata);
    write_safetensors(tensors, path, metadata);
  });
}

StateDict load(const std::string& path, Device device, Metadata* metadata) {
  return named_in_lack_of_memory("load", path, [&] {
    if (!is_pytorch(path)) return read_safetensors(path, device, metadata);
    return from_checkpoint(path, device, metadata,
                           [](const Value& v) { return v.to_state_dict(); });
  });
}

void save(const Tensor& tensor, const std::string& path) {
  if (is_pytorch(path)) return save_checkpoint(tensor, path);
  save({{kOneTensor, tensor}}, path);
}

void load(Tensor& tensor, const std::string& path) {
  const Device device = tensor.defined() ? tensor.device() : kCPU;
  if (is_pytorch(path)) {
    tensor = from_checkpoint(path, device, nullptr, [](const Value& v) { return v.to_tensor(); });
    return;
  }
  StateDict tensors = load(path, device);
  if (tensors.size() != 1 || tensors[0].first != kOneTensor) {
    fail_load(path, fmt::format("expected one tensor named '{}', got {} under other names",
                                kOneTensor, tensors.size()));
  }
  tensor = std::move(tensors[0].second);
}

}  // namespace ambit
