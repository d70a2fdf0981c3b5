// c10::Dispatcher: custom operators by name, registered by TORCH_LIBRARY (torch/library.h) and
// called by their C++ signature. Nothing is boxed:
//   auto op = c10::Dispatcher::singleton().findSchemaOrThrow("myops::scale", "")
//                 .typed<at::Tensor(const at::Tensor&, double)>();
//   y = op.call(x, 2.);
// A call selects a kernel by the first tensor that is not on the CPU, else by the CPU:
//   1. Autocast's, if autocast is on for the device, or Autograd's, unless a guard excludes them;
//   2. that of the device's kind; `reference` uses the CPU's, kinds without a key PrivateUse1's;
//   3. that of CompositeExplicitAutograd, then CompositeImplicitAutograd, the default.
#pragma once

#include <ambit/autocast.h>
#include <ambit/error.h>
#include <ambit/tensor.h>
#include <c10/core/DispatchKey.h>
#include <torch/lacks.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace c10 {

struct OperatorName {
  std::string name;  ///< "myops::scale"
  std::string overload_name;
  friend bool operator==(const OperatorName&, const OperatorName&) = default;
  friend auto operator<=>(const OperatorName&, const OperatorName&) = default;
};
inline std::string toString(const OperatorName& op) {
  return op.overload_name.empty() ? op.name : op.name + "." + op.overload_name;
}

namespace detail {

/// A function of one signature R(Args...).
struct Kernel {
  const std::type_info* signature = nullptr;
  size_t arguments = 0;
  std::shared_ptr<const void> function;  // a std::function<R(Args...)>
};

template <class = void>
struct OperatorOf {
  OperatorName name;
  std::string schema = "";  // until defined
  std::optional<size_t> arguments = {};
  std::map<DispatchKey, Kernel> kernels = {};
};
using Operator = OperatorOf<>;

/// Locks changes and look-ups; operators are never destroyed. A template, as the other classes
/// here, so that only programs that use it compile its members.
template <class = void>
struct OperatorsOf {
  std::mutex mutex;
  std::map<OperatorName, std::unique_ptr<Operator>> all;
  static OperatorsOf& get() {
    static OperatorsOf* const operators = new OperatorsOf;  // libraries are unloaded after main()
    return *operators;
  }
};
using Operators = OperatorsOf<>;

template <class T>
[[noreturn]] void throw_signature(const OperatorOf<T>& op) {
  throw ambit::Error(toString(op.name) +
                     ": expected the C++ signature of its kernels, exactly, got another one");
}

/// The device that selects the kernel.
template <class = void>
class SelectorOf {
 public:
  template <class T>
  void see(const T& argument) {
    if constexpr (std::is_same_v<T, ambit::Tensor>) {
      if (argument.defined() && device_.is_cpu()) device_ = argument.device();
    } else if constexpr (std::is_same_v<T, std::optional<ambit::Tensor>>) {
      if (argument) see(*argument);
    } else if constexpr (!std::is_arithmetic_v<T> && requires {
                           { *argument.begin() } -> std::convertible_to<const ambit::Tensor&>;
                         }) {
      for (const auto& t : argument) see(static_cast<const ambit::Tensor&>(t));
    }
  }
  /// Return the kernel. Errors: NotImplementedError if there is none.
  const Kernel& select(const Operator& op) const {
    const auto find = [&](DispatchKey key) {
      const auto found = op.kernels.find(key);
      return found == op.kernels.end() ? nullptr : &found->second;
    };
    const auto [own, autograd, autocast] = keys();
    const bool casts = !impl::excluded.autocast && ambit::autocast::is_autocast_enabled(device_);
    for (const auto& [tried, key] : {std::pair(casts, autocast),
                                     {casts, DispatchKey::Autocast},
                                     {!impl::excluded.autograd, autograd},
                                     {!impl::excluded.autograd, DispatchKey::Autograd},
                                     {true, own},
                                     {true, DispatchKey::CompositeExplicitAutograd},
                                     {true, DispatchKey::CompositeExplicitAutogradNonFunctional},
                                     {true, DispatchKey::CompositeImplicitAutograd}}) {
      if (const Kernel* const kernel = tried ? find(key) : nullptr) return *kernel;
    }
    throw ambit::NotImplementedError(toString(op.name) + ": expected a kernel for " +
                                     device_.str() + ", got none");
  }

