// Cloneable<Derived>: a module whose clone() works. The class puts the making of its parameters,
// buffers and submodules into reset(), which the constructor calls too.
#pragma once

#include <ambit/autograd.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/nn/module.h>

namespace ambit::nn {

/// Base of a module class `Derived` (the class itself, NetImpl), as libtorch's.
template <class Derived>
class AMBIT_API Cloneable : public Module {
 public:
  using Module::Module;

  /// Register all parameters, buffers and submodules, and initialise them.
  virtual void reset() = 0;

  /// Return a copy with tensors and submodules of its own, on `device` if given, its members as
  /// this one's. Errors: Error where reset() registers other names, or a submodule is no Cloneable.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const override {
    return typed_memory_errors("clone", [&] {
      const NoGradGuard no_grad;
      auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
      Cloneable& base = *copy;
      base.forget_state();
      base.reset();
      base.clone_state(*this, device);
      return copy;
    });
  }

 protected:
  void assign_clone(const Module& other, const std::optional<Device>& device) override {
    const std::shared_ptr<Module> copy = other.clone(device);
    const auto* same = dynamic_cast<const Derived*>(copy.get());
    if (!same) throw_other_class(*copy);
    static_cast<Derived&>(*this) = *same;
  }
};

}  // namespace ambit::nn
