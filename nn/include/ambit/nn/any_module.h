// AnyModule: a type-erased module whose forward() may have any signature. Sequential holds these.
#pragma once

#include <ambit/detail/memory_errors.h>
#include <ambit/nn/any_value.h>
#include <ambit/nn/module.h>

#include <concepts>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ambit::nn {

/// A module class with `Tensor forward(Tensor)`.
template <class M>
concept ForwardsTensor = std::derived_from<M, Module> && requires(M& module, const Tensor& x) {
  { module.forward(x) } -> std::convertible_to<Tensor>;
};
/// A module class with exactly one forward(), which is public and not a template.
template <class M>
concept ForwardsOneWay = std::derived_from<M, Module> && requires {
  &M::forward;
};

/// A reference-counted handle on a module and its forward(). Copies share the module.
class AMBIT_API AnyModule {
 public:
  /// Default arguments: pairs (number of arguments that must be given, value of the next argument).
  using Defaults = std::vector<std::pair<size_t, AnyValue>>;
  /// Return defaults that make the arguments [first, end) undefined tensors.
  static Defaults undefined(size_t first, size_t end);

  /// Make an empty handle; calling it is an error.
  AnyModule() = default;
  /// Share a module, given as a pointer or a holder.
  template <std::derived_from<Module> M>
  AnyModule(std::shared_ptr<M> module) : module_(std::move(module)) {
    static_assert(ForwardsTensor<M> || ForwardsOneWay<M>,
                  "a module in a Sequential or AnyModule needs a public forward() that is not a "
                  "template and has no overloads, or one that accepts a Tensor");
    if constexpr (ForwardsTensor<M>) forward_ = &forward_tensor<M>;
    if constexpr (ForwardsOneWay<M>) call_ = caller<M>(&M::forward);
  }
  template <class M>
  AnyModule(const ModuleHolder<M>& module) : AnyModule(module.ptr()) {}
  /// Own a module that is given by value: moved from, or copied.
  template <class M>
  requires std::derived_from<std::remove_cvref_t<M>, Module> AnyModule(M&& module)
      : AnyModule(typed_memory_errors("AnyModule", [&] {
          return std::make_shared<std::remove_cvref_t<M>>(std::forward<M>(module));
        })) {}

  /// Return whether the handle has no module.
  bool is_empty() const { return !module_; }
  /// Return the module; null if the handle is empty.
  const std::shared_ptr<Module>& ptr() const { return module_; }
  /// Return the module as M, a module class. Errors of this and get(): Error if the module is of
  /// another class, or the handle is empty.
  template <class M>
  std::shared_ptr<M> ptr() const {
    get<M>();
    return std::static_pointer_cast<M>(module_);
  }
  /// Return the module as M&, or as the holder type M.
  template <class M>
  decltype(auto) get() const {
    if constexpr (requires { typename M::ContainedType; }) {
      return M(ptr<typename M::ContainedType>());
    } else {
      M* module = dynamic_cast<M*>(module_.get());
      if (!module) throw_other_class(typeid(M));
      return static_cast<M&>(*module);
    }
  }
  /// Return the class of the module. Errors: Error if the handle is empty.
  const std::type_info& type_info() const;

  /// Call the module's forward(arguments...) and return its result as Result. Argument types must
  /// equal the parameter types, apart from const and references. Errors: Error when the handle is
  /// empty and for other types or another number of arguments; errors of the module.
  template <class Result = Tensor, class... Args>
  Result forward(Args&&... arguments) const {
    if constexpr (std::is_same_v<Result, Tensor> && sizeof...(Args) == 1 &&
                  (std::is_same_v<std::remove_cvref_t<Args>, Tensor> && ...)) {
      return forward_one(std::forward<Args>(arguments)...);
    } else {
      return result<Result>(any_forward(std::forward<Args>(arguments)...));
    }
  }
  /// Same as forward().
  template <class... Args>
  Tensor operator()(Args&&... arguments) const {
    return forward(std::forward<Args>(arguments)...);
  }
  /// Like forward(), with a result of any type.
  template <class... Args>
  AnyValue any_forward(Args&&... arguments) const {
    return call(values_of(std::forward<Args>(arguments)...));
  }
  /// Return a result as T. Errors: Error if it is of another type.
  template <class T>
  static T result(AnyValue value) {
    if (T* v = value.try_get<T>()) return std::move(*v);
    throw_other_type("forward<T>(), by what the module returns", value.type_info(), typeid(T));
  }

