// LSTM and GRU of several layers by oneDNN's own primitives for whole sequences.
#pragma once

#include <cstddef>

#include "calls.h"
#include "peer.h"

namespace bench::floor {

/// What the two differ in: the primitives, and which of PyTorch's gates is each of oneDNN's.
struct LstmKind {
  using Forward = dnnl::lstm_forward;
  using Backward = dnnl::lstm_backward;
  static constexpr size_t kGates[] = {0, 1, 2, 3};
  static constexpr bool kHasCell = true;
};
/// The reset gate is behind the product with the state, as in PyTorch; the new gate's second bias,
/// which is inside, is a fourth row.
struct GruKind {
  using Forward = dnnl::lbr_gru_forward;
  using Backward = dnnl::lbr_gru_backward;
  static constexpr size_t kGates[] = {1, 0, 2};
  static constexpr bool kHasCell = false;
};

/// Operands: input [T,B,I], of each layer w_ih [G H,I], w_hh [G H,H], b_ih, b_hh [G H] of G gates,
/// then the gradient of the output [T,B,H]; I = H. The state before the first step is 0, the
/// weights are brought into their layouts once, or where they are trained in every run.
template <class Kind>
class Recurrent : public Work {
 public:
  explicit Recurrent(const Specification& specification);
  void run() override;
  double result() override;

 private:
  struct Weights {
    dnnl::memory layer, iter, bias;
  };
  Weights gather(const Specification& s) const;
  void make_forward(const Weights& weights, const dnnl::memory& input);
  void make_backward(const Weights& weights, const dnnl::memory& input, const dnnl::memory& dy);
  /// Bring it there once, or in every run.
  dnnl::memory bring(const dnnl::memory& from, const dnnl::memory::desc& to);

  bool with_gradients_;
  dnnl::memory::dim T_, B_, H_, layers_;
  typename Kind::Forward::primitive_desc forward_;
  dnnl::memory out_, workspace_;
  std::vector<dnnl::memory> gradients_;  // of the weights: oneDNN adds to what is there
  Calls calls_;
};
using Lstm = Recurrent<LstmKind>;
using Gru = Recurrent<GruKind>;

}  // namespace bench::floor
