// Recurrent networks as modules. The computation is in recurrent_layers.cpp; cells, which compute
// one step, are in rnn_cell.cpp.
#include <ambit/error.h>
#include <ambit/nn/rnn.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/index.h>
#include <fmt/format.h>

#include <ostream>
#include <utility>

#include "print.h"
#include "quantized_linear.h"
#include "recurrent_step.h"

namespace ambit::nn {

using namespace recurrent;
using utils::rnn::PackedSequence;

namespace detail {

template <class Derived, class O>
RNNImplBase<Derived, O>::RNNImplBase(const O& opts) : options(opts) {
  constexpr const char* op = name_of(kind_of<O>);
  check_size(op, "input_size", opts.input_size(), 0);
  check_size(op, "hidden_size", opts.hidden_size(), 1);
  check_nonlinearity(opts);
  check_size(op, "num_layers", opts.num_layers(), 1);
  check_size(op, "proj_size", projection(opts), 0);
  if (projection(opts) >= opts.hidden_size()) {
    throw Error(fmt::format("{}: expected proj_size below hidden_size, got {} and {}", op,
                            projection(opts), opts.hidden_size()));
  }
  if (!(opts.dropout() >= 0 && opts.dropout() <= 1)) {
    throw Error(fmt::format("{}: expected dropout in [0, 1], got {}", op, opts.dropout()));
  }
  RNNImplBase::reset();
}

template <class Derived, class O>
void RNNImplBase<Derived, O>::reset() {
  const bool is_int8 = !scales_.empty() && scales_[0].defined();
  weights_.clear();
  const int64_t hidden = options.hidden_size(), proj = projection(options);
  const int64_t out = proj > 0 ? proj : hidden, rows = gates(kind_of<O>) * hidden;
  const int directions = options.bidirectional() ? 2 : 1;
  for (int64_t layer = 0; layer < options.num_layers(); ++layer) {
    const int64_t in = layer == 0 ? options.input_size() : out * directions;
    for (int d = 0; d < directions; ++d) {
      const auto add = [&](const char* kind, IntArrayRef sizes) {
        weights_.push_back(this->register_parameter(
            fmt::format("{}_l{}{}", kind, layer, d == 0 ? "" : "_reverse"), empty(sizes)));
      };
      add("weight_ih", {rows, in});
      add("weight_hh", {rows, out});
      if (options.bias()) {
        add("bias_ih", {rows});
        add("bias_hh", {rows});
      }
      if (proj > 0) add("weight_hr", {proj, hidden});
    }
  }
  scales_.assign(weights_.size(), Tensor());
  reset_parameters();
  if (is_int8) quantize_again(*this);
}

template <class Derived, class O>
std::vector<QuantizableWeight> RNNImplBase<Derived, O>::quantizable_weights() {
  std::vector<QuantizableWeight> matrices;
  size_t i = 0;
  const size_t parts =
      static_cast<size_t>(options.num_layers()) * (options.bidirectional() ? 2 : 1);
  const size_t each = weights_.size() / parts, biases = options.bias() ? 2 : 0;
  for (size_t part = 0; part < parts; ++part) {
    const std::string place =
        fmt::format("_l{}{}", options.bidirectional() ? part / 2 : part,
                    options.bidirectional() && part % 2 == 1 ? "_reverse" : "");
    const auto add = [&](const char* kind) {
      matrices.push_back({kind + place, weights_[i], scales_[i]});
      ++i;
    };
    add("weight_ih");
    add("weight_hh");
    i += biases;
    if (each > 2 + biases) add("weight_hr");
  }
  return matrices;
}

template <class Derived, class O>
void RNNImplBase<Derived, O>::reset_parameters() {
  uniform_weights(weights_, options.hidden_size());
}

template <class Derived, class O>
void RNNImplBase<Derived, O>::pretty_print(std::ostream& os) const {
  os << fmt::format("{}{}({}, {}", scales_[0].defined() ? "DynamicQuantized" : "", this->name(),
                    options.input_size(), options.hidden_size());
  if (projection(options) > 0) os << fmt::format(", proj_size={}", projection(options));
  if (options.num_layers() != 1) os << fmt::format(", num_layers={}", options.num_layers());
  if (!options.bias()) os << ", bias=False";
  if (options.batch_first()) os << ", batch_first=True";
  if (options.dropout() != 0) os << fmt::format(", dropout={}", number(options.dropout()));
  if (options.bidirectional()) os << ", bidirectional=True";
  os << ")";
}

template <class Derived, class O>
std::tuple<Tensor, Tensor, Tensor> RNNImplBase<Derived, O>::run(const Tensor& input, Tensor h,
                                                                Tensor c,
                                                                const Tensor& batch_sizes) const {
  return run_layers({.op = name_of(kind_of<O>),
                     .kind = kind_of<O>,
                     .relu = is_relu(options),
                     .weights = weights_,
                     .scales = scales_,
                     .bias = options.bias(),
                     .input_size = options.input_size(),
                     .hidden_size = options.hidden_size(),
                     .proj_size = projection(options),
                     .num_layers = options.num_layers(),
                     .bidirectional = options.bidirectional(),
                     .batch_first = options.batch_first(),
                     .dropout = options.dropout(),
                     .training = this->is_training()},
                    input, std::move(h), std::move(c), batch_sizes);
}

template <class Derived, class O>
std::tuple<PackedSequence, Tensor, Tensor> RNNImplBase<Derived, O>::run_packed(
    const PackedSequence& input, Tensor h, Tensor c) const {
  const auto sorted = [](const Tensor& s, const Tensor& order) {
    return s.defined() && order.defined() ? s.index_select(1, order) : s;
  };
  const auto [data, last_h, last_c] = run(input.data(), sorted(h, input.sorted_indices()),
                                          sorted(c, input.sorted_indices()), input.batch_sizes());
  return {
      PackedSequence(data, input.batch_sizes(), input.sorted_indices(), input.unsorted_indices()),
      sorted(last_h, input.unsorted_indices()), sorted(last_c, input.unsorted_indices())};
}

template class RNNImplBase<RNNImpl, RNNOptions>;
template class RNNImplBase<LSTMImpl, LSTMOptions>;
template class RNNImplBase<GRUImpl, GRUOptions>;

}  // namespace detail

RNNImpl::RNNImpl(const RNNOptions& opts) : RNNImplBase(opts) {}
RNNImpl::RNNImpl(int64_t input_size, int64_t hidden_size)
    : RNNImpl(RNNOptions(input_size, hidden_size)) {}
std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, Tensor hx) {
  const auto [out, h, c] = run(input, std::move(hx), {});
  return {out, h};
}
std::tuple<PackedSequence, Tensor> RNNImpl::forward_with_packed_input(const PackedSequence& input,
                                                                      Tensor hx) {
  const auto [out, h, c] = run_packed(input, std::move(hx), {});
  return {out, h};
}