 private:
  struct Keys {
    DispatchKey own, autograd, autocast;
  };
  Keys keys() const {
    using enum DispatchKey;
    const std::string_view kind = device_.type();
    if (kind == "cpu" || kind == "reference") return {CPU, AutogradCPU, AutocastCPU};
    if (kind == "cuda") return {CUDA, AutogradCUDA, AutocastCUDA};
    if (kind == "meta") return {Meta, AutogradMeta, Autocast};
    if (kind == "xpu") return {XPU, AutogradXPU, Autocast};
    if (kind == "mps") return {MPS, AutogradMPS, Autocast};
    if (kind == "hip") return {HIP, Autograd, Autocast};
    if (kind == "hpu") return {HPU, Autograd, Autocast};
    return {PrivateUse1, AutogradPrivateUse1, Autocast};
  }

  ambit::Device device_;
};

}  // namespace detail

template <class Signature>
class TypedOperatorHandle;

/// An operator with its signature.
template <class R, class... Args>
class TypedOperatorHandle<R(Args...)> {
 public:
  /// Call the kernel of the arguments' device. Errors: NotImplementedError if there is none.
  R call(Args... args) const {
    std::shared_ptr<const void> function;
    {
      const std::scoped_lock lock(detail::Operators::get().mutex);
      detail::SelectorOf<> selector;
      (selector.see(args), ...);
      const detail::Kernel& kernel = selector.select(*op_);
      if (*kernel.signature != typeid(R(Args...))) detail::throw_signature(*op_);
      function = kernel.function;
    }
    return (*static_cast<const std::function<R(Args...)>*>(function.get()))(
        std::forward<Args>(args)...);
  }
  const OperatorName& operator_name() const { return op_->name; }

 private:
  template <class>
  friend class OperatorHandleOf;
  explicit TypedOperatorHandle(const detail::Operator& op) : op_(&op) {}
  const detail::Operator* op_;
};

/// A defined operator.
template <class = void>
class OperatorHandleOf {
 public:
  /// Return a handle to call it. Errors: Error if a kernel has another signature; references and
  /// const count: Tensor(const Tensor&) is not Tensor(Tensor).
  template <class Signature>
  TypedOperatorHandle<Signature> typed() const {
    const std::scoped_lock lock(detail::Operators::get().mutex);
    for (const auto& [key, kernel] : op_->kernels) {
      if (*kernel.signature != typeid(Signature)) detail::throw_signature(*op_);
    }
    return TypedOperatorHandle<Signature>(*op_);
  }
  const OperatorName& operator_name() const { return op_->name; }
  bool hasSchema() const { return true; }
  bool hasKernelForDispatchKey(DispatchKey key) const {
    const std::scoped_lock lock(detail::Operators::get().mutex);
    return op_->kernels.contains(key);
  }
  AMBIT_TORCH_LACKS_FUNCTION(callBoxed, "ambit calls operators by typed<Signature>()");

 private:
  template <class>
  friend class DispatcherOf;
  explicit OperatorHandleOf(const detail::Operator& op) : op_(&op) {}
  const detail::Operator* op_;
};

using OperatorHandle = OperatorHandleOf<>;

template <class = void>
class DispatcherOf {
 public:
  static DispatcherOf& singleton() {
    static DispatcherOf dispatcher;
    return dispatcher;
  }
  /// Return the operator, or nullopt if no library defines it.
  std::optional<OperatorHandle> findSchema(const OperatorName& name) const {
    detail::Operators& operators = detail::Operators::get();
    const std::scoped_lock lock(operators.mutex);
    const auto found = operators.all.find(name);
    if (found == operators.all.end() || found->second->schema.empty()) return std::nullopt;
    return OperatorHandle(*found->second);
  }
  /// As findSchema(). Errors: Error if no library defines it.
  OperatorHandle findSchemaOrThrow(const char* name, const char* overload_name) const {
    const OperatorName wanted{name, overload_name};
    if (const auto found = findSchema(wanted)) return *found;
    throw ambit::Error("findSchemaOrThrow: expected an operator that TORCH_LIBRARY defines, got " +
                       toString(wanted));
  }
  std::vector<OperatorName> getAllOpNames() const {
    detail::Operators& operators = detail::Operators::get();
    const std::scoped_lock lock(operators.mutex);
    std::vector<OperatorName> names;
    for (const auto& [name, op] : operators.all) names.push_back(name);
    return names;
  }
};
using Dispatcher = DispatcherOf<>;

}  // namespace c10

namespace torch {
using c10::DispatchKey;
}  // namespace torch
