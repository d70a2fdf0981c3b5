// Cloneable<Derived>: base of modules that can be cloned. The derived class creates its parameters,
// buffers and submodules in reset(), which its constructor calls too.
#pragma once

#include <ambit/autograd.h>
#include <ambit/nn/module.h>

#include <memory>
#include <optional>

namespace ambit::nn {

/// The part of clone() that does not depend on the class.
class AMBIT_API CloneableBase : public Module {
 public:
  using Module::Module;

  /// Register all parameters, buffers and submodules, and initialise them.
  virtual void reset() = 0;

  /// Return a copy with its own tensors and submodules, on `device` if given, and equal data
  /// members. Errors: Error if reset() registers other names, or a submodule is not a Cloneable.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const override;

 protected:
  /// Return a copy of this module made by the copy constructor of its class.
  virtual std::unique_ptr<CloneableBase> copied() const = 0;
};

/// Base of a module class `Derived` (the class itself, NetImpl), as in libtorch.
template <class Derived>
class AMBIT_API Cloneable : public CloneableBase {
 public:
  using CloneableBase::CloneableBase;

 protected:
  /// Return a copy of this module made by the copy constructor of Derived.
  std::unique_ptr<CloneableBase> copied() const override {
    return std::unique_ptr<CloneableBase>(new Derived(static_cast<const Derived&>(*this)));
  }
  /// Assign a clone of `other`. Errors: Error unless it is a Derived.
  void assign_clone(const Module& other, const std::optional<Device>& device) override {
    const std::shared_ptr<Module> copy = other.clone(device);
    const auto* same = dynamic_cast<const Derived*>(copy.get());
    if (!same) throw_other_class(*copy);
    static_cast<Derived&>(*this) = *same;
  }
};

}  // namespace ambit::nn