  /// Copy the module, to `device` if given; an empty handle stays empty. Errors: those of
  /// Module::clone.
  AnyModule clone(const std::optional<Device>& device = {}) const;

 private:
  friend class SequentialImpl;
  using Caller = AnyValue (*)(Module&, std::vector<AnyValue>&);

  template <class T>
  static AnyValue as_value(T&& v) {
    if constexpr (std::is_same_v<std::remove_cvref_t<T>, AnyValue>) {
      return std::forward<T>(v);
    } else {
      return AnyValue(std::forward<T>(v));
    }
  }
  template <class... Args>
  static std::vector<AnyValue> values_of(Args&&... arguments) {
    return typed_memory_errors("AnyModule", [&] {
      std::vector<AnyValue> values;
      values.reserve(sizeof...(Args));
      (values.push_back(as_value(std::forward<Args>(arguments))), ...);
      return values;
    });
  }
  template <class M>
  static Tensor forward_tensor(Module& module, Tensor x) {
    return static_cast<M&>(module).forward(std::move(x));
  }

  // One overload per signature: members of base classes and const members have types of their own.
  template <class M, class R, class C, class... A>
  static Caller caller(R (C::*)(A...)) {
    return caller_of<M, R, A...>();
  }
  template <class M, class R, class C, class... A>
  static Caller caller(R (C::*)(A...) const) {
    return caller_of<M, R, A...>();
  }
  template <class M, class R, class... A>
  static Caller caller_of() {
    static_assert(!std::is_void_v<R>,
                  "the forward() of a module in an AnyModule returns something");
    // For Tensor -> Tensor, forward_ is enough.
    constexpr bool is_of_tensor =
        ForwardsTensor<M> &&
        std::is_same_v<std::tuple<std::remove_cvref_t<A>..., R>, std::tuple<Tensor, Tensor>>;
    if constexpr (is_of_tensor) {
      return nullptr;
    } else {
      return [](Module& module, std::vector<AnyValue>& values) {
        if constexpr (requires { M::forward_defaults(); }) add(M::forward_defaults(), values);
        check_count(sizeof...(A), values.size());
        return call_with<M, A...>(module, values, std::index_sequence_for<A...>());
      };
    }
  }
  template <class M, class... A, size_t... i>
  static AnyValue call_with(Module& module, std::vector<AnyValue>& values,
                            std::index_sequence<i...>) {
    return as_value(static_cast<M&>(module).forward(
        static_cast<A&&>(argument<std::remove_cvref_t<A>>(values[i], i))...));
  }
  template <class T>
  static T& argument(AnyValue& value, size_t position) {
    T* v = value.try_get<T>();
    if (!v) throw_other_argument(position, typeid(T), value.type_info());
    return *v;
  }

  static void add(const Defaults& defaults, std::vector<AnyValue>& values);
  static void check_count(size_t expected, size_t got);
  [[noreturn]] static void throw_other_argument(size_t position, const std::type_info& expected,
                                                const std::type_info& got);
  [[noreturn]] void throw_other_class(const std::type_info& asked) const;
  Tensor forward_one(Tensor x) const;
  AnyValue call(std::vector<AnyValue> values) const;

  std::shared_ptr<Module> module_;
  Tensor (*forward_)(Module&, Tensor) = nullptr;  // set if the module accepts a single tensor
  Caller call_ = nullptr;                         // null if forward_ is enough
};

}  // namespace ambit::nn
