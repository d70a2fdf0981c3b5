// Base and macro of option classes: setters that chain, as in `Conv2dOptions(3, 6, 5).stride(1)`.
#pragma once

#include <ambit/params.h>

#include <type_traits>
#include <utility>

namespace ambit::nn {

/// Base of an option class `Self`. Each option has a setter of its name, which returns the options,
/// and most have a getter. Values are checked when the module or optimizer is constructed or runs.
template <class Self>
class Options {
 protected:
  /// Set a field and return the options, so that setters chain.
  template <class T>
  Self& set(T& field, std::type_identity_t<T> value) {
    field = std::move(value);
    return static_cast<Self&>(*this);
  }
};

/// Declare one option of the class `Self`: its setter and getters. The default follows the macro:
///   class ELUOptions : public Options<ELUOptions> {
///     AMBIT_OPTION(ELUOptions, double, alpha) = 1;
///   };
#define AMBIT_OPTION(Self, Type, name)         \
 public:                                       \
  Self& name(Type value) {                     \
    name##_ = std::move(value);                \
    return static_cast<Self&>(*this);          \
  }                                            \
  const Type& name() const { return name##_; } \
  Type& name() { return name##_; }             \
                                               \
 private:                                      \
  Type name##_

}  // namespace ambit::nn
