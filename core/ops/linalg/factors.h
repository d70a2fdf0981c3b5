// Unrecorded calls of the factorisation kernels, and the node of ops with several differentiable
// outputs.
#pragma once

#include <ambit/autograd.h>
#include <ambit/detail/record.h>
#include <ambit/tensor.h>

#include <array>
#include <functional>
#include <utility>

namespace ambit {

struct LuFactors {
  Tensor lu, pivots, info;  ///< [...,M,N], int32 [...,min(M,N)], int32 [...]
};
LuFactors factor_lu(const char* op, const Tensor& A);
/// Solve with these factors, unrecorded: B [...,N,K], whose batch broadcasts with lu's.
Tensor solve_lu(const char* op, const Tensor& lu, const Tensor& pivots, const Tensor& B,
                bool transpose);
/// Solve A^H x = B with A's factors, likewise.
Tensor solve_adjoint(const char* op, const LuFactors& f, const Tensor& B);

struct EighFactors {
  Tensor values, vectors;
};
/// Errors: LinAlgError.
EighFactors factor_eigh(const char* op, const Tensor& A, bool upper, bool with_vectors);

struct SvdFactors {
  Tensor u, s, vh;
};
/// Errors: LinAlgError.
SvdFactors factor_svd(const char* op, const Tensor& A, bool full, bool with_vectors);

/// The history of N outputs; the formula gives the gradient of the single input.
template <size_t N>
class FactorNode final : public Node {
 public:
  using Tensors = std::array<Tensor, N>;
  /// Called with the outputs' gradients, some of which may be undefined, and the outputs.
  using Formula = std::function<Tensor(const Tensors& g, const Tensors& outputs)>;

  FactorNode(const char* name, const Tensor& input, const Tensors& outputs, Formula formula)
      : Node(name, N), edge_(gradient_edge(input)), formula_(std::move(formula)) {
    for (size_t i = 0; i < N; ++i) outputs_[i] = Saved(outputs[i], static_cast<int>(i));
  }

  void apply(std::span<const Tensor> out, std::span<Tensor> in,
             std::span<const uint8_t> wanted) override {
    Tensors g, y;
    bool any = false;
    for (size_t i = 0; i < N; ++i) {
      g[i] = out[i];
      any |= out[i].defined();
    }
    if (!any || !wanted[0] || !formula_) return;
    for (size_t i = 0; i < N; ++i) y[i] = outputs_[i]();
    in[0] = formula_(g, y);
  }
  bool release() override {
    outputs_ = {};
    formula_ = nullptr;
    return true;
  }
  std::span<Edge> edges() override { return {&edge_, 1}; }

 private:
  Edge edge_;
  std::array<Saved, N> outputs_;
  Formula formula_;
};

template <size_t N>
void record_factors(const char* name, const Tensor& input, const std::array<Tensor, N>& outputs,
                    typename FactorNode<N>::Formula formula) {
  if (!input.requires_grad() || !GradMode::is_enabled()) return;
  const intrusive_ptr<Node> node(new FactorNode<N>(name, input, outputs, std::move(formula)));
  for (size_t i = 0; i < N; ++i) set_history(outputs[i], node, static_cast<uint32_t>(i));
}

}  // namespace ambit
