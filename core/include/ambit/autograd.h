// Autograd's public interface: grad modes, grad(), anomaly mode, custom functions. The graph's
// nodes are in node.h. Ops record themselves with detail/record.h; the engine is
// core/autograd/autograd.cpp.
#pragma once

#include <ambit/node.h>
#include <ambit/tensor.h>
#include <ambit/value.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ambit {

/// The grad mode of this thread: whether ops record gradients. Default: on.
class AMBIT_API GradMode {
 public:
  static bool is_enabled() { return enabled(); }  ///< the mode of this thread
  /// Set the grad mode of this thread; prefer a guard. In InferenceMode the grad mode remains off.
  static void set_enabled(bool on);

 private:
  static bool& enabled();
};

/// Set the grad mode for a scope.
class AutoGradMode {
 public:
  /// on: record gradients.
  explicit AutoGradMode(bool on) : before_(GradMode::is_enabled()) { GradMode::set_enabled(on); }
  /// Restore the previous mode.
  ~AutoGradMode() { GradMode::set_enabled(before_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool before_;
};

/// `NoGradGuard no_grad;`: nothing in the scope records gradients.
struct NoGradGuard : AutoGradMode {
  /// Switch recording off until the end of the scope.
  NoGradGuard() : AutoGradMode(false) {}
};

namespace autograd {

/// Compute the gradients of `roots` and add them to `.grad` of all leaves of the graph that require
/// grad:
///   leaf.grad += sum over roots r of gradients[r] * d roots[r] / d leaf
/// gradients: one for each root, of its shape, dtype and device; an undefined one, or an omitted
/// list, means 1 and is allowed for one-element roots only. A leaf without `.grad` gets one, of its
/// shape.
/// retain_graph: keep the tensors saved in the graph, so that backward can run through it again;
/// default: create_graph. Otherwise they are freed during backward, and a second call throws unless
/// no op on its path saved a tensor (sum saves none).
/// create_graph: also record the computation of the gradients, so that they can be differentiated
/// again. Such a `.grad` holds the graph, and the graph holds its leaves: reset it when done.
/// inputs: if not empty, only their `.grad` changes and only the paths to them are computed;
/// non-leaf inputs get retain_grad(). Empty: all leaves.
/// Errors: AutogradError (a root or an input without a graph, a freed graph, a saved tensor changed
/// in place since, a number of gradients other than that of roots), ShapeError, DTypeError,
/// DeviceMismatchError; no `.grad` of a leaf has changed then. Source: torch.autograd.backward.
AMBIT_API void backward(TensorList roots, TensorList gradients = {},
                        std::optional<bool> retain_graph = {}, bool create_graph = false,
                        TensorList inputs = {});

/// Return the gradients of `outputs` with respect to `inputs`, one for each input, of its shape:
///   sum over outputs o of grad_outputs[o] * d outputs[o] / d input
/// No `.grad` changes, except those requested by retain_grad(). Inputs may be leaves or results of
/// ops. grad_outputs, retain_graph and create_graph: see backward(); for a second derivative, set
/// create_graph in the first call.
/// Errors: those of backward(); AutogradError for no inputs, for an input that does not require
/// grad, and for an input that the outputs do not depend on (with allow_unused: an undefined
/// gradient).
AMBIT_API std::vector<Tensor> grad(TensorList outputs, TensorList inputs,
                                   TensorList grad_outputs = {},
                                   std::optional<bool> retain_graph = {}, bool create_graph = false,
                                   bool allow_unused = false);

/// While on, in all threads, a backward op that throws or (if check_nan) returns NaN raises an
/// AutogradError with the name of the forward op. Slow. Default: off.
class AMBIT_API AnomalyMode {
 public:
  static bool is_enabled();        ///< the mode, of all threads
  static bool should_check_nan();  ///< whether NaN is an error while the mode is on
  /// Set the mode, for all threads.
  static void set_enabled(bool on, bool check_nan = true);
};

/// Set the anomaly mode for a scope.
class DetectAnomalyGuard {
 public:
  /// Switch it on; check_nan as AnomalyMode::set_enabled().
  explicit DetectAnomalyGuard(bool check_nan = true)
      : was_on_(AnomalyMode::is_enabled()), checked_nan_(AnomalyMode::should_check_nan()) {
    AnomalyMode::set_enabled(true, check_nan);
  }
  /// Restore the previous mode.
  ~DetectAnomalyGuard() { AnomalyMode::set_enabled(was_on_, checked_nan_); }
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  bool was_on_, checked_nan_;
};

struct CustomCall;  // core/autograd/custom_function.cpp

/// State that a custom function's forward passes to its backward.
class AMBIT_API AutogradContext {
 public:
  /// Tensor arguments first to last, `last` excluded.
  using IndexRange = std::pair<size_t, size_t>;

  /// Function::apply() creates the context.
  AutogradContext() = default;
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  /// Save inputs and outputs of forward until the graph is freed. For other data: saved_data.
  void save_for_backward(variable_list tensors) { to_save_ = std::move(tensors); }
  /// Return the saved tensors, in the order of saving. Errors: AutogradError if one was changed in
  /// place since, or the graph has been freed.
  variable_list get_saved_variables() const;
  /// Declare that forward wrote these inputs in place and returns them as outputs.
  void mark_dirty(const variable_list& inputs) { dirty_ = inputs; }
  /// Declare that these outputs never need a gradient.
  void mark_non_differentiable(const variable_list& outputs) { constants_ = outputs; }
  /// Set whether backward gets zeros (the default) or undefined as gradients of unused outputs.
  void set_materialize_grads(bool value) { materializes_ = value; }
  /// Return true if the gradient of tensor argument i is needed.
  bool needs_input_grad(size_t i) const { return i < wanted_.size() && wanted_[i]; }
  /// Return true if the gradient of any tensor argument in the ranges is needed.
  bool needs_input_grad(std::initializer_list<IndexRange> ranges) const;

  std::unordered_map<std::string, Value> saved_data;  ///< other data that backward needs

 private:
  friend struct CustomCall;
  friend struct CustomNode;
  variable_list to_save_, dirty_, constants_;
  std::vector<uint8_t> wanted_;  // one for each tensor argument
  bool materializes_ = true;
  struct SavedList;
  std::shared_ptr<SavedList> saved_;
};

/// A call of Function::apply(): the arguments, and the name and backward of the function.
struct AMBIT_API CustomCall {
  const char* name;                     ///< name of the function, with static lifetime
  variable_list inputs = {};            ///< the tensor arguments, in order
  std::vector<uint8_t> is_tensor = {};  ///< one for each argument; each tensor of a list counts
  /// Function::backward of the user's class.
  std::function<variable_list(AutogradContext*, variable_list)> backward = {};

  /// Add an argument of forward; arguments that are not tensors have no gradient.
  /// @{
  void add(const Tensor& t);
  void add(const std::optional<Tensor>& t);
  void add(TensorList list);
  template <class T>
  void add_argument(const T& argument) {
    if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, std::optional<Tensor>> ||
                  std::is_same_v<T, TensorList>) {
      add(argument);
    } else {
      is_tensor.push_back(0);
    }
  }
  /// @}
  /// Run `forward` without recording, then record `backward` for its floating-point outputs if an
  /// input requires grad.
  variable_list run(const std::function<variable_list(AutogradContext*)>& forward);
  /// Return the unqualified name of a class; the string has static lifetime.
  static const char* name_of(const std::type_info& type);

 private:
  void record(std::shared_ptr<AutogradContext> context, variable_list& outputs);
};

/// A user's differentiable function, as libtorch's torch::autograd::Function:
///   struct Scale : autograd::Function<Scale> {
///     static Tensor forward(AutogradContext* ctx, const Tensor& x, double factor) {
///       ctx->saved_data["factor"] = factor;
///       return x * factor;
///     }
///     static variable_list backward(AutogradContext* ctx, variable_list grads) {
///       return {grads[0] * ctx->saved_data["factor"].toDouble(), Tensor()};
///     }
///   };
///   Tensor y = Scale::apply(x, 2.0);
/// forward accepts tensors (also as std::optional<Tensor> and TensorList), which may need
/// gradients, and any other arguments; it returns a tensor or a vector of tensors. backward gets
/// the gradients of the outputs and returns one per *argument* of forward (one per tensor of a
/// TensorList), undefined where there is none; extra undefined ones are ignored. backward is
/// written in ops and may be differentiated itself.
/// Errors in backward: AutogradError for a wrong number of gradients, a gradient for a non-tensor
/// argument, or a shape that does not sum to the input's; DeviceMismatchError. After forward:
/// AutogradError for a leaf that requires grad and is marked dirty, and for a dirty input that
/// forward does not return.
template <class Derived>
struct Function {
  /// Call forward and record backward; return the result of forward.
  template <class X = Derived, class... Args>
  static auto apply(Args&&... args) -> decltype(X::forward(nullptr, std::declval<Args>()...)) {
    static_assert(std::is_same_v<X, Derived>, "apply() takes no template arguments");
    using Result = decltype(X::forward(nullptr, std::declval<Args>()...));
    static_assert(std::is_same_v<Result, Tensor> || std::is_same_v<Result, variable_list>,
                  "forward() returns a Tensor or a std::vector<Tensor>");
    static const char* const name = CustomCall::name_of(typeid(Derived));
    CustomCall call{name};
    (call.add_argument(args), ...);
    call.backward = [](AutogradContext* ctx, variable_list g) {
      return Derived::backward(ctx, std::move(g));
    };
    auto outputs = call.run([&](AutogradContext* ctx) -> variable_list {
      if constexpr (std::is_same_v<Result, Tensor>) {
        return {X::forward(ctx, std::forward<Args>(args)...)};
      } else {
        return X::forward(ctx, std::forward<Args>(args)...);
      }
    });
    if constexpr (std::is_same_v<Result, Tensor>) {
      return outputs[0];
    } else {
      return outputs;
    }
  }
};

}  // namespace autograd
}  // namespace ambit
