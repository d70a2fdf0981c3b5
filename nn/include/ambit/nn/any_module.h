// AnyModule: a module of any class whose forward() maps a tensor to a tensor. Sequential holds
// these.
#pragma once

#include <ambit/detail/memory_errors.h>
#include <ambit/nn/module.h>

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace ambit::nn {

/// A module class with `Tensor forward(Tensor)`.
template <class M>
concept ForwardsTensor = std::derived_from<M, Module> && requires(M& module, const Tensor& x) {
  { module.forward(x) } -> std::convertible_to<Tensor>;
};

/// A counted handle on a module and on its forward(). Copies share the module.
class AMBIT_API AnyModule {
 public:
  /// Hold nothing; calling it is an error.
  AnyModule() = default;
  /// Share a module, also by its holder.
  template <ForwardsTensor M>
  AnyModule(std::shared_ptr<M> module) : module_(std::move(module)), forward_(&call<M>) {}
  template <ForwardsTensor M, class D>
  AnyModule(const ModuleHolder<M, D>& module) : AnyModule(module.ptr()) {}
  /// Take over a module that no pointer holds yet, or a copy of it.
  template <class M>
  requires ForwardsTensor<std::remove_cvref_t<M>> AnyModule(M&& module)
      : AnyModule(typed_memory_errors("AnyModule", [&] {
          return std::make_shared<std::remove_cvref_t<M>>(std::forward<M>(module));
        })) {}

  bool is_empty() const { return !module_; }
  const std::shared_ptr<Module>& ptr() const { return module_; }
  /// Return the module's forward(x). Errors: Error when empty; those of the module.
  Tensor forward(const Tensor& x) const;
  Tensor operator()(const Tensor& x) const { return forward(x); }
  /// Copy the module, on `device` if given; empty stays empty. Errors: those of Module::clone.
  AnyModule clone(const std::optional<Device>& device = {}) const;

 private:
  template <class M>
  static Tensor call(Module& module, const Tensor& x) {
    return static_cast<M&>(module).forward(x);
  }

  std::shared_ptr<Module> module_;
  Tensor (*forward_)(Module&, const Tensor&) = nullptr;
};

}  // namespace ambit::nn
