// Recurrent networks and their cells as functions of their weights, which libtorch has outside of
// nn::functional: `torch::lstm(x, {h, c}, weights, ...)`.
// weights (params): for each layer and direction w_ih [G H, I], w_hh [G H, R], with has_biases b_ih
// [G H] and b_hh [G H], and for an LSTM with projection w_hr [P, H]. G is 4 for LSTM, 3 for GRU,
// else 1; R is P if there is a projection, else H; I is the size of the input, or R times the
// number of directions of the layer below. T steps, B sequences.
// Errors of all: ShapeError, DTypeError, DeviceMismatchError; Error if the number of weights does
// not match the layers. Gradient: all floating-point tensors.
#pragma once

#include <ambit/tensor.h>

#include <optional>
#include <tuple>

namespace ambit {

/// Run a long short-term memory: input [T,B,I], or [B,T,I] with batch_first, or [T,I]; hx {h, c},
/// [layers * directions, B, R] and [.., B, H]. Return the outputs [T,B,R * directions] and the last
/// h and c. dropout: probability between layers, if `train`.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, TensorList hx,
                                                  TensorList params, bool has_biases,
                                                  int64_t num_layers, double dropout, bool train,
                                                  bool bidirectional, bool batch_first);
/// As above, for packed sequences: data [rows, I] and batch_sizes, int64 [T] on the cpu
/// (nn::utils::rnn::PackedSequence).
AMBIT_API std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& data, const Tensor& batch_sizes,
                                                  TensorList hx, TensorList params, bool has_biases,
                                                  int64_t num_layers, double dropout, bool train,
                                                  bool bidirectional);

#define AMBIT_RECURRENT(name)                                                                \
  AMBIT_API std::tuple<Tensor, Tensor> name(                                                 \
      const Tensor& input, const Tensor& hx, TensorList params, bool has_biases,             \
      int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first); \
  AMBIT_API std::tuple<Tensor, Tensor> name(                                                 \
      const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params,    \
      bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional);
/// Run a gated recurrent unit (gru), or an Elman network with tanh or relu: arguments and results
/// as lstm(), but with the hidden state alone instead of h and c.
/// @{
AMBIT_RECURRENT(gru)
AMBIT_RECURRENT(rnn_tanh)
AMBIT_RECURRENT(rnn_relu)
/// @}
#undef AMBIT_RECURRENT

/// Compute one step: input [B,I] or [I], hx {h, c} [B,H] or [H] -> the next h and c.
AMBIT_API std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx,
                                               const Tensor& w_ih, const Tensor& w_hh,
                                               const Tensor& b_ih = {}, const Tensor& b_hh = {});
/// Compute one step: input [B,I] or [I], hx [B,H] or [H] -> the next hx.
AMBIT_API Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                          const Tensor& w_hh, const Tensor& b_ih = {}, const Tensor& b_hh = {});
/// Compute one step of an Elman network with tanh; shapes as gru_cell().
AMBIT_API Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                               const Tensor& w_hh, const Tensor& b_ih = {},
                               const Tensor& b_hh = {});
/// Compute one step of an Elman network with relu; shapes as gru_cell().
AMBIT_API Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                               const Tensor& w_hh, const Tensor& b_ih = {},
                               const Tensor& b_hh = {});

}  // namespace ambit
