// One step of an LSTM or GRU from the sums of its gates, for nn's layers.
#pragma once

#include <ambit/tensor.h>

#include <tuple>

namespace ambit {

/// Return (h, c) [B,H] after a step of an LSTM, with i, f, g, o the quarters of a + b:
///   c = sigmoid(f) c0 + sigmoid(i) tanh(g), h = sigmoid(o) tanh(c)
/// a, b [B,4H], c0 [B,H], of one dtype. Errors: ShapeError, DTypeError, DeviceMismatchError.
/// Gradient: all. Source: Hochreiter & Schmidhuber 1997; Gers, Schmidhuber & Cummins 2000.
AMBIT_API std::tuple<Tensor, Tensor> lstm_step(const Tensor& a, const Tensor& b, const Tensor& c0);

/// Return h [B,H] after a step of a GRU, with r, z, n the thirds of a [B,3H] and of b:
///   r = sigmoid(r_a + r_b), z = sigmoid(z_a + z_b), n = tanh(n_a + r n_b), h = n + z (h0 - n)
/// h0 [B,H]. Errors and gradient as above. Source: Cho et al. 2014, arXiv:1406.1078.
AMBIT_API Tensor gru_step(const Tensor& a, const Tensor& b, const Tensor& h0);

}  // namespace ambit
