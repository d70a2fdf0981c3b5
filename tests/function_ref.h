// A parameter for callables, like const std::function<...>&, but with two instantiated functions
// per lambda instead of about fifteen: tests have thousands of lambdas.
#pragma once

#include <type_traits>
#include <utility>

template <class Signature>
class FunctionRef;

/// Refers to a callable without owning it: for parameters, not for members or variables.
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
  requires(!std::is_same_v<F, FunctionRef> && (std::is_class_v<F> || std::is_pointer_v<F>))
      FunctionRef(const F& f)  // NOLINT(google-explicit-constructor): as std::function converts
      : object_(&f), call_([](const void* object, Args... args) -> R {
          return (*static_cast<const F*>(object))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  const void* object_;
  R (*call_)(const void*, Args...);
};
