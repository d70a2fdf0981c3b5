// Functional: a function as a module, for use in a Sequential.
#pragma once

#include <ambit/nn/cloneable.h>

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace ambit::nn {

/// A module whose forward() calls a function from tensor to tensor; no parameters. It prints as
/// Functional(); clones share the state of the function object.
class AMBIT_API FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Tensor(const Tensor&)>;

  /// Call `function(x)`: nn::Functional([](const Tensor& x) { return x.flatten(1); }).
  explicit FunctionalImpl(Function function);
  /// Call `function(x, arguments...)` with copies of the arguments: nn::Functional(ambit::softmax,
  /// 1). A last argument of type optional may be omitted or std::nullopt, as in libtorch; a last
  /// bool may be omitted and is then false: nn::Functional(ambit::leaky_relu, 0.2).
  template <class F, class... Args>
  requires(sizeof...(Args) > 0 ||
           !std::is_invocable_v<F&, const Tensor&>) explicit FunctionalImpl(F function,
                                                                            Args... arguments)
      : function_([function, arguments...](const Tensor& x) {
          if constexpr (std::is_invocable_v<const F&, const Tensor&, const Args&...>) {
            return function(x, arguments...);
          } else if constexpr (std::is_invocable_v<const F&, const Tensor&, const Args&...,
                                                   std::nullopt_t>) {
            return function(x, arguments..., std::nullopt);
          } else {
            return function(x, arguments..., false);
          }
        }) {}

  void reset() override;
  bool is_serializable() const override { return false; }
  Tensor forward(const Tensor& input);

 private:
  Function function_;
};
AMBIT_MODULE(Functional);

}  // namespace ambit::nn
