// save() and load(): tensors in safetensors files or checkpoints. safetensors.cpp handles the
// header, atomic_file.cpp the replacement of files.
#include <ambit/archive.h>
#include <ambit/checkpoint.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/serialize.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <span>
#include <unordered_set>

#include "atomic_file.h"
#include "file_kind.h"
#include "input_file.h"
#include "lack_of_memory.h"
#include "left_out.h"
#include "pytorch/checkpoint_reader.h"
#include "safetensors.h"

namespace ambit {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data are little-endian");

constexpr const char* kOneTensor = "tensor";  // the name of a single tensor in a file

[[noreturn]] void fail_save(const std::string& path, const std::string& why) {
  throw SerializationError(printable(fmt::format("save: cannot write '{}': {}", path, why)));
}

// The extension determines the format of a written file.
bool is_pytorch(const std::string& path) { return path.ends_with(".pth") || path.ends_with(".pt"); }

// The content determines the format of a file that is read. If the content has neither format, the
// extension determines which error is thrown.
bool holds_pytorch(const std::string& path) {
  return named_in_lack_of_memory("load", path, [&] {
    const InputFile file(path);
    const FileKind kind = kind_of_bytes(begin_of(file), file.size_bytes());
    if (kind.is_pytorch()) return true;
    if (kind.format == FileKind::Format::safetensors) return false;
    if (is_pytorch(path) || !kind.is_known()) return is_pytorch(path);
    fail_load(path, kind.refusal());
  });
}

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

// Return the order of the data: wide elements first, so that each tensor's elements are aligned.
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
    entries.push_back({.name = name,
                       .type = &safetensors::element_type(tensor.dtype()),
                       .sizes = tensor.sizes()});
  }
  uint64_t at = 0;
  for (const size_t i : order) {
    entries[i].begin = at;
    entries[i].end = at += tensors[i].second.nbytes();
  }
  return safetensors::format_header(entries, metadata);
}

// Read the header and check it against the file's size; set the offset of the data.
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
    const FileKind kind = kind_of_bytes(begin_of(file), file.size_bytes());
    const bool is_other = kind.is_known() || length > safetensors::kMaxHeaderBytes;
    if (kind.format == FileKind::Format::other && is_other) fail_load(path, kind.refusal());
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

// Read tensors of dtypes that ambit has.
std::vector<Tensor> read_tensors(const InputFile& file,
                                 std::span<const safetensors::Entry* const> entries,
                                 uint64_t data_begin) {
  std::vector<Tensor> tensors;
  std::vector<InputFile::Piece> pieces;
  for (const safetensors::Entry* entry : entries) {
    const Tensor& t =
        tensors.emplace_back(empty(entry->sizes, TensorOptions(*entry->type->dtype).device(kCPU)));
    pieces.push_back({t.data_ptr(), t.nbytes(), data_begin + entry->begin});
  }
  file.read(pieces);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (is_valid(tensors[i])) continue;
    fail_load(file.path(),
              fmt::format("expected bytes 0 and 1 in '{}' BOOL, got others", entries[i]->name));
  }
  return tensors;
}

Tensor read_tensor(const InputFile& file, const safetensors::Entry& entry, uint64_t data_begin) {
  return read_tensors(file, std::array{&entry}, data_begin)[0];
}

// Return read(content) for a checkpoint or an archive. Its errors name the file and leave *metadata
// unchanged.
auto from_pytorch(const std::string& path, Device device, Metadata* metadata, auto read) {
  PytorchContent content = read_pytorch(path, device, metadata != nullptr);
  try {
    auto result = read(content);
    if (metadata) *metadata = std::move(content.metadata);
    return result;
  } catch (const SerializationError& e) {
    fail_load(path, fmt::format("{}; load_checkpoint() reads everything", e.what()));
  }
}

// Omit opaque values, with a warning.
StateDict state_dict_of(const Value& value, const std::string& path) {
  LeftOut left_out(fmt::format("load: '{}'", path));
  Value::Dict tensors;
  for (const auto& [key, item] : value.entries()) {
    if (key.kind() == Value::Kind::string && item.kind() == Value::Kind::opaque) {
      left_out.add(key.to_string(), item.to_opaque().type);
    } else {
      tensors.emplace_back(key, item);
    }
  }
  StateDict dict = Value::dict(std::move(tensors)).to_state_dict();
  left_out.say();
  return dict;
}

StateDict state_dict_of(const PytorchContent& content, const std::string& path) {
  if (!content.is_script) return state_dict_of(content.value, path);
  StateDict tensors = flatten(content.value);
  if (tensors.empty()) {
    throw SerializationError(
        "expected tensors in a TorchScript archive, got none: its module has neither parameters, "
        "buffers nor constants; save the state_dict() of the original module");
  }
  return tensors;
}

Tensor one_tensor_of(const PytorchContent& content) {
  return (content.is_script ? content.value["0"] : content.value).to_tensor().detach();
}

std::vector<Tensor> list_of(const PytorchContent& content) {
  std::vector<Tensor> tensors;
  if (!content.is_script) {
    for (const Value& item : content.value.items()) tensors.push_back(item.to_tensor());
    return tensors;
  }
  // Keys are "0", "1", ... in this order, as operator<< writes them.
  for (const auto& [key, value] : content.value.entries()) {
    if (key.kind() == Value::Kind::string && key.to_string() == std::to_string(tensors.size())) {
      tensors.push_back(value.to_tensor());
    }
  }
  return tensors;
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

}  // namespace

