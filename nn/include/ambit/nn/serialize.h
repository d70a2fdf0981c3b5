// save() and load() of whole modules, as libtorch's: `save(net, "net.safetensors");` writes its
// state dict and its name, and load() reads it into a module that the program has made. Of
// "net.pth", torch.load() sees the state dict.
#pragma once

#include <ambit/nn/module.h>
#include <ambit/serialize.h>

#include <string>

namespace ambit {

/// Write the module's state dict and its name. Errors: those of save(StateDict).
AMBIT_API void save(const nn::Module& module, const std::string& path);
/// Copy a file's tensors into the module's, wherever they are, strictly: no name missing or too
/// many. Errors: those of load(StateDict) and of Module::load_state_dict; Error when the file is of
/// a module of another name. Then the module is unchanged.
AMBIT_API void load(nn::Module& module, const std::string& path);

// The same by a module's holder or shared pointer.
template <class M>
void save(const nn::ModuleHolder<M>& module, const std::string& path) {
  save(static_cast<const nn::Module&>(*module), path);
}
template <class M>
void load(const nn::ModuleHolder<M>& module, const std::string& path) {
  load(static_cast<nn::Module&>(*module), path);
}
template <std::derived_from<nn::Module> M>
void save(const std::shared_ptr<M>& module, const std::string& path) {
  save(static_cast<const nn::Module&>(*module), path);
}
template <std::derived_from<nn::Module> M>
void load(const std::shared_ptr<M>& module, const std::string& path) {
  load(static_cast<nn::Module&>(*module), path);
}

}  // namespace ambit
