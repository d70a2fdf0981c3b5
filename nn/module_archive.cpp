// Reading and writing modules: as libtorch archives, and as state dicts.
#include <ambit/autograd.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/nn/serialize.h>

#include <fmt/format.h>

#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "state_mismatch.h"

namespace ambit {
namespace nn {

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& [name, tensor] : parameters_) archive.write(name, tensor);
  for (const auto& [name, tensor] : buffers_) {
    if (is_persistent(name)) archive.write(name, tensor, /*is_buffer=*/true);
  }
  for (const auto& [name, child] : children_) {
    if (!child->is_serializable()) continue;
    serialize::OutputArchive below;
    child->save(below);
    archive.write(name, below);
  }
}

// If a child cannot be read, the changes of its siblings are undone: tensors get new data instead
// of being overwritten, so the old data still exist.
void Module::load(serialize::InputArchive& archive) try {
  const NoGradGuard no_grad;
  std::vector<std::pair<Tensor, Tensor>> before, loaded;
  for (const Tensor& t : parameters()) before.emplace_back(t, t.detach());
  for (const Tensor& t : buffers()) before.emplace_back(t, t.detach());
  std::string wrong;
  const auto read = [&](const std::string& name, const Tensor& target, bool is_buffer) {
    if (!target.defined()) return;
    Tensor value;
    if (!archive.try_read(name, value, is_buffer)) {
      if (is_batch_count(name, target)) return;
      archive.read(name, value, is_buffer);  // throws for a missing name
    }
    value = fitted(target, value);
    wrong += state_mismatch(name, target, value);
    loaded.emplace_back(target, value.detach().to(target.device(), target.dtype()));
  };
  for (const auto& [name, tensor] : parameters_) read(name, tensor, false);
  for (const auto& [name, tensor] : buffers_) {
    if (is_persistent(name)) read(name, tensor, true);
  }
  if (!wrong.empty()) {
    throw Error(fmt::format("load: expected the tensors of {}, got{}", name(), wrong));
  }
  try {
    for (const auto& [name, child] : children_) {
      if (!child->is_serializable()) continue;
      serialize::InputArchive below;
      archive.read(name, below);
      child->load(below);
    }
    for (const auto& [target, value] : loaded) target.set_data(value);
  } catch (...) {
    for (const auto& [target, data] : before) target.set_data(data);
    throw;
  }
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("load");
}

}  // namespace nn

namespace {
constexpr const char* kModule = "module";  // metadata key of the module's name
}  // namespace

template <int>
void save(const nn::Module& module, const std::string& path) {
  Metadata metadata{{kModule, module.name()}};
  // Python's transformers rejects safetensors files without this entry.
  if (!path.ends_with(".pth") && !path.ends_with(".pt")) metadata.emplace("format", "pt");
  save(module.state_dict(), path, metadata);
}
template void save<0>(const nn::Module& module, const std::string& path);

StateDict without_prefix(StateDict dict, const std::string& prefix) {
  std::unordered_set<std::string_view> names;
  for (auto& [name, tensor] : dict) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  for (const auto& [name, tensor] : dict) {
    if (!names.insert(name).second) {
      throw Error(fmt::format(
          "without_prefix: expected each name once without '{}', got '{}' twice", prefix, name));
    }
  }
  return dict;
}

void load(nn::Module& module, const std::string& path) {
  if (serialize::is_archive(path)) {
    serialize::InputArchive archive;
    archive.load_from(path);
    archive >> module;
    return;
  }
  Metadata metadata;
  const StateDict tensors = load(path, kCPU, &metadata);
  const auto saved = metadata.find(kModule);  // files of PyTorch have no module name
  if (saved != metadata.end() && saved->second != module.name()) {
    throw Error(fmt::format("load: expected the module {} in '{}', got {}", module.name(),
                            printable(path), printable(saved->second)));
  }
  module.load_state_dict(tensors);
}

void load(nn::Module& module, const std::string& path, Device device) {
  load(module, path);
  module.to(device);
}

namespace serialize {

OutputArchive& operator<<(OutputArchive& archive, const nn::Module& module) {
  module.save(archive);
  return archive;
}
InputArchive& operator>>(InputArchive& archive, nn::Module& module) {
  module.load(archive);
  return archive;
}

}  // namespace serialize
}  // namespace ambit