Value read_safetensors(const std::string& path, Device device, Metadata* metadata) {
  return named_in_lack_of_memory("load", path, [&] {
    const InputFile file(path);
    uint64_t data_begin = 0;
    safetensors::Header header = read_header(file, data_begin);
    std::vector<const safetensors::Entry*> known;
    for (const safetensors::Entry& entry : header.entries) {
      if (entry.type->dtype) known.push_back(&entry);
    }
    // Tensors for another device are read one by one, so that the host does not hold all of them.
    const bool is_cpu = device == kCPU;
    std::vector<Tensor> read;
    if (is_cpu) read = read_tensors(file, known, data_begin);
    auto next = read.begin();
    Value::Dict tensors;
    for (const safetensors::Entry& entry : header.entries) {
      const char* const type = entry.type->name;
      tensors.emplace_back(
          entry.name, !entry.type->dtype ? Value::opaque({fmt::format("{} tensor", type), "", {}})
                      : is_cpu           ? Value(std::move(*next++))
                                         : Value(read_tensor(file, entry, data_begin).to(device)));
    }
    Value value = Value::ordered_dict(std::move(tensors));
    if (metadata) *metadata = std::move(header.metadata);
    return value;
  });
}

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
    if (!holds_pytorch(path)) {
      Metadata found;
      StateDict tensors = state_dict_of(read_safetensors(path, device, &found), path);
      if (metadata) *metadata = std::move(found);
      return tensors;
    }
    return from_pytorch(path, device, metadata, [&](const PytorchContent& content) {
      return state_dict_of(content, path);
    });
  });
}

std::vector<std::string> tensor_names(const std::string& path) {
  return named_in_lack_of_memory("tensor_names", path, [&] {
    const InputFile file(path);
    uint64_t data_begin = 0;
    std::vector<std::string> names;
    for (auto& entry : read_header(file, data_begin).entries) {
      names.push_back(std::move(entry.name));
    }
    return names;
  });
}

Tensor load_tensor(const std::string& path, const std::string& name, Device device) {
  return named_in_lack_of_memory("load_tensor", path, [&] {
    const InputFile file(path);
    uint64_t data_begin = 0;
    for (const auto& entry : read_header(file, data_begin).entries) {
      if (entry.name != name) continue;
      if (!entry.type->dtype) {
        throw DTypeError(one_line(
            fmt::format("load_tensor: expected a dtype that ambit has of '{}' in '{}', got {}",
                        name, path, entry.type->name)));
      }
      return read_tensor(file, entry, data_begin).to(device);
    }
    fail_load(path, fmt::format("expected a tensor '{}', got none of that name", name));
  });
}

bool is_safetensors_file(const std::string& path) {
  return named_in_lack_of_memory("load", path, [&] {
    const InputFile file(path);
    return kind_of_bytes(begin_of(file), file.size_bytes()).format == FileKind::Format::safetensors;
  });
}

template <int>
void save(const Tensor& tensor, const std::string& path) {
  if (is_pytorch(path)) return save_checkpoint(tensor, path);
  save({{kOneTensor, tensor}}, path);
}
template void save<0>(const Tensor& tensor, const std::string& path);

namespace {

Tensor load_one(const std::string& path, Device device) {
  if (holds_pytorch(path)) return from_pytorch(path, device, nullptr, one_tensor_of);
  StateDict tensors = load(path, device);
  if (tensors.size() != 1 || tensors[0].first != kOneTensor) {
    fail_load(path, fmt::format("expected one tensor named '{}', got {} under other names",
                                kOneTensor, tensors.size()));
  }
  return std::move(tensors[0].second);
}

}  // namespace

// A defined tensor keeps its identity: it may be a module's parameter.
void load(Tensor& tensor, const std::string& path) {
  if (tensor.defined()) {
    tensor.set_data(load_one(path, tensor.device()));
  } else {
    tensor = load_one(path, kCPU);
  }
}

template <int>
void save(const std::vector<Tensor>& tensors, const std::string& path) {
  named_in_lack_of_memory("save", path, [&] {
    if (is_pytorch(path)) {
      return save_checkpoint(Value::list({tensors.begin(), tensors.end()}), path);
    }
    StateDict named;
    for (const Tensor& t : tensors) named.emplace_back(std::to_string(named.size()), t);
    save(named, path);
  });
}
template void save<0>(const std::vector<Tensor>& tensors, const std::string& path);

void load(std::vector<Tensor>& tensors, const std::string& path, std::optional<Device> device) {
  named_in_lack_of_memory("load", path, [&] {
    const Device to = device.value_or(kCPU);
    std::vector<Tensor> all = tensors;
    if (holds_pytorch(path)) {
      for (Tensor& t : from_pytorch(path, to, nullptr, list_of)) all.push_back(std::move(t));
    } else {
      size_t next = 0;
      for (auto& [name, t] : load(path, to)) {
        if (name != std::to_string(next)) {
          fail_load(path, fmt::format("expected a tensor named '{}', got '{}'", next, name));
        }
        all.push_back(std::move(t));
        ++next;
      }
    }
    tensors = std::move(all);
  });
}

}  // namespace ambit
