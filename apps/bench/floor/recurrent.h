// LSTM and GRU of several layers with oneDNN's primitives for whole sequences.
#pragma once

#include <cstddef>

#include "calls.h"
#include "peer.h"

namespace bench::floor {

/// Differences between LSTM and GRU: the primitives, and the order of PyTorch's gates in oneDNN.
struct LstmKind {
  using Forward = dnnl::lstm_forward;
  using Backward = dnnl::lstm_backward;
  static constexpr size_t kGates[] = {0, 1, 2, 3};
  static constexpr bool kHasCell = true;
};
/// The reset gate is applied after the product with the state, as in PyTorch. The second bias of
/// the new gate is added before the reset gate, and is stored as a fourth row.
struct GruKind {
  using Forward = dnnl::lbr_gru_forward;
  using Backward = dnnl::lbr_gru_backward;
  static constexpr size_t kGates[] = {1, 0, 2};
  static constexpr bool kHasCell = false;
};

/// Operands: input [T,B,I], for each layer w_ih [G H,I], w_hh [G H,H], b_ih, b_hh [G H] of G gates,
/// then the output gradient [T,B,H]; I = H. The initial state is 0. Weights are converted to their
/// layouts once, or in every run if they are trained.
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
  /// Convert to the layout, once or in every run.
  dnnl::memory bring(const dnnl::memory& from, const dnnl::memory::desc& to);

  bool with_gradients_;
  dnnl::memory::dim T_, B_, H_, layers_;
  typename Kind::Forward::primitive_desc forward_;
  dnnl::memory out_, workspace_;
  std::vector<dnnl::memory> gradients_;  // of the weights; oneDNN accumulates into them
  Calls calls_;
};
using Lstm = Recurrent<LstmKind>;
using Gru = Recurrent<GruKind>;

}  // namespace bench::floor
