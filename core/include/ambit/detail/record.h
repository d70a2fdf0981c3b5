// How an op records its gradient:
//   return record("mul", out, wrt(a, [b = saved(b)](const Tensor& g) { return g * b(); }),
//                             wrt(b, [a = saved(a)](const Tensor& g) { return g * a(); }));
// Formulas are written in public ops, so that double backward works. Only those of inputs that
// require grad are kept. Each formula is one std::optional<lambda> in the node, not a
// std::function.
#pragma once

#include <ambit/autograd.h>
#include <ambit/node.h>
#include <ambit/tensor.h>

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ambit {

/// Return the edge for a gradient of `t`; empty if it needs none.
AMBIT_API Edge gradient_edge(const Tensor& t);

/// A tensor saved for a formula. operator() throws AutogradError if its data changed since. Saved
/// holds a leaf that requires grad itself, but only data and node of other tensors, because an
/// in-place write could make the tensor the head of a graph that contains this Saved (a reference
/// cycle).
/// A formula is moved into its node. The move throws AutogradError for a tensor of InferenceMode.
class AMBIT_API Saved {
 public:
  Saved() = default;
  /// `output`: index of `t` among the outputs of the op being recorded; -1: an input.
  Saved(const Tensor& t, int output);
  // Neither is noexcept, so that formulas that save tensors can be detected; see saves_tensors.
  Saved(Saved&& o) noexcept(false)
      : tensor_(std::move(o.tensor_)),
        node_(std::move(o.node_)),
        version_(o.version_),
        replaced_(o.replaced_),
        output_(o.output_),
        is_inference_(o.is_inference_) {
    if (is_inference_) [[unlikely]] {
      throw_inference();
    }
  }
  Saved(const Saved&) noexcept(false) = default;
  Saved& operator=(Saved&&) noexcept = default;
  Saved& operator=(const Saved&) = default;
  Tensor operator()() const;
  /// Save a tensor in a node, without a formula. Errors: those of the move.
  static Saved in_node(const Tensor& t, int output = -1) {
    Saved s(t, output);
    return Saved(std::move(s));
  }

 private:
  [[noreturn]] static void throw_inference();

  Tensor tensor_;
  // The node that produced the tensor; null for a leaf and for an output. If tensor_ is undefined:
  // the CheckpointedPart that computes tensor number output_ again.
  intrusive_ptr<Node> node_;
  uint32_t version_ = 0, replaced_ = 0;
  int output_ = -1;  // index among outputs of the node being recorded, or of node_
  bool is_inference_ = false;
};
/// Save an input of the op. An undefined tensor is allowed and returned undefined.
inline Saved saved(const Tensor& input) { return Saved(input, -1); }
/// Save the op's own output, without a reference cycle. Call it after the kernel ran.
inline Saved saved_output(const Tensor& out) { return Saved(out, 0); }

template <class F>
struct Wrt {
  const Tensor& input;
  F&& formula;
};
/// Pair an input with its formula, which maps the output's gradient to the input's. Refers to both:
/// pass it on in the same expression.
template <class F>
Wrt<F> wrt(const Tensor& input, F&& formula) {
  return {input, std::forward<F>(formula)};
}

/// True if a formula holds a Saved, the only member whose move may throw. A formula without one has
/// nothing to free, and its node works for any number of backwards.
template <class F>
inline constexpr bool saves_tensors = !std::is_nothrow_move_constructible_v<F>;

template <class... F>
class FormulaNode final : public Node {
 public:
  template <class... G>
  explicit FormulaNode(const char* op, Wrt<G>&&... w)
      : Node(op, 1), edges_{gradient_edge(w.input)...} {
    std::apply([&](auto&... kept) { (keep(kept, w), ...); }, formulas_);
  }

  void apply(std::span<const Tensor> out, std::span<Tensor> in,
             std::span<const uint8_t> wanted) override {
    if (out[0].defined()) run(out[0], in, wanted, std::index_sequence_for<F...>());
  }
  bool release() override {
    bool any = false;
    std::apply([&](auto&... f) { ((any = drop(f) || any), ...); }, formulas_);
    return any;
  }
  std::span<Edge> edges() override { return edges_; }

 private:
  template <class Formula, class G>
  static void keep(std::optional<Formula>& kept, Wrt<G>& w) {
    if (w.input.requires_grad()) kept.emplace(std::forward<G>(w.formula));
  }
  template <class Formula>
  static bool drop(std::optional<Formula>& kept) {
    if (!saves_tensors<Formula> || !kept) return false;
    kept.reset();
    return true;
  }
  template <size_t... I>
  void run(const Tensor& g, std::span<Tensor> in, std::span<const uint8_t> wanted,
           std::index_sequence<I...>) {
    ((wanted[I] && std::get<I>(formulas_) ? void(in[I] = (*std::get<I>(formulas_))(g)) : void()),
     ...);
  }

  std::array<Edge, sizeof...(F)> edges_;
  std::tuple<std::optional<F>...> formulas_;
};

/// Set `node` as the history of `out`, its output number `output`.
AMBIT_API void set_history(const Tensor& out, intrusive_ptr<Node> node, uint32_t output = 0);
/// As above, after an in-place write to `self`; for a view, its base's history changes too.
AMBIT_API void set_history_in_place(const Tensor& self, intrusive_ptr<Node> node,
                                    uint32_t output = 0);

/// Attach an op's gradient formulas to its output if an input requires grad; return the output.
template <class... F>
Tensor record(const char* name, Tensor out, Wrt<F>&&... w) {
  if (GradMode::is_enabled() && (w.input.requires_grad() || ...) &&
      is_differentiable(out.dtype())) {
    set_history(out, intrusive_ptr<Node>(
                         new FormulaNode<std::remove_cvref_t<F>...>(name, std::move(w)...)));
  }
  return out;
}

/// As record(), for an in-place op on `self`. Call check_in_place first, before the kernel.
template <class... F>
void record_in_place(const char* name, const Tensor& self, Wrt<F>&&... w) {
  self.bump_version();
  if (GradMode::is_enabled() && (w.input.requires_grad() || ...) &&
      is_differentiable(self.dtype())) {
    set_history_in_place(self, intrusive_ptr<Node>(new FormulaNode<std::remove_cvref_t<F>...>(
                                   name, std::move(w)...)));
  }
}

/// For ops of a list: formula(g, i) is the gradient of tensors[i]; it depends on g only and saves
/// no tensor.
AMBIT_API Tensor record_list(const char* name, Tensor out, TensorList tensors,
                             std::function<Tensor(const Tensor& g, size_t i)> formula);

/// Check that `self` may be written in place. Errors: AutogradError for a leaf that requires grad
/// (or a view of one) while recording, and for a tensor made in InferenceMode outside of it; Error
/// if its elements overlap (expanded views).
AMBIT_API void check_in_place(const char* op, const Tensor& self);
/// Check that an op in place on `self` may save `operand` for self's gradient, before its kernel
/// runs; nothing is checked if `operand` is undefined. Errors: AutogradError for an operand made in
/// InferenceMode.
AMBIT_API void check_savable(const char* op, const Tensor& self, const Tensor& operand);
/// Check that `input` shares no memory with `self`, unless both are the same elements with the same
/// geometry. Errors: Error.
AMBIT_API void check_no_overlap(const char* op, const Tensor& self, const Tensor& input);

/// Return a strided alias of `base` (offset from the start of the storage, in elements), tracked as
/// a view. Records nothing: the view op does.
AMBIT_API Tensor make_view(const Tensor& base, IntArrayRef sizes, IntArrayRef strides,
                           int64_t offset);
/// As above, with elements of another dtype: the real and imaginary parts of complex numbers, or
/// complex numbers made of pairs of such parts. strides and offset count elements of that dtype.
AMBIT_API Tensor make_view(const Tensor& base, IntArrayRef sizes, IntArrayRef strides,
                           int64_t offset, DType dtype);

}  // namespace ambit
