// What option classes are made of: setters that chain, as in `Conv2dOptions(3, 6, 5).stride(1)`,
// and sizes that are one number or two.
#pragma once

#include <ambit/params.h>

#include <initializer_list>
#include <type_traits>
#include <utility>

namespace ambit::nn {

/// Base of an option class `Self`. Each option has a setter of its name, which returns the options,
/// and most have a getter; values are checked when the module or optimizer is made or runs.
template <class Self>
class Options {
 protected:
  /// Set a field and return the options, for the next setter.
  template <class T>
  Self& set(T& field, std::type_identity_t<T> value) {
    field = std::move(value);
    return static_cast<Self&>(*this);
  }
};

/// A size (h, w) as programs write it: 5 or {5, 3}.
class AMBIT_API IntOrPair {
 public:
  IntOrPair(int64_t both) : pair_{both, both} {}
  IntOrPair(const Pair& pair) : pair_(pair) {}
  /// Errors: Error unless there are one or two numbers.
  IntOrPair(std::initializer_list<int64_t> sizes);
  operator const Pair&() const { return pair_; }

 private:
  Pair pair_;
};

}  // namespace ambit::nn
