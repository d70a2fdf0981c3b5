// Cells of recurrent networks.
#include <ambit/error.h>
#include <ambit/nn/rnn.h>
#include <ambit/ops/creation.h>
#include <fmt/format.h>

#include <ostream>

#include "nn/functional/check.h"
#include "quantized_linear.h"
#include "recurrent_step.h"

namespace ambit::nn {

using namespace recurrent;

namespace {

// Compute one step from input [B,I] or [I]; undefined states are zeros.
std::tuple<Tensor, Tensor> run_cell(Kind kind, bool relu_step, const Tensor& input, Tensor h,
                                    Tensor c, const Weights& w) {
  const char* const op = kind == Kind::lstm  ? "lstm_cell"
                         : kind == Kind::gru ? "gru_cell"
                                             : "rnn_cell";
  functional::check_floating(op, input);
  functional::check_same_device(op, {{"input", input},
                                     {"hx", h},
                                     {"cx", c},
                                     {"weight_ih", w.ih},
                                     {"weight_hh", w.hh},
                                     {"bias_ih", w.b_ih},
                                     {"bias_hh", w.b_hh}});
  const int64_t input_size = w.ih.size(1);
  if ((input.dim() != 1 && input.dim() != 2) || input.size(-1) != input_size) {
    throw ShapeError(fmt::format("{}: expected an input of shape [B, {}] or [{}], got {}", op,
                                 input_size, input_size, str(input.sizes())));
  }
  Dims state(input.sizes());
  state[state.size() - 1] = w.hh.size(1);
  for (auto [what, s] : {std::pair("hx", &h), std::pair("cx", &c)}) {
    if (s == &c && kind != Kind::lstm) continue;
    if (!s->defined()) *s = zeros(state, input.options());
    check_state(op, what, *s, state);
  }
  const State next = step(kind, relu_step, product(input, w.ih, w.ih_scale, w.b_ih),
                          product(h, w.hh, w.hh_scale, w.b_hh), {h, c}, {});
  return {next.h, next.c};
}

}  // namespace

namespace detail {

template <class Derived, class O>
RNNCellImplBase<Derived, O>::RNNCellImplBase(const O& opts) : options(opts) {
  check_size(name_of(kind_of<O>), "input_size", opts.input_size(), 0);
  check_size(name_of(kind_of<O>), "hidden_size", opts.hidden_size(), 1);
  check_nonlinearity(opts);
  RNNCellImplBase::reset();
}

template <class Derived, class O>
void RNNCellImplBase<Derived, O>::reset() {
  const bool is_int8 = weight_ih_scale.defined();
  weight_ih_scale = weight_hh_scale = {};
  const int64_t rows = gates(kind_of<O>) * options.hidden_size();
  weight_ih = this->register_parameter("weight_ih", empty({rows, options.input_size()}));
  weight_hh = this->register_parameter("weight_hh", empty({rows, options.hidden_size()}));
  const bool bias = options.bias();
  bias_ih = this->register_parameter("bias_ih", bias ? empty({rows}) : Tensor(), bias);
  bias_hh = this->register_parameter("bias_hh", bias ? empty({rows}) : Tensor(), bias);
  reset_parameters();
  if (is_int8) quantize_again(*this);
}

template <class Derived, class O>
void RNNCellImplBase<Derived, O>::reset_parameters() {
  uniform_weights({weight_ih, weight_hh, bias_ih, bias_hh}, options.hidden_size());
}

template <class Derived, class O>
void RNNCellImplBase<Derived, O>::pretty_print(std::ostream& os) const {
  os << fmt::format("{}{}({}, {}{}{})", weight_ih_scale.defined() ? "DynamicQuantized" : "",
                    this->name(), options.input_size(), options.hidden_size(),
                    options.bias() ? "" : ", bias=False",
                    is_relu(options) ? ", nonlinearity=relu" : "");
}

template <class Derived, class O>
std::tuple<Tensor, Tensor> RNNCellImplBase<Derived, O>::run(const Tensor& input, Tensor h,
                                                            Tensor c) const {
  return run_cell(kind_of<O>, is_relu(options), input, std::move(h), std::move(c),
                  {.ih = weight_ih,
                   .hh = weight_hh,
                   .b_ih = bias_ih,
                   .b_hh = bias_hh,
                   .hr = {},
                   .ih_scale = weight_ih_scale,
                   .hh_scale = weight_hh_scale});
}

template class RNNCellImplBase<RNNCellImpl, RNNCellOptions>;
template class RNNCellImplBase<LSTMCellImpl, LSTMCellOptions>;
template class RNNCellImplBase<GRUCellImpl, GRUCellOptions>;

}  // namespace detail

RNNCellImpl::RNNCellImpl(const RNNCellOptions& opts) : RNNCellImplBase(opts) {}
RNNCellImpl::RNNCellImpl(int64_t input_size, int64_t hidden_size)
    : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
Tensor RNNCellImpl::forward(const Tensor& input, Tensor hx) {
  return std::get<0>(run(input, std::move(hx), {}));
}
LSTMCellImpl::LSTMCellImpl(const LSTMCellOptions& opts) : RNNCellImplBase(opts) {}
LSTMCellImpl::LSTMCellImpl(int64_t input_size, int64_t hidden_size)
    : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
std::tuple<Tensor, Tensor> LSTMCellImpl::forward(const Tensor& input, LSTMState hx) {
  return run(input, h_of(hx), c_of(hx));
}
GRUCellImpl::GRUCellImpl(const GRUCellOptions& opts) : RNNCellImplBase(opts) {}
GRUCellImpl::GRUCellImpl(int64_t input_size, int64_t hidden_size)
    : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
Tensor GRUCellImpl::forward(const Tensor& input, Tensor hx) {
  return std::get<0>(run(input, std::move(hx), {}));
}

}  // namespace ambit::nn