LSTMImpl::LSTMImpl(const LSTMOptions& opts) : RNNImplBase(opts) {}
LSTMImpl::LSTMImpl(int64_t input_size, int64_t hidden_size)
    : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
std::tuple<Tensor, std::tuple<Tensor, Tensor>> LSTMImpl::forward(const Tensor& input,
                                                                 LSTMState hx) {
  const auto [out, h, c] = run(input, h_of(hx), c_of(hx));
  return {out, {h, c}};
}
std::tuple<PackedSequence, std::tuple<Tensor, Tensor>> LSTMImpl::forward_with_packed_input(
    const PackedSequence& input, LSTMState hx) {
  const auto [out, h, c] = run_packed(input, h_of(hx), c_of(hx));
  return {out, {h, c}};
}

GRUImpl::GRUImpl(const GRUOptions& opts) : RNNImplBase(opts) {}
GRUImpl::GRUImpl(int64_t input_size, int64_t hidden_size)
    : GRUImpl(GRUOptions(input_size, hidden_size)) {}
std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, Tensor hx) {
  const auto [out, h, c] = run(input, std::move(hx), {});
  return {out, h};
}
std::tuple<PackedSequence, Tensor> GRUImpl::forward_with_packed_input(const PackedSequence& input,
                                                                      Tensor hx) {
  const auto [out, h, c] = run_packed(input, std::move(hx), {});
  return {out, h};
}

}  // namespace ambit::nn
