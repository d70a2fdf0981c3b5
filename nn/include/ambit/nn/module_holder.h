// ModuleHolder: the handle through which programs use a module. `AMBIT_MODULE(Net);` after `struct
// NetImpl : nn::Module` defines the type Net; copies of a Net share one NetImpl. A function that
// accepts the holder of any module is `template <class M> void f(nn::ModuleHolder<M> module)`.
// Idea: libtorch's pimpl.h.
#pragma once

#include <ambit/detail/memory_errors.h>
#include <ambit/device.h>
#include <ambit/dtype.h>

#include <concepts>
#include <iosfwd>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace ambit::nn {

class Module;

/// Throw Error naming the module type whose holder is empty.
[[noreturn]] AMBIT_API void throw_empty_holder(const std::type_info& module);

/// A reference-counted handle on a module. It stores a shared_ptr<Module> for every module class:
/// one pointer type per class would add a tenth to the compile time of a program with all modules.
template <class Contained>
class ModuleHolder {
 public:
  /// The module class, NetImpl.
  using ContainedType = Contained;

  /// Construct the module with its default constructor.
  ModuleHolder() : impl_(make_default()) {}
  /// Make an empty holder: `nn::Linear fc{nullptr};`, to be assigned later.
  ModuleHolder(std::nullptr_t) {}
  /// Share a module.
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}
  /// Construct the module from its constructor's arguments.
  template <class Head, class... Tail>
  requires(sizeof...(Tail) > 0 || !std::derived_from<std::remove_cvref_t<Head>, ModuleHolder>) &&
      std::constructible_from<Contained, Head, Tail...> explicit ModuleHolder(Head&& head,
                                                                              Tail&&... tail)
      : impl_(make(std::forward<Head>(head), std::forward<Tail>(tail)...)) {}

  /// Return whether there is no module.
  bool is_empty() const { return !impl_; }
  /// Return whether there is a module.
  explicit operator bool() const { return static_cast<bool>(impl_); }

  // Errors of all below: Error if the holder is empty.
  /// Return the module as a shared pointer.
  std::shared_ptr<Contained> ptr() const { return {impl_, get()}; }
  /// Return the module.
  Contained* get() const {
    if (!impl_) [[unlikely]] {
      throw_empty_holder(typeid(Contained));
    }
    return static_cast<Contained*>(impl_.get());
  }
  /// Access a member of the module: net->parameters().
  Contained* operator->() const { return get(); }
  /// Return the module.
  Contained& operator*() const { return *get(); }

  /// net(x) is net->forward(x).
  template <class... Args>
  decltype(auto) operator()(Args&&... args) const {
    return get()->forward(std::forward<Args>(args)...);
  }
  /// net[i] is (*net)[i], for containers.
  template <class Index>
  decltype(auto) operator[](Index&& index) const {
    return (*get())[std::forward<Index>(index)];
  }

 private:
  static std::shared_ptr<Contained> make_default() {
    static_assert(std::default_initializable<Contained>,
                  "this module has no default constructor; write `Linear fc{nullptr};` instead of "
                  "`Linear fc;` and assign it later");
    return make();
  }
  template <class... Args>
  static std::shared_ptr<Contained> make(Args&&... args) {
    return typed_memory_errors(
        "module", [&] { return std::make_shared<Contained>(std::forward<Args>(args)...); });
  }

  std::shared_ptr<Module> impl_;
};

/// Base of the holder `Derived` that AMBIT_MODULE defines: a ModuleHolder<Contained> with to().
template <class Contained, class Derived>
class NamedHolder : public ModuleHolder<Contained> {
 public:
  using ModuleHolder<Contained>::ModuleHolder;

  /// Move the module as Module::to does and return the holder: `network = network.cuda();`.
  Derived to(Device device, bool non_blocking = false) const {
    this->get()->to(device, non_blocking);
    return self();
  }
  Derived to(DType dtype, bool non_blocking = false) const {
    this->get()->to(dtype, non_blocking);
    return self();
  }
  Derived to(Device device, DType dtype, bool non_blocking = false) const {
    this->get()->to(device, dtype, non_blocking);
    return self();
  }
  /// Move the module to the cpu and return the holder.
  Derived cpu() const { return to(kCPU); }
  /// Move the module to cuda:<index> and return the holder.
  Derived cuda(int index = 0) const {
    this->get()->cuda(index);
    return self();
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

/// Print the module tree. Errors: Error if the holder is empty.
template <class Contained>
std::ostream& operator<<(std::ostream& os, const ModuleHolder<Contained>& module) {
  return os << *module;
}

}  // namespace ambit::nn

/// Define the holder `Name` of the module class `NameImpl`, in the same namespace and after it. It
/// has the constructors of NameImpl: Linear(784, 10). The documentation is that of NameImpl.
#define AMBIT_MODULE(Name)                                         \
  class Name : public ::ambit::nn::NamedHolder<Name##Impl, Name> { \
   public:                                                         \
    using Impl = Name##Impl;                                       \
    using ::ambit::nn::NamedHolder<Name##Impl, Name>::NamedHolder; \
  }
