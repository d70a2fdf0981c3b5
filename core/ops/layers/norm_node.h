// The history of a normalisation, y = (x - mean) * invstd * w + b: one kernel computes all three
// gradients, so it has its own node instead of a formula for each input.
#pragma once

#include <ambit/autograd.h>
#include <ambit/detail/record.h>

#include <array>
#include <span>
#include <utility>

namespace ambit {

/// The gradients of input, weight and bias.
struct NormGrads {
  Tensor dx, dw, db;
};

/// Params: parameters of both gradient functions besides the tensors.
template <class Params>
class NormNode final : public Node {
 public:
  using Way = NormGrads (*)(const Tensor& dy, const Tensor& x, const Tensor& w, const Tensor& mean,
                            const Tensor& invstd, const Params& params);

  /// `run` calls the kernel; `differentiate` computes the same with ops, for double backward.
  NormNode(const char* op, const Tensor& x, const Tensor& w, const Tensor& b, const Tensor& mean,
           const Tensor& invstd, const Params& params, Way run, Way differentiate)
      : Node(op, 1),
        edges_{gradient_edge(x), gradient_edge(w), gradient_edge(b)},
        saved_{Saved::in_node(x), Saved::in_node(w), Saved::in_node(mean), Saved::in_node(invstd)},
        parameters_((w.defined()   ? w
                     : b.defined() ? b
                                   : x)
                        .dtype()),
        params_(params),
        run_(run),
        differentiate_(differentiate) {}

  void apply(std::span<const Tensor> out, std::span<Tensor> in,
             std::span<const uint8_t> wanted) override {
    if (!out[0].defined()) return;
    const auto& [x, w, mean, invstd] = saved_;
    const Way way = GradMode::is_enabled() ? differentiate_ : run_;
    NormGrads g = way(out[0], x(), w(), mean(), invstd(), params_);
    g = {g.dx.to(out[0].dtype()), g.dw.to(parameters_), g.db.to(parameters_)};
    if (wanted[0]) in[0] = std::move(g.dx);
    if (wanted[1]) in[1] = std::move(g.dw);
    if (wanted[2]) in[2] = std::move(g.db);
  }
  bool release() override {
    saved_ = {};
    return true;
  }
  std::span<Edge> edges() override { return edges_; }

 private:
  std::array<Edge, 3> edges_;
  std::array<Saved, 4> saved_;
  DType parameters_;
  Params params_;
  Way run_, differentiate_;
};

}  // namespace ambit
