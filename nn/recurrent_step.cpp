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
  // Add a batch dim if there is none.
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

void check_batch_sizes(const char* op, const Tensor& batch_sizes, int64_t rows) {
  const Tensor dense = batch_sizes.contiguous();
  const auto* n = dense.data_ptr<int64_t>();
  int64_t left = rows;
  for (int64_t t = 0; t < dense.numel(); ++t) {
    if (n[t] < 1 || (t > 0 && n[t] > n[t - 1])) {
      throw ShapeError(fmt::format(
          "{}: expected non-increasing batch_sizes above 0, got {} at step {}", op, n[t], t));
    }
    left = n[t] > left ? -1 : left - n[t];
    if (left < 0) break;
  }
  if (left != 0) {
    throw ShapeError(fmt::format("{}: expected batch_sizes that sum to the {} rows of data, got {}",
                                 op, rows, left < 0 ? "more" : "fewer"));
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
