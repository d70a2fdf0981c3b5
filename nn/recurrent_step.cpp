// One step of a recurrent network, composed of ops.
#include "recurrent_step.h"

#include <ambit/autograd.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <cmath>

namespace ambit::nn::recurrent {

State step(Kind kind, bool relu_step, const Tensor& x, const State& s, const Weights& w) {
  const Tensor h = linear(s.h, w.hh, w.b_hh);
  if (kind == Kind::rnn) return {relu_step ? relu(x + h) : tanh(x + h), {}};
  if (kind == Kind::gru) {
    const std::vector<Tensor> xs = x.chunk(3, -1), hs = h.chunk(3, -1);
    const Tensor r = sigmoid(xs[0] + hs[0]), z = sigmoid(xs[1] + hs[1]);
    const Tensor n = tanh(xs[2] + r * hs[2]);
    return {n + z * (s.h - n), {}};
  }
  const std::vector<Tensor> g = (x + h).chunk(4, -1);
  const Tensor c = sigmoid(g[1]) * s.c + sigmoid(g[0]) * tanh(g[2]);
  const Tensor out = sigmoid(g[3]) * tanh(c);
  return {w.hr.defined() ? linear(out, w.hr) : out, c};
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
