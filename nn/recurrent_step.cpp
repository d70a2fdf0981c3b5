// One step of a recurrent network.
#include "recurrent_step.h"

#include <ambit/autograd.h>
#include <ambit/detail/recurrent.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <cmath>

#include "quantized_linear.h"

namespace ambit::nn::recurrent {

State step(Kind kind, bool relu_step, const Tensor& x, const Tensor& h, const State& s,
           const Weights& w) {
  if (kind == Kind::rnn) return {relu_step ? relu(x + h) : tanh(x + h), {}};
  // Without a batch: a row.
  const auto row = [](const Tensor& t) { return t.dim() == 1 ? t.unsqueeze(0) : t; };
  const auto as_given = [&](const Tensor& t) { return x.dim() == 1 ? t.squeeze(0) : t; };
  if (kind == Kind::gru) return {as_given(gru_step(row(x), row(h), row(s.h))), {}};
  const auto [next, c] = lstm_step(row(x), row(h), row(s.c));
  const Tensor out = as_given(next);
  return {w.hr.defined() ? product(out, w.hr, w.hr_scale) : out, as_given(c)};
}

void check_size(const char* module, const char* what, int64_t n, int64_t least) {
  if (n < least) {
    throw Error(fmt::format("{}: expected {} of at least {}, got {}", module, what, least, n));
  }
}

void check_state(const char* op, const char* what, const Tensor& state, IntArrayRef sizes) {
  if (state.sizes() != sizes) {
    throw ShapeError(fmt::format("{}: expected {} of shape {}, got {}", op, what, str(sizes),
                                 str(state.sizes())));
  }
}

void uniform_weights(TensorList weights, int64_t hidden_size) {
  const NoGradGuard no_grad;
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_size));
  for (const Tensor& w : weights) {
    if (w.defined()) init::uniform_(w, -bound, bound);
  }
}

}  // namespace ambit::nn::recurrent
