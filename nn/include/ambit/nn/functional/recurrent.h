// Recurrent networks and their cells as functions of their weights, as libtorch has them outside of
// nn::functional: `torch::lstm(x, {h, c}, weights, ...)`.
// weights (params): of each layer, and each direction of it, w_ih [G H, I], w_hh [G H, R], with
// has_biases b_ih [G H] and b_hh [G H], and where an LSTM projects w_hr [P, H]; G is 4 of an LSTM,
// 3 of a GRU, else 1; R is P where there is one, else H; I is the input's size, or R times the
// directions of the layer below. Steps T, batch B.
// Errors of all: ShapeError, DTypeError, DeviceMismatchError; Error for another number of weights
// than the layers need. Gradient: all floating-point tensors.
#pragma once

#include <ambit/tensor.h>

#include <optional>
#include <tuple>

namespace ambit {

/// Run a long short-term memory: input [T,B,I], or [B,T,I] with batch_first, or [T,I]; hx {h, c},
/// [layers * directions, B, R] and [.., B, H]. Return the outputs [T,B,R * directions] and the last
/// h and c. dropout: between layers, where `train`.
AMBIT_API std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, TensorList hx,
                                                  TensorList params, bool has_biases,
                                                  int64_t num_layers, double dropout, bool train,
                                                  bool bidirectional, bool batch_first);
/// The same of packed sequences: data [rows, I] and batch_sizes, int64 [T] on the cpu
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
/// Run a gated recurrent unit, or a plain network with tanh or relu: as lstm(), with one state.
AMBIT_RECURRENT(gru)
AMBIT_RECURRENT(rnn_tanh)
AMBIT_RECURRENT(rnn_relu)
#undef AMBIT_RECURRENT

/// Make one step: input [B,I] or [I], hx {h, c} [B,H] or [H] -> the next h and c.
AMBIT_API std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx,
                                               const Tensor& w_ih, const Tensor& w_hh,
                                               const Tensor& b_ih = {}, const Tensor& b_hh = {});
AMBIT_API Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                          const Tensor& w_hh, const Tensor& b_ih = {}, const Tensor& b_hh = {});
AMBIT_API Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                               const Tensor& w_hh, const Tensor& b_ih = {},
                               const Tensor& b_hh = {});
AMBIT_API Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                               const Tensor& w_hh, const Tensor& b_ih = {},
                               const Tensor& b_hh = {});

}  // namespace ambit
