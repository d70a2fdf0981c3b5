// Give memory to a module that was made on meta. The tensors of such a module have shapes but no
// values. If it is called with an input on another device, DeviceMismatchError::explain() names its
// first parameter.
//   const DefaultDeviceGuard meta("meta");
//   Net net;                            // allocates nothing
//   net->load_state_dict(load(path));   // replaces each meta tensor by a copy of its value
//   nn::to_empty(net, "cuda:0");        // or: allocates; fill by nn::init or load_state_dict()
#pragma once

#include <ambit/nn/module.h>

namespace ambit::nn {

/// Give each parameter and buffer of the module new, uninitialised memory on the device. Sizes,
/// dtypes and identity are kept, so that an existing optimizer remains valid. Gradients are
/// removed. If it throws, nothing has changed. Errors: OutOfMemoryError; BackendError for a device
/// that does not exist. Source: torch.nn.Module.to_empty.
AMBIT_API void to_empty(Module& module, Device device);

/// Do the same for the module of a holder and return the holder.
template <class M>
const ModuleHolder<M>& to_empty(const ModuleHolder<M>& module, Device device) {
  to_empty(static_cast<Module&>(*module), device);
  return module;
}

}  // namespace ambit::nn
