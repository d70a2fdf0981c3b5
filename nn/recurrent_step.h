// What recurrent networks and their cells share: the three kinds and one step of each.
#pragma once

#include <ambit/error.h>
#include <ambit/nn/init.h>
#include <ambit/nn/rnn.h>
#include <ambit/tensor.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <tuple>

namespace ambit::nn::recurrent {

enum class Kind : uint8_t { rnn, lstm, gru };

// What the three kinds differ in beside their step.
template <class O>
inline constexpr Kind kind_of = Kind::rnn;
template <>
inline constexpr Kind kind_of<LSTMOptions> = Kind::lstm;
template <>
inline constexpr Kind kind_of<LSTMCellOptions> = Kind::lstm;
template <>
inline constexpr Kind kind_of<GRUOptions> = Kind::gru;
template <>
inline constexpr Kind kind_of<GRUCellOptions> = Kind::gru;

constexpr int64_t gates(Kind kind) { return kind == Kind::lstm ? 4 : kind == Kind::gru ? 3 : 1; }
constexpr const char* name_of(Kind kind) {
  return kind == Kind::lstm ? "lstm" : kind == Kind::gru ? "gru" : "rnn";
}

template <class O>
bool is_relu(const O& options) {
  if constexpr (kind_of<O> == Kind::rnn) return options.nonlinearity() == init::Nonlinearity::relu;
  return false;
}
template <class O>
int64_t projection(const O& options) {
  if constexpr (std::same_as<O, LSTMOptions>) return options.proj_size();
  return 0;
}

struct Weights {
  Tensor ih, hh, b_ih, b_hh, hr;
  Tensor ih_scale = {}, hh_scale = {}, hr_scale = {};  // of the rows of int8 weights
};
struct State {
  Tensor h, c;
};

/// Return the state after one step of x [B, G H], which is W_ih x + b_ih, and h [B, G H], which is
/// W_hh s.h + b_hh, from s.h [B, H] and, of an LSTM, s.c [B, H]. relu_step: of a plain network,
/// relu for tanh. w.hr may be undefined: the projection of an LSTM's output.
State step(Kind kind, bool relu_step, const Tensor& x, const Tensor& h, const State& s,
           const Weights& w);

/// All layers of a network, as a module or a caller has them.
struct Layers {
  const char* op;
  Kind kind;
  bool relu;               // of a plain network: relu for tanh
  TensorList weights;      // of each layer and direction ih, hh, [b_ih, b_hh,] [hr]
  TensorList scales = {};  // as many, of those that are int8; or none
  bool bias;
  int64_t input_size, hidden_size, proj_size, num_layers;
  bool bidirectional, batch_first;
  double dropout;
  bool training;
};

/// Run them: input [T,B,I], with batch_first [B,T,I], [T,I] or packed rows, and the states, of
/// which undefined ones are 0 -> outputs, last h, and of an LSTM last c. Errors: ShapeError,
/// DTypeError, DeviceMismatchError.
std::tuple<Tensor, Tensor, Tensor> run_layers(const Layers& net, const Tensor& input, Tensor h,
                                              Tensor c, const Tensor& batch_sizes);

/// Check that a size is not below `least`. Errors: Error.
void check_size(const char* module, const char* what, int64_t n, int64_t least);
/// Check the shape of a state. Errors: ShapeError.
void check_state(const char* op, const char* what, const Tensor& state, IntArrayRef sizes);
/// Check that batch_sizes, int64 [T] on the cpu, are above 0, do not rise, and sum to the rows of
/// the data. Errors: ShapeError.
void check_batch_sizes(const char* op, const Tensor& batch_sizes, int64_t rows);
/// Check that a plain network has a nonlinearity of its own. Errors: Error.
template <class O>
void check_nonlinearity(const O& options) {
  if constexpr (kind_of<O> == Kind::rnn) {
    if (!is_relu(options) && options.nonlinearity() != init::Nonlinearity::tanh) {
      throw Error("rnn: expected the nonlinearity kTanh or kReLU, got another");
    }
  }
}

/// Fill weights, of which some may be undefined, as PyTorch does: uniform within 1 / sqrt(H).
void uniform_weights(TensorList weights, int64_t hidden_size);

using LSTMState = std::optional<std::tuple<Tensor, Tensor>>;
inline Tensor h_of(const LSTMState& hx) { return hx ? std::get<0>(*hx) : Tensor(); }
inline Tensor c_of(const LSTMState& hx) { return hx ? std::get<1>(*hx) : Tensor(); }

}  // namespace ambit::nn::recurrent
