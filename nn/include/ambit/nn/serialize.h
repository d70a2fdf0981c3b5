// save() and load() of modules and optimizers, as in libtorch: `save(net, "net.safetensors");`, and
// load() into an existing module. Streams and `archive << net` use libtorch's archive format
// (archive.h); load() recognises that format whatever the file's name.
#pragma once

#include <ambit/archive.h>
#include <ambit/nn/module.h>
#include <ambit/optim/optimizer.h>
#include <ambit/serialize.h>

#include <concepts>
#include <memory>
#include <optional>
#include <string>

namespace ambit {

/// A holder of a module or a pointer to one.
template <class M>
concept ModuleHandle = requires(const M& m) {
  requires std::derived_from<std::remove_cvref_t<decltype(*m)>, nn::Module>;
};
/// A module class, a holder of one or a pointer to one.
template <class T>
concept ModuleOrHandle = std::derived_from<T, nn::Module> || ModuleHandle<T>;

/// save() and load() of a module write and read the formats of this header.
template <ModuleOrHandle T>
inline constexpr bool has_file_formats<T> = true;
/// save() and load() of an optimizer write and read the formats of this header.
template <std::derived_from<optim::Optimizer> T>
inline constexpr bool has_file_formats<T> = true;

/// Write the module's state dict and its name; torch.load("net.pth") returns the state dict.
/// Errors: those of save(StateDict).
template <int = 0>
AMBIT_API void save(const nn::Module& module, const std::string& path);
/// Return the tensors with `prefix` removed from the names that begin with it; PyTorch's
/// nn.DataParallel saves names as "module.<name>". Errors: Error if two names become equal.
AMBIT_API StateDict without_prefix(StateDict dict, const std::string& prefix = "module.");
/// Copy a file's tensors into the module's, on whatever device they are, strictly: no missing or
/// unexpected names. An archive is read as by Module::load. Errors: those of load(StateDict) and of
/// Module::load_state_dict or Module::load; Error if the file is of a module of another name; then
/// the module is unchanged.
AMBIT_API void load(nn::Module& module, const std::string& path);
/// As above, then move the module to `device`.
AMBIT_API void load(nn::Module& module, const std::string& path, Device device);

/// Write options and state: in the format of checkpoint() (".pth", ".pt"), else as an archive that
/// libtorch reads. Errors: those of save_checkpoint() and OutputArchive; SerializationError for
/// ".safetensors", which cannot store options.
template <int = 0>
AMBIT_API void save(const optim::Optimizer& optimizer, const std::string& path);
/// Replace the optimizer's options and state by those of a file of ambit, PyTorch or libtorch, and
/// the state that schedulers keep in its groups (OptimizerParamGroup::schedule), which libtorch's
/// files lack. Errors: those of Optimizer::load_checkpoint; then nothing has changed.
AMBIT_API void load(optim::Optimizer& optimizer, const std::string& path);

// As above, for a module's holder or shared pointer.
template <ModuleHandle M>
void save(const M& module, const std::string& path) {
  save(static_cast<const nn::Module&>(*module), path);
}
template <ModuleHandle M>
void load(const M& module, const std::string& path) {
  load(static_cast<nn::Module&>(*module), path);
}
template <ModuleHandle M>
void load(const M& module, const std::string& path, Device device) {
  load(static_cast<nn::Module&>(*module), path, device);
}

namespace serialize {

// Errors: those of Module::save and load; for an optimizer, of save() and load() above.
/// Write to an archive: `archive << net`, `archive << optimizer`.
AMBIT_API OutputArchive& operator<<(OutputArchive& archive, const nn::Module& module);
/// Read from an archive: `archive >> net`, `archive >> optimizer`.
AMBIT_API InputArchive& operator>>(InputArchive& archive, nn::Module& module);
AMBIT_API OutputArchive& operator<<(OutputArchive& archive, const optim::Optimizer& optimizer);
AMBIT_API InputArchive& operator>>(InputArchive& archive, optim::Optimizer& optimizer);
template <ModuleHandle M>
OutputArchive& operator<<(OutputArchive& archive, const M& module) {
  return archive << static_cast<const nn::Module&>(*module);
}
template <ModuleHandle M>
InputArchive& operator>>(InputArchive& archive, const M& module) {
  return archive >> static_cast<nn::Module&>(*module);
}

}  // namespace serialize
}  // namespace ambit
