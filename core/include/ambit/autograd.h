// Autograd as a user sees it: grad modes, grad(), custom functions. Ops record themselves with
// detail/record.h; the engine is core/autograd/autograd.cpp.
#pragma once

#include <ambit/tensor.h>

#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ambit {

/// Whether ops of this thread record gradients.
class AMBIT_API GradMode {
 public:
  static bool is_enabled() { return enabled(); }
  static void set_enabled(bool on) { enabled() = on; }

 private:
  static bool& enabled();
};

/// Set the grad mode for a scope.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool on) : before_(GradMode::is_enabled()) { GradMode::set_enabled(on); }
  ~AutoGradMode() { GradMode::set_enabled(before_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool before_;
};

/// `NoGradGuard no_grad;`: nothing in the scope records gradients.
struct NoGradGuard : AutoGradMode {
  NoGradGuard() : AutoGradMode(false) {}
};

namespace autograd {

/// Compute and accumulate into `.grad` of all leaves the gradients of `roots`, weighted by
/// `gradients` (undefined or left out: ones, for one-element roots only).
/// Errors: AutogradError (no graph, graph freed, saved tensor changed in place), ShapeError.
AMBIT_API void backward(TensorList roots, TensorList gradients = {}, bool retain_graph = false,
                        bool create_graph = false);

/// Return the gradients of `outputs` with respect to `inputs`. No `.grad` changes, but those that
/// retain_grad() asked for.
/// An input that does not take part throws AutogradError, or with allow_unused is undefined.
AMBIT_API std::vector<Tensor> grad(TensorList outputs, TensorList inputs,
                                   TensorList grad_outputs = {}, bool retain_graph = false,
                                   bool create_graph = false, bool allow_unused = false);

/// While on, a backward op that returns NaN throws AutogradError with the op's name, and so does
/// the forward name of an op whose backward throws. Slow. Off by default.
AMBIT_API void set_detect_anomaly(bool on);
AMBIT_API bool detect_anomaly();

/// What a custom function's forward leaves for its backward.
class AMBIT_API AutogradContext {
 public:
  void save_for_backward(std::vector<Tensor> tensors) { to_save_ = std::move(tensors); }
  /// Errors: AutogradError when one of them was changed in place since.
  std::vector<Tensor> get_saved_variables() const;
  /// Say that an output never needs a gradient.
  void mark_non_differentiable(const std::vector<Tensor>& outputs) { constants_ = outputs; }
  /// Return whether input i (counting tensors only) needs a gradient.
  bool needs_input_grad(size_t i) const { return i < needs_grad_.size() && needs_grad_[i]; }

  std::unordered_map<std::string, Scalar> saved_data;  ///< anything else backward needs

 private:
  friend struct CustomNode;
  friend AMBIT_API std::vector<Tensor> apply_custom(
      const char*, const std::vector<Tensor>&,
      const std::function<std::vector<Tensor>(AutogradContext*)>&,
      std::function<std::vector<Tensor>(AutogradContext*, std::vector<Tensor>)>);
  std::vector<Tensor> to_save_, constants_;
  std::vector<bool> needs_grad_;
  struct SavedList;
  std::shared_ptr<SavedList> saved_;
};

/// Run `forward` without recording, and record `backward` for its outputs; see Function.
AMBIT_API std::vector<Tensor> apply_custom(
    const char* name, const std::vector<Tensor>& inputs,
    const std::function<std::vector<Tensor>(AutogradContext*)>& forward,
    std::function<std::vector<Tensor>(AutogradContext*, std::vector<Tensor>)> backward);

/// A user's differentiable function, as libtorch's torch::autograd::Function:
///   struct Exp : autograd::Function<Exp> {
///     static Tensor forward(AutogradContext* ctx, const Tensor& x);
///     static std::vector<Tensor> backward(AutogradContext* ctx, std::vector<Tensor> grads);
///   };
///   Tensor y = Exp::apply(x);
/// backward returns one gradient per tensor argument of forward, undefined where there is none.
template <class Derived>
struct Function {
  template <class... Args>
  static auto apply(const Args&... args) {
    using Result = decltype(Derived::forward(nullptr, args...));
    std::vector<Tensor> inputs;
    (collect(inputs, args), ...);
    auto outputs = apply_custom(
        "Function", inputs,
        [&](AutogradContext* ctx) -> std::vector<Tensor> {
          if constexpr (std::is_same_v<Result, Tensor>) {
            return {Derived::forward(ctx, args...)};
          } else {
            return Derived::forward(ctx, args...);
          }
        },
        [](AutogradContext* ctx, std::vector<Tensor> g) {
          return Derived::backward(ctx, std::move(g));
        });
    if constexpr (std::is_same_v<Result, Tensor>) {
      return outputs[0];
    } else {
      return outputs;
    }
  }

 private:
  template <class T>
  static void collect(std::vector<Tensor>& to, const T& arg) {
    if constexpr (std::is_same_v<T, Tensor>) to.push_back(arg);
  }
};

}  // namespace autograd
}  // namespace ambit
