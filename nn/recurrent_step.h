// Shared by recurrent networks and their cells: the three kinds and one step of each.
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

// Differences between the three kinds apart from their step.
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
  Tensor ih_scale = {}, hh_scale = {}, hr_scale = {};  // row scales of int8 weights
};
struct State {
  Tensor h, c;
};

/// Return the state after one step from the state s.h [B, H] and, for LSTM, s.c [B, H].
/// x [B, G H]: the product of the step's input and W_ih, plus b_ih, for the G = gates(kind) gates;
/// h [B, G H]: the product of s.h and W_hh, plus b_hh. relu_step: an RNN uses relu instead of tanh.
/// w.hr: the projection of an LSTM's output; may be undefined.
State step(Kind kind, bool relu_step, const Tensor& x, const Tensor& h, const State& s,
           const Weights& w);

/// The layers of a recurrent network: of a module, or of a call of functional::lstm(), gru() etc.
struct Layers {
  const char* op;
  Kind kind;
  bool relu;               // RNN: relu instead of tanh
  TensorList weights;      // for each layer and direction ih, hh, [b_ih, b_hh,] [hr]
  TensorList scales = {};  // row scales of int8 weights, same length; or empty
  bool bias;
  int64_t input_size, hidden_size, proj_size, num_layers;
  bool bidirectional, batch_first;
  double dropout;
  bool training;
};

/// Run the network: input [T,B,I], with batch_first [B,T,I], [T,I] or packed rows; undefined states
/// are 0. Return outputs, last h, and for LSTM last c. Errors: ShapeError, DTypeError,
/// DeviceMismatchError.
std::tuple<Tensor, Tensor, Tensor> run_layers(const Layers& net, const Tensor& input, Tensor h,
                                              Tensor c, const Tensor& batch_sizes);

/// Check that a size is not below `least`. Errors: Error.
void check_size(const char* module, const char* what, int64_t n, int64_t least);
/// Check the shape of a state. Errors: ShapeError.
void check_state(const char* op, const char* what, const Tensor& state, IntArrayRef sizes);
/// Check that batch_sizes, int64 [T] on cpu, are positive, non-increasing, and sum to the rows of
/// the data. Errors: ShapeError.
void check_batch_sizes(const char* op, const Tensor& batch_sizes, int64_t rows);
/// Check that the nonlinearity of an RNN is tanh or relu. Errors: Error.
template <class O>
void check_nonlinearity(const O& options) {
  if constexpr (kind_of<O> == Kind::rnn) {
    if (!is_relu(options) && options.nonlinearity() != init::Nonlinearity::tanh) {
      throw Error("rnn: expected the nonlinearity kTanh or kReLU, got another");
    }
  }
}

/// Initialise weights, some of which may be undefined, as PyTorch does: uniform in +-1 / sqrt(H).
void uniform_weights(TensorList weights, int64_t hidden_size);

using LSTMState = std::optional<std::tuple<Tensor, Tensor>>;
inline Tensor h_of(const LSTMState& hx) { return hx ? std::get<0>(*hx) : Tensor(); }
inline Tensor c_of(const LSTMState& hx) { return hx ? std::get<1>(*hx) : Tensor(); }

}  // namespace ambit::nn::recurrent
