#include "recurrent.h"

#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "operand.h"

namespace bench::floor {

using dnnl::memory;
using Tag = memory::format_tag;

namespace {

constexpr auto kDirection = dnnl::rnn_direction::unidirectional_left2right;
constexpr size_t kOperands = 4;  // per layer
constexpr memory::dim kBiases = 4;
template <class Kind>
constexpr memory::dim kGates = std::size(Kind::kGates);

memory::desc any(const memory::dims& sizes) { return describe(sizes, Tag::any); }
float* values(const memory& m) { return static_cast<float*>(m.get_data_handle()); }

}  // namespace

template <class Kind>
Recurrent<Kind>::Recurrent(const Specification& s)
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

// Combine the weights of all layers: [layers, 1, G, H, I], and the two biases as their sum, except
// for the new gate of a GRU.
template <class Kind>
typename Recurrent<Kind>::Weights Recurrent<Kind>::gather(const Specification& s) const {
  const memory::dims sizes{layers_, 1, H_, kGates<Kind>, H_};
  const Weights all{allocate(describe(sizes, Tag::ldgoi)), allocate(describe(sizes, Tag::ldgoi)),
                    allocate(describe({layers_, 1, kBiases, H_}, Tag::ldgo))};
  const auto rows = static_cast<size_t>(H_), matrix = rows * rows;
  for (size_t l = 0; l < static_cast<size_t>(layers_); ++l) {
    const Operand* const layer = &s.operands[1 + l * kOperands];
    float* const bias = values(all.bias) + l * kBiases * rows;
    for (size_t gate = 0; gate < std::size(Kind::kGates); ++gate) {
      const size_t from = Kind::kGates[gate], to = l * std::size(Kind::kGates) + gate;
      const float *of_input = layer[2].values + from * rows,
                  *of_state = layer[3].values + from * rows;
      std::memcpy(values(all.layer) + to * matrix, layer[0].values + from * matrix,
                  matrix * sizeof(float));
      std::memcpy(values(all.iter) + to * matrix, layer[1].values + from * matrix,
                  matrix * sizeof(float));
      const bool apart = !Kind::kHasCell && gate == 2;
      for (size_t i = 0; i < rows; ++i) {
        bias[gate * rows + i] = of_input[i] + (apart ? 0 : of_state[i]);
        if (apart) bias[3 * rows + i] = of_state[i];
      }
    }
  }
  return all;
}

template <class Kind>
memory Recurrent<Kind>::bring(const memory& from, const memory::desc& to) {
  if (with_gradients_) return calls_.add_reorder(from, to);
  const memory there = allocate(to);
  copy(from, there);
  return there;
}

template <class Kind>
void Recurrent<Kind>::make_forward(const Weights& weights, const memory& input) {
  const memory::dims sizes{layers_, 1, H_, kGates<Kind>, H_};
  const auto prop =
      with_gradients_ ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  const memory::desc x = input.get_desc(), w = any(sizes), b = weights.bias.get_desc(),
                     y = row_major({T_, B_, H_}), none;
  if constexpr (Kind::kHasCell) {
    forward_ = {{prop, kDirection, x, none, none, w, w, b, y, none, none}, engine()};
  } else {
    forward_ = {{prop, kDirection, x, none, w, w, b, y, none}, engine()};
  }
  out_ = allocate(forward_.dst_layer_desc());
  if (with_gradients_) workspace_ = allocate(forward_.workspace_desc());
  std::vector<std::pair<int, memory>> arguments{
      {DNNL_ARG_SRC_LAYER, input},
      {DNNL_ARG_WEIGHTS_LAYER, bring(weights.layer, forward_.weights_layer_desc())},
      {DNNL_ARG_WEIGHTS_ITER, bring(weights.iter, forward_.weights_iter_desc())},
      {DNNL_ARG_BIAS, weights.bias},
      {DNNL_ARG_DST_LAYER, out_}};
  if (with_gradients_) arguments.emplace_back(DNNL_ARG_WORKSPACE, workspace_);
  calls_.add(typename Kind::Forward(forward_), arguments);
}

template <class Kind>
void Recurrent<Kind>::make_backward(const Weights& weights, const memory& input, const memory& dy) {
  const memory::dims sizes{layers_, 1, H_, kGates<Kind>, H_};
  const memory::desc x = input.get_desc(), w = any(sizes), b = weights.bias.get_desc(),
                     y = out_.get_desc(), none;
  constexpr auto kProp = dnnl::prop_kind::backward;
  typename Kind::Backward::primitive_desc backward;
  if constexpr (Kind::kHasCell) {
    backward = {{kProp, kDirection, x, none, none,          w,    w,   b, y, none, none, x, none,
                 none,  w,          w, b,    dy.get_desc(), none, none},
                engine(),
                forward_};
  } else {
    backward = {
        {kProp, kDirection, x, none, w, w, b, y, none, x, none, w, w, b, dy.get_desc(), none},
        engine(),
        forward_};
  }
  gradients_ = {allocate(backward.diff_weights_layer_desc()),
                allocate(backward.diff_weights_iter_desc()), allocate(b)};
  calls_.add(typename Kind::Backward(backward),
             {{DNNL_ARG_SRC_LAYER, input},
              {DNNL_ARG_WEIGHTS_LAYER, bring(weights.layer, backward.weights_layer_desc())},
              {DNNL_ARG_WEIGHTS_ITER, bring(weights.iter, backward.weights_iter_desc())},
              {DNNL_ARG_BIAS, weights.bias},
              {DNNL_ARG_DST_LAYER, out_},
              {DNNL_ARG_WORKSPACE, workspace_},
              {DNNL_ARG_DIFF_DST_LAYER, dy},
              {DNNL_ARG_DIFF_SRC_LAYER, allocate(x)},
              {DNNL_ARG_DIFF_WEIGHTS_LAYER, gradients_[0]},
              {DNNL_ARG_DIFF_WEIGHTS_ITER, gradients_[1]},
              {DNNL_ARG_DIFF_BIAS, gradients_[2]}});
}

template <class Kind>
void Recurrent<Kind>::run() {
  for (const memory& gradient : gradients_) {
    std::memset(gradient.get_data_handle(), 0, gradient.get_desc().get_size());
  }
  calls_.run();
}

// Return the gradient of the last layer's last bias. It equals the gradient of the sum of both
// biases, except for a GRU's new gate.
template <class Kind>
double Recurrent<Kind>::result() {
  if (!with_gradients_) return sum(out_);
  const float* const bias = values(gradients_[2]) + (layers_ - 1) * kBiases * H_;
  double all = 0;
  for (memory::dim i = 0; i < kBiases * H_; ++i) {
    if (Kind::kHasCell || i / H_ != 2) all += bias[i];
  }
  return all;
}

template class Recurrent<LstmKind>;
template class Recurrent<GruKind>;

}  // namespace bench::floor
