// find_device_mismatches(): the tensors of a program that are not on its module's device.
// Call it before the first step, or after a DeviceMismatchError.
#pragma once

#include <ambit/nn/module.h>

#include <iosfwd>
#include <string>
#include <vector>

namespace ambit::optim {
class Optimizer;
}

namespace ambit::nn {

/// A tensor on a different device from the module's first parameter.
struct DeviceMismatch {
  /// The role of the tensor in the program.
  enum class Kind : uint8_t { parameter, buffer, gradient, optimizer_state };

  /// The role of the tensor.
  Kind kind;
  /// Dotted path of the parameter or buffer, or of the parameter that a gradient or state belongs
  /// to. "optimizer.3": Optimizer::parameters()[3], a parameter that the module does not hold.
  std::string name;
  std::string state;  ///< key of Optimizer::state_dict(), as "momentum_buffer"; else empty
  Device device;      ///< where it is
  Device expected;    ///< where the module's first parameter is
};

/// Return the parameters, gradients and buffers that are on a different device from the module's
/// first parameter (its first buffer if it has no parameter), in the module's order. Empty if all
/// are on one device. A model that is spread over several devices on purpose has mismatches.
AMBIT_API std::vector<DeviceMismatch> find_device_mismatches(const Module& module);
/// Also check the optimizer's parameters that the module does not hold, and the optimizer's state.
/// State on another device than its parameter is listed but is not an error: the next step moves
/// it.
/// Step counts are on cpu on purpose and are not listed.
AMBIT_API std::vector<DeviceMismatch> find_device_mismatches(const Module& module,
                                                             const optim::Optimizer& optimizer);

template <class M>
std::vector<DeviceMismatch> find_device_mismatches(const ModuleHolder<M>& module) {
  return find_device_mismatches(static_cast<const Module&>(*module));
}
template <class M>
std::vector<DeviceMismatch> find_device_mismatches(const ModuleHolder<M>& module,
                                                   const optim::Optimizer& optimizer) {
  return find_device_mismatches(static_cast<const Module&>(*module), optimizer);
}

/// Print "gradient of fc1.weight: on cpu, expected cuda:0".
AMBIT_API std::ostream& operator<<(std::ostream& os, const DeviceMismatch& mismatch);
/// Print a line for each mismatch; nothing if there is none.
AMBIT_API std::ostream& operator<<(std::ostream& os, const std::vector<DeviceMismatch>& mismatches);

// Deprecated names.
/// The former name of DeviceMismatch.
using Stray [[deprecated("use DeviceMismatch")]] = DeviceMismatch;
/// Return find_device_mismatches(module).
template <class M>
[[deprecated("use find_device_mismatches")]] std::vector<DeviceMismatch> find_strays(
    const M& module) {
  return find_device_mismatches(module);
}
/// Return find_device_mismatches(module, optimizer).
template <class M>
[[deprecated("use find_device_mismatches")]] std::vector<DeviceMismatch> find_strays(
    const M& module, const optim::Optimizer& optimizer) {
  return find_device_mismatches(module, optimizer);
}
// End of deprecated names.

}  // namespace ambit::nn
