// Cloneable<Derived>: a module whose clone() works. The class puts the making of its parameters,
// buffers and submodules into reset(), which the constructor calls too.
#pragma once

#include <ambit/autograd.h>
#include <ambit/nn/module.h>

#include <memory>
#include <optional>

namespace ambit::nn {

/// What of clone() is the same for every class.
class AMBIT_API CloneableBase : public Module {
 public:
  using Module::Module;

  /// Register all parameters, buffers and submodules, and initialise them.
  virtual void reset() = 0;

  /// Return a copy with tensors and submodules of its own, on `device` if given, its members as
  /// this one's. Errors: Error where reset() registers other names, or a submodule is no Cloneable.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const override;

 protected:
  /// Return what the class's copy constructor makes of this module.
  virtual std::unique_ptr<CloneableBase> copied() const = 0;
};

/// Base of a module class `Derived` (the class itself, NetImpl), as libtorch's.
template <class Derived>
class AMBIT_API Cloneable : public CloneableBase {
 public:
  using CloneableBase::CloneableBase;

 protected:
  std::unique_ptr<CloneableBase> copied() const override {
    return std::unique_ptr<CloneableBase>(new Derived(static_cast<const Derived&>(*this)));
  }
  void assign_clone(const Module& other, const std::optional<Device>& device) override {
    const std::shared_ptr<Module> copy = other.clone(device);
    const auto* same = dynamic_cast<const Derived*>(copy.get());
    if (!same) throw_other_class(*copy);
    static_cast<Derived&>(*this) = *same;
  }
};

}  // namespace ambit::nn
