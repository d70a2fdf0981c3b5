// Modules that were made on meta, to know shapes without memory, and their way to a device. The
// tensors of such a module have no values: a call on another device's input is refused by the name
// of the first parameter that it uses, in DeviceMismatchError::explain().
//   const DefaultDeviceGuard meta("meta");
//   Net net;                            // takes no memory
//   net->load_state_dict(load(path));   // each tensor on meta becomes a copy of its value, or
//   nn::to_empty(net, "cuda:0");        // has memory, to be filled by nn::init or
//   load_state_dict()
#pragma once

#include <ambit/nn/module.h>

namespace ambit::nn {

/// Give each parameter and buffer of the module new memory on the device, with whatever numbers are
/// there; sizes, dtypes and identity stay, so that an optimizer made before goes on working.
/// Gradients are dropped. Nothing has changed where it throws.
/// Errors: OutOfMemoryError; BackendError for a device that does not exist.
/// Source: torch.nn.Module.to_empty.
AMBIT_API void to_empty(Module& module, Device device);

/// The same of a holder, which is returned.
template <class M>
const ModuleHolder<M>& to_empty(const ModuleHolder<M>& module, Device device) {
  to_empty(static_cast<Module&>(*module), device);
  return module;
}

}  // namespace ambit::nn
