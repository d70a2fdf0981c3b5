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

/// Whether ops of this thread record gradients; each thread has its own mode, at first on.
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

/// Compute the gradients of `roots` and add them to `.grad` of all leaves below that require grad.
///   leaf.grad += sum over roots r of gradients[r] * d roots[r] / d leaf
/// gradients: one for each root, of its shape, dtype and device; undefined, or the list left out:
/// 1, for one-element roots only. Where a leaf has no `.grad` yet it gets one, of its shape.
/// retain_graph: keep what the graph saved for its formulas, so that backward can run through it
/// again; else it is freed as it is used, and a second time throws.
/// create_graph: record the computation of the gradients too, so that they can be differentiated
/// again, and keep the graph, whatever retain_graph says. A `.grad` made so holds the graph, and
/// the graph its leaves: reset it when done.
/// Errors: AutogradError (a root without graph, a graph freed, a saved tensor changed in place
/// since, a number of gradients other than that of roots), ShapeError, DTypeError,
/// DeviceMismatchError. No `.grad` of a leaf has changed then. Source: torch.autograd.backward.
AMBIT_API void backward(TensorList roots, TensorList gradients = {}, bool retain_graph = false,
                        bool create_graph = false);

/// Return the gradients of `outputs` with respect to `inputs`, one for each input, of its shape:
///   sum over outputs o of grad_outputs[o] * d outputs[o] / d input
/// No `.grad` changes, but those that retain_grad() asked for. Inputs may be leaves or results of
/// ops. grad_outputs, retain_graph and create_graph as gradients and so on of backward(): a second
/// derivative takes create_graph for the first.
/// Errors: those of backward(); AutogradError for an input that does not require grad, and for one
/// that took no part, which with allow_unused is an undefined gradient.
AMBIT_API std::vector<Tensor> grad(TensorList outputs, TensorList inputs,
                                   TensorList grad_outputs = {}, bool retain_graph = false,
                                   bool create_graph = false, bool allow_unused = false);

/// While on, a backward op that returns NaN throws AutogradError with the op's name, and so does
/// the forward name of an op whose backward throws. Slow. Off by default.
AMBIT_API void set_detect_anomaly(bool on);
/// Return whether it is on.
AMBIT_API bool detect_anomaly();

/// What a custom function's forward leaves for its backward.
class AMBIT_API AutogradContext {
 public:
  /// Keep inputs and outputs of forward until the graph is freed. Anything else: saved_data.
  void save_for_backward(std::vector<Tensor> tensors) { to_save_ = std::move(tensors); }
  /// Return them, in the order of saving. Errors: AutogradError when one of them was changed in
  /// place since, or the graph has been freed.
  std::vector<Tensor> get_saved_variables() const;
  /// Say that these outputs never need a gradient.
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

/// Run `forward` without recording, and record `backward` for its floating-point outputs, if an
/// input requires grad; see Function. Errors in backward: AutogradError for another number of
/// gradients than inputs or a shape that does not sum to the input's, DeviceMismatchError.
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
/// forward takes tensors, which may need gradients, and anything else, and returns a tensor or a
/// vector of them. backward takes the gradients of its outputs, undefined for one that was not
/// used, and returns one per tensor argument of forward, undefined where there is none.
template <class Derived>
struct Function {
  /// Call forward and record backward; return what forward does.
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
