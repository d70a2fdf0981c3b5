// Reading and writing optimizers: as libtorch archives, and as checkpoints. An archive has a name
// for each parameter (libtorch uses its address), by which groups and state refer to it:
//   "pytorch_version": "1.5.0"
//   "state": {"<name>": {"step": 3, "exp_avg": tensor, ...}}
//   "param_groups": {"param_groups/size": 1, "param_groups/0":
//     {"params/size": 1, "params/0": "<name>", "options": {"lr": 0.1, ...}}}
// ambit adds the schedulers' state of a group as "schedule", which libtorch ignores. Source:
// torch/csrc/api/include/torch/optim/serialize.h.
#include <ambit/checkpoint.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/nn/serialize.h>
#include <ambit/ops/creation.h>
#include <ambit/optim/lbfgs.h>

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

namespace ambit {
namespace {

using serialize::InputArchive;
using serialize::OutputArchive;

constexpr const char* kFormat = "1.5.0";  // the only value of "pytorch_version"

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  throw SerializationError("load: " + printable(fmt::format(text, std::forward<T>(args)...)));
}

bool is_checkpoint(const std::string& path) {
  return path.ends_with(".pth") || path.ends_with(".pt");
}

Tensor count(size_t n) {
  return full({}, static_cast<int64_t>(n), TensorOptions(kInt64).device(kCPU));
}

// --- writing

void write_all(OutputArchive& archive, const std::map<std::string, OutputArchive>& state) {
  OutputArchive all;
  for (const auto& [position, values] : state) all.write(position, values);
  archive.write("state", all);
}

// Write the state by parameter; state_dict() has "<position>.<name>", in order. The state of LBFGS
// has numbers and lists of tensors, so its checkpoint is used.
void write_state(OutputArchive& archive, const optim::Optimizer& optimizer) {
  std::map<std::string, OutputArchive> state;
  if (dynamic_cast<const optim::LBFGS*>(&optimizer)) {
    const Value checkpoint = optimizer.checkpoint();
    for (const auto& [position, values] : checkpoint["state"].entries()) {
      OutputArchive& one = state[std::to_string(position.to_int())];
      for (const auto& [name, value] : values.entries()) one.write(name.to_string(), value);
    }
    return write_all(archive, state);
  }
  for (const auto& [key, tensor] : optimizer.state_dict()) {
    const size_t dot = key.find('.');
    const bool is_count = tensor.dim() == 0 && tensor.dtype() == kInt64;
    state[key.substr(0, dot)].write(key.substr(dot + 1),
                                    is_count ? Value(tensor.item<int64_t>()) : Value(tensor));
  }
  write_all(archive, state);
}

OutputArchive group_archive(const optim::OptimizerParamGroup& group, size_t& position) {
  OutputArchive archive, options, schedule;
  archive.write("params/size", count(group.params().size()));
  for (size_t i = 0; i < group.params().size(); ++i) {
    archive.write(fmt::format("params/{}", i), Value(std::to_string(position++)));
  }
  for (const auto& [key, value] : group.options().values()) options.write(key.to_string(), value);
  if (group.options().keeps_master_weights()) options.write("master_weights", Value(true));
  archive.write("options", options);
  for (const auto& [name, value] : group.schedule()) schedule.write(name, Value(value));
  archive.write("schedule", schedule);
  return archive;
}

// --- reading

size_t read_count(const InputArchive& archive, const std::string& key) {
  Tensor n;
  archive.read(key, n);
  if (n.numel() != 1 || n.dtype() != kInt64 || n.item<int64_t>() < 0) {
    fail("expected a count as '{}', got another tensor", key);
  }
  return static_cast<size_t>(n.item<int64_t>());
}

// Convert an archive's group to that of a checkpoint. Adds the names of its parameters to
// `positions`, with their positions in the optimizer.
Value read_group(const InputArchive& archive, const optim::OptimizerParamGroup& own, size_t g,
                 std::map<std::string, size_t>& positions) {
  const size_t count = read_count(archive, "params/size");
  if (count != own.params().size()) {
    fail("expected {} parameters in group {}, got {}", own.params().size(), g, count);
  }
  Value::List params;
  for (size_t i = 0; i < count; ++i) {
    Value name;
    archive.read(fmt::format("params/{}", i), name);
    params.emplace_back(positions.size());
    if (!positions.emplace(name.to_string(), positions.size()).second) {
      fail("expected each parameter once, got '{}' twice", name.to_string());
    }
  }
  InputArchive options, schedule;
  archive.read("options", options);
  Value::Dict group = options.value().entries();
  if (archive.try_read("schedule", schedule)) {
    const Value::Dict& there = schedule.value().entries();
    group.insert(group.end(), there.begin(), there.end());
  } else {
    group.insert(group.end(), own.schedule().begin(), own.schedule().end());
  }
  group.emplace_back("params", Value::list(std::move(params)));
  return Value::dict(std::move(group));
}

// Convert the archive to a checkpoint of the optimizer.
Value read_checkpoint(const InputArchive& archive, const optim::Optimizer& optimizer) {
  Value format;
  archive.read("pytorch_version", format);
  if (format.to_string() != kFormat) {
    fail("expected an optimizer of format {}, got {}", kFormat, format.to_string());
  }
  InputArchive groups, all;
  archive.read("param_groups", groups);
  const auto& own = optimizer.param_groups();
  if (const size_t n = read_count(groups, "param_groups/size"); n != own.size()) {
    fail("expected {} parameter groups, got {}", own.size(), n);
  }
  Value::List list;
  std::map<std::string, size_t> positions;
  for (size_t g = 0; g < own.size(); ++g) {
    InputArchive group;
    groups.read(fmt::format("param_groups/{}", g), group);
    list.push_back(read_group(group, own[g], g, positions));
  }
  archive.read("state", all);
  Value::Dict state;
  for (const std::string& name : all.keys()) {
    const auto position = positions.find(name);
    if (position == positions.end())
      fail("expected state of the parameters, got some of '{}'", name);
    InputArchive one;
    all.read(name, one);
    state.emplace_back(position->second, one.value());
  }
  return Value::dict(
      {{"state", Value::dict(std::move(state))}, {"param_groups", Value::list(std::move(list))}});
}

}  // namespace

