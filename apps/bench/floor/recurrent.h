// An LSTM of several layers by oneDNN's own primitive for whole sequences.
#pragma once

#include "calls.h"
#include "peer.h"

namespace bench::floor {

/// Operands: input [T,B,I], of each layer w_ih [4H,I], w_hh [4H,H], b_ih, b_hh [4H], then the
/// gradient of the output [T,B,H]; I = H. The state before the first step is 0, the weights are
/// brought into their layouts once, or where they are trained in every run.
class Lstm : public Work {
 public:
  explicit Lstm(const Specification& specification);
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
  dnnl::lstm_forward::primitive_desc forward_;
  dnnl::memory out_, workspace_;
  std::vector<dnnl::memory> gradients_;  // of the weights: oneDNN adds to what is there
  Calls calls_;
};

}  // namespace bench::floor
