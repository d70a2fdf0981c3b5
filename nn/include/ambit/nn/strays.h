// find_strays(): which tensors of a program are not where its module is. What to ask when a
// DeviceMismatchError names one of them, or before the first step.
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
  /// to. "optimizer.3": one that the module does not hold, at its place in Optimizer::parameters().
  std::string name;
  std::string state;  ///< "momentum_buffer", as Optimizer::state_dict() calls it; else empty
  Device device;      ///< where it is
  Device expected;    ///< where the module's first parameter is
};

/// Return the parameters, gradients and buffers that are on another device than the module's first
/// parameter (its first buffer, where it has no parameter), in the order in which the module names
/// them; empty: nothing will clash. A model that is spread over devices on purpose has strays.
AMBIT_API std::vector<Stray> find_strays(const Module& module);
/// Also look at what the optimizer trains and the module does not hold, and at the optimizer's
/// state. State that lags behind a parameter is no error, since it follows at the next step; its
/// counts of steps are on cpu on purpose, and not listed.
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