template <int>
void save(const optim::Optimizer& optimizer, const std::string& path) {
  if (is_checkpoint(path)) return save_checkpoint(optimizer.checkpoint(), path);
  if (path.ends_with(".safetensors")) {
    throw SerializationError(fmt::format(
        "save: cannot write '{}': expected .pth or another extension for an optimizer, whose "
        "options a safetensors file cannot store",
        printable(path)));
  }
  OutputArchive archive;
  archive << optimizer;
  archive.save_to(path);
}
template void save<0>(const optim::Optimizer& optimizer, const std::string& path);

void load(optim::Optimizer& optimizer, const std::string& path) {
  if (!serialize::is_archive(path)) return optimizer.load_checkpoint(load_checkpoint(path));
  InputArchive archive;
  archive.load_from(path);
  archive >> optimizer;
}

namespace serialize {

OutputArchive& operator<<(OutputArchive& archive, const optim::Optimizer& optimizer) {
  OutputArchive groups;
  size_t position = 0, g = 0;
  groups.write("param_groups/size", count(optimizer.param_groups().size()));
  for (const auto& group : optimizer.param_groups()) {
    groups.write(fmt::format("param_groups/{}", g++), group_archive(group, position));
  }
  archive.write("pytorch_version", Value(kFormat));
  write_state(archive, optimizer);
  archive.write("param_groups", groups);
  return archive;
}

InputArchive& operator>>(InputArchive& archive, optim::Optimizer& optimizer) {
  optimizer.load_checkpoint(read_checkpoint(archive, optimizer));
  return archive;
}

}  // namespace serialize
}  // namespace ambit

namespace ambit::optim {

void Optimizer::save(serialize::OutputArchive& archive) const { archive << *this; }
void Optimizer::load(serialize::InputArchive& archive) { archive >> *this; }

}  // namespace ambit::optim
