// find_strays(): the tensors of a program that are not on its module's device. Call it before the
// first step, or after a DeviceMismatchError.
#pragma once

#include <ambit/nn/module.h>

#include <iosfwd>
#include <string>
#include <vector>

namespace ambit::optim {
class Optimizer;
}

namespace ambit::nn {

/// A tensor on another device than the module's first parameter.
struct Stray {
  enum class Kind : uint8_t { parameter, buffer, gradient, optimizer_state };

  Kind kind;
  /// Dotted path of the parameter or buffer, or of the parameter that a gradient or state belongs
  /// to. "optimizer.3": Optimizer::parameters()[3], a parameter that the module does not hold.
  std::string name;
  std::string state;  ///< key of Optimizer::state_dict(), as "momentum_buffer"; else empty
  Device device;      ///< where it is
  Device expected;    ///< where the module's first parameter is
};

/// Return the parameters, gradients and buffers that are on another device than the module's first
/// parameter (its first buffer if it has no parameter), in the module's order. Empty if all are on
/// one device. A model that is spread over several devices on purpose has strays.
AMBIT_API std::vector<Stray> find_strays(const Module& module);
/// Also check the optimizer's parameters that the module does not hold, and the optimizer's state.
/// State on another device than its parameter is listed but is no error: the next step moves it.
/// Step counts are on cpu on purpose and are not listed.
AMBIT_API std::vector<Stray> find_strays(const Module& module, const optim::Optimizer& optimizer);

template <class M>
std::vector<Stray> find_strays(const ModuleHolder<M>& module) {
  return find_strays(static_cast<const Module&>(*module));
}
template <class M>
std::vector<Stray> find_strays(const ModuleHolder<M>& module, const optim::Optimizer& optimizer) {
  return find_strays(static_cast<const Module&>(*module), optimizer);
}

/// Print "gradient of fc1.weight: on cpu, expected cuda:0".
AMBIT_API std::ostream& operator<<(std::ostream& os, const Stray& stray);
/// Print a line for each.
AMBIT_API std::ostream& operator<<(std::ostream& os, const std::vector<Stray>& strays);

}  // namespace ambit::nn
