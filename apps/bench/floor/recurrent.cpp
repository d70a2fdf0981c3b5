#include "recurrent.h"

#include <cstring>
#include <utility>
#include <vector>

#include "operand.h"

namespace bench::floor {

using dnnl::memory;
using Tag = memory::format_tag;

namespace {

constexpr auto kDirection = dnnl::rnn_direction::unidirectional_left2right;
constexpr memory::dim kGates = 4;  // in PyTorch's order, which is oneDNN's
constexpr size_t kOperands = 4;    // of a layer

memory::desc any(const memory::dims& sizes) { return describe(sizes, Tag::any); }

}  // namespace

Lstm::Lstm(const Specification& s)
    : with_gradients_(s.operands[0].requires_grad),
      T_(s.operands[0].sizes[0]),
      B_(s.operands[0].sizes[1]),
      H_(s.operands[2].sizes[1]),
      layers_(static_cast<memory::dim>((s.operands.size() - 1) / kOperands)) {
  const memory input = borrow(s.operands[0]);
  const Weights weights = gather(s);
  make_forward(weights, input);
  if (with_gradients_) make_backward(weights, input, borrow(s.operands.back()));
}

// One block of all layers: [layers, 1, 4, H, I], and the two biases as their sum.
Lstm::Weights Lstm::gather(const Specification& s) const {
  const memory::dims sizes{layers_, 1, H_, kGates, H_};
  const Weights all{allocate(describe(sizes, Tag::ldgoi)), allocate(describe(sizes, Tag::ldgoi)),
                    allocate(describe({layers_, 1, kGates, H_}, Tag::ldgo))};
  const auto rows = static_cast<size_t>(kGates * H_), matrix = rows * static_cast<size_t>(H_);
  for (size_t l = 0; l < static_cast<size_t>(layers_); ++l) {
    const Operand* const layer = &s.operands[1 + l * kOperands];
    const auto to = [](const memory& m) { return static_cast<float*>(m.get_data_handle()); };
    std::memcpy(to(all.layer) + l * matrix, layer[0].values, matrix * sizeof(float));
    std::memcpy(to(all.iter) + l * matrix, layer[1].values, matrix * sizeof(float));
    for (size_t i = 0; i < rows; ++i) {
      to(all.bias)[l * rows + i] = layer[2].values[i] + layer[3].values[i];
    }
  }
  return all;
}

memory Lstm::bring(const memory& from, const memory::desc& to) {
  if (with_gradients_) return calls_.add_reorder(from, to);
  const memory there = allocate(to);
  copy(from, there);
  return there;
}

void Lstm::make_forward(const Weights& weights, const memory& input) {
  const memory::dims sizes{layers_, 1, H_, kGates, H_};
  const auto prop =
      with_gradients_ ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  forward_ = {{prop,
               kDirection,
               input.get_desc(),
               {},
               {},
               any(sizes),
               any(sizes),
               weights.bias.get_desc(),
               row_major({T_, B_, H_}),
               {},
               {}},
              engine()};
  out_ = allocate(forward_.dst_layer_desc());
  if (with_gradients_) workspace_ = allocate(forward_.workspace_desc());
  std::vector<std::pair<int, memory>> arguments{
      {DNNL_ARG_SRC_LAYER, input},
      {DNNL_ARG_WEIGHTS_LAYER, bring(weights.layer, forward_.weights_layer_desc())},
      {DNNL_ARG_WEIGHTS_ITER, bring(weights.iter, forward_.weights_iter_desc())},
      {DNNL_ARG_BIAS, weights.bias},
      {DNNL_ARG_DST_LAYER, out_}};
  if (with_gradients_) arguments.emplace_back(DNNL_ARG_WORKSPACE, workspace_);
  calls_.add(dnnl::lstm_forward(forward_), arguments);
}

void Lstm::make_backward(const Weights& weights, const memory& input, const memory& dy) {
  const memory::dims sizes{layers_, 1, H_, kGates, H_};
  const memory::desc bias = weights.bias.get_desc();
  const dnnl::lstm_backward::primitive_desc backward({dnnl::prop_kind::backward,
                                                      kDirection,
                                                      input.get_desc(),
                                                      {},
                                                      {},
                                                      any(sizes),
                                                      any(sizes),
                                                      bias,
                                                      out_.get_desc(),
                                                      {},
                                                      {},
                                                      input.get_desc(),
                                                      {},
                                                      {},
                                                      any(sizes),
                                                      any(sizes),
                                                      bias,
                                                      dy.get_desc(),
                                                      {},
                                                      {}},
                                                     engine(), forward_);
  gradients_ = {allocate(backward.diff_weights_layer_desc()),
                allocate(backward.diff_weights_iter_desc()), allocate(bias)};
  calls_.add(dnnl::lstm_backward(backward),
             {{DNNL_ARG_SRC_LAYER, input},
              {DNNL_ARG_WEIGHTS_LAYER, bring(weights.layer, backward.weights_layer_desc())},
              {DNNL_ARG_WEIGHTS_ITER, bring(weights.iter, backward.weights_iter_desc())},
              {DNNL_ARG_BIAS, weights.bias},
              {DNNL_ARG_DST_LAYER, out_},
              {DNNL_ARG_WORKSPACE, workspace_},
              {DNNL_ARG_DIFF_DST_LAYER, dy},
              {DNNL_ARG_DIFF_SRC_LAYER, allocate(input.get_desc())},
              {DNNL_ARG_DIFF_WEIGHTS_LAYER, gradients_[0]},
              {DNNL_ARG_DIFF_WEIGHTS_ITER, gradients_[1]},
              {DNNL_ARG_DIFF_BIAS, gradients_[2]}});
}

void Lstm::run() {
  for (const memory& gradient : gradients_) {
    std::memset(gradient.get_data_handle(), 0, gradient.get_desc().get_size());
  }
  calls_.run();
}

// The gradient of the last bias is that of the sum; of the last layer.
double Lstm::result() {
  if (!with_gradients_) return sum(out_);
  const auto* const bias = static_cast<const float*>(gradients_[2].get_data_handle());
  double all = 0;
  for (memory::dim i = (layers_ - 1) * kGates * H_; i < layers_ * kGates * H_; ++i) all += bias[i];
  return all;
}

}  // namespace bench::floor
