// Recurrent networks: RNN, LSTM, GRU and their cells. Shapes: T steps, B sequences, I input_size, H
// hidden_size (in an LSTM's output proj_size, if given), L num_layers, D 2 if bidirectional, else
// 1. Parameters have PyTorch's names and shapes: weight_ih_l0 [G H, I], weight_hh_l0 [G H, H],
// bias_ih_l0, bias_hh_l0 [G H] for G gates, then l1, ...; the suffix "_reverse" marks the second
// direction. They are initialised uniformly in [-1 / sqrt(H), 1 / sqrt(H)).
#pragma once

#include <ambit/nn/any_module.h>
#include <ambit/nn/cloneable.h>
#include <ambit/nn/init.h>
#include <ambit/nn/options.h>
#include <ambit/nn/quantizable.h>
#include <ambit/nn/utils/rnn.h>

#include <optional>
#include <tuple>
#include <type_traits>
#include <vector>

namespace ambit::nn {

namespace detail {

/// Options of RNN, LSTM and GRU.
template <class Self>
class RecurrentOptions : public Options<Self> {
 public:
  RecurrentOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  /// Features of the input, I.
  AMBIT_OPTION(Self, int64_t, input_size);
  /// Features of the hidden state, H.
  AMBIT_OPTION(Self, int64_t, hidden_size);
  /// Number of stacked layers, each of which runs on the output of the one before.
  AMBIT_OPTION(Self, int64_t, num_layers) = 1;
  /// Add learned biases bias_ih and bias_hh.
  AMBIT_OPTION(Self, bool, bias) = true;
  /// Input and output are [B,T,...], not [T,B,...]; states are [L D,B,...] in both cases.
  AMBIT_OPTION(Self, bool, batch_first) = false;
  /// Probability of zeroing an element between layers in training, in [0, 1].
  AMBIT_OPTION(Self, double, dropout) = 0;
  /// Also run in reverse, and concatenate the outputs of both directions.
  AMBIT_OPTION(Self, bool, bidirectional) = false;
};

}  // namespace detail

/// Options of RNN.
class AMBIT_API RNNOptions : public detail::RecurrentOptions<RNNOptions> {
 public:
  using RecurrentOptions::RecurrentOptions;

  /// kTanh or kReLU.
  AMBIT_OPTION(RNNOptions, init::Nonlinearity, nonlinearity) = init::Nonlinearity::tanh;
};

/// Options of LSTM.
class AMBIT_API LSTMOptions : public detail::RecurrentOptions<LSTMOptions> {
 public:
  using RecurrentOptions::RecurrentOptions;

  /// Size that the hidden state is projected to, below hidden_size; 0: no projection.
  AMBIT_OPTION(LSTMOptions, int64_t, proj_size) = 0;
};

/// Options of GRU: only those of detail::RecurrentOptions.
class AMBIT_API GRUOptions : public detail::RecurrentOptions<GRUOptions> {
 public:
  using RecurrentOptions::RecurrentOptions;
};

namespace detail {

/// Base of RNN, LSTM and GRU: the parameters of all layers and directions, and the forward pass.
template <class Derived, class OptionsType>
class AMBIT_API RNNImplBase : public Cloneable<Derived>, public Quantizable {
 public:
  explicit RNNImplBase(const OptionsType& opts);
  void reset() override;
  /// Reinitialise all parameters uniformly in +-1 / sqrt(hidden_size).
  void reset_parameters();
  void pretty_print(std::ostream& os) const override;
  /// Return the parameters of each layer and direction: w_ih, w_hh, b_ih, b_hh, w_hr, those that
  /// exist.
  std::vector<Tensor> all_weights() const { return weights_; }
  /// Do nothing; for source compatibility with libtorch. ambit needs no contiguous weight memory.
  void flatten_parameters() const {}
  /// Return the matrices of all layers and directions.
  std::vector<QuantizableWeight> quantizable_weights() override;

  // libtorch's base class has a copy of the options of all three.
  static_assert(std::is_trivially_copyable_v<OptionsType>);
  union {
    OptionsType options;       ///< The options, which forward() and reset() read.
    OptionsType options_base;  ///< The options under the name in libtorch's base class.
  };

 protected:
  /// Return the output and the states h, c [L D, B, H] after the last step (c is undefined except
  /// for LSTM). input: [T,B,I], packed rows with their batch_sizes, or [T,I]; undefined h, c are
  /// zeros.
  std::tuple<Tensor, Tensor, Tensor> run(const Tensor& input, Tensor h, Tensor c,
                                         const Tensor& batch_sizes = {}) const;
  /// As run(), for a packed sequence.
  std::tuple<utils::rnn::PackedSequence, Tensor, Tensor> run_packed(
      const utils::rnn::PackedSequence& input, Tensor h, Tensor c) const;

 private:
  std::vector<Tensor> weights_;
  std::vector<Tensor> scales_;  // same size as weights_: row scales of int8 weights, else undefined
};

}  // namespace detail

/// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu, for each step. Errors: Error for sizes below
/// 1 or dropout outside [0, 1]; of forward ShapeError, DeviceMismatchError. Gradient: input, hx,
/// parameters.
class AMBIT_API RNNImpl : public detail::RNNImplBase<RNNImpl, RNNOptions> {
 public:
  RNNImpl(int64_t input_size, int64_t hidden_size);
  explicit RNNImpl(const RNNOptions& opts);
  /// input [T,B,I] ([B,T,I] if batch_first, [T,I] without a batch), hx [L D,B,H], undefined: zeros
  /// -> output [T,B,D H], the last layer's states of all steps, and all layers' last states.
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  /// Like forward() for a packed sequence; batch_first is ignored.
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& input, Tensor hx = {});

 private:
  friend AnyModule;
  static AnyModule::Defaults forward_defaults() { return AnyModule::undefined(1, 2); }
};
AMBIT_MODULE(RNN);

/// i, f, o = sigmoid, g = tanh of W_i* x + b_i* + W_h* h + b_h*; c' = f c + i g; h' = o tanh(c'),
/// projected by weight_hr if proj_size is given. Source: Hochreiter & Schmidhuber 1997; Gers et al.
/// 2000 for f; Sak et al. 2014 for the projection. Errors and gradients: as RNN.
class AMBIT_API LSTMImpl : public detail::RNNImplBase<LSTMImpl, LSTMOptions> {
 public:
  LSTMImpl(int64_t input_size, int64_t hidden_size);
  explicit LSTMImpl(const LSTMOptions& opts);
  /// As RNN, with states (h [L D,B,H or proj_size], c [L D,B,H]).
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(
      const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx = {});
  /// Like forward() for a packed sequence; batch_first is ignored.
  std::tuple<utils::rnn::PackedSequence, std::tuple<Tensor, Tensor>> forward_with_packed_input(
      const utils::rnn::PackedSequence& input, std::optional<std::tuple<Tensor, Tensor>> hx = {});

 private:
  friend AnyModule;
  static AnyModule::Defaults forward_defaults() {
    return {{1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())}};
  }
};
AMBIT_MODULE(LSTM);

/// r, z = sigmoid(W_i* x + b_i* + W_h* h + b_h*); n = tanh(W_in x + b_in + r (W_hn h + b_hn));
/// h' = (1 - z) n + z h. Source: Cho et al. 2014, arXiv:1406.1078. Errors and gradients: as RNN.
class AMBIT_API GRUImpl : public detail::RNNImplBase<GRUImpl, GRUOptions> {
 public:
  GRUImpl(int64_t input_size, int64_t hidden_size);
  explicit GRUImpl(const GRUOptions& opts);
  /// As RNN.
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  /// Like forward() for a packed sequence; batch_first is ignored.
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& input, Tensor hx = {});

 private:
  friend AnyModule;
  static AnyModule::Defaults forward_defaults() { return AnyModule::undefined(1, 2); }
};
AMBIT_MODULE(GRU);

namespace detail {

/// Options of all cells.
template <class Self>
class CellOptions : public Options<Self> {
 public:
  CellOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  /// Features of the input, I.
  AMBIT_OPTION(Self, int64_t, input_size);
  /// Features of the hidden state, H.
  AMBIT_OPTION(Self, int64_t, hidden_size);
  /// Add learned biases bias_ih and bias_hh.
  AMBIT_OPTION(Self, bool, bias) = true;
};

/// Base of the cells: weight_ih [G H, I], weight_hh [G H, H], bias_ih, bias_hh [G H] for G gates.
template <class Derived, class OptionsType>
class AMBIT_API RNNCellImplBase : public Cloneable<Derived>, public Quantizable {
 public:
  explicit RNNCellImplBase(const OptionsType& opts);
  void reset() override;
  /// Reinitialise all parameters uniformly in +-1 / sqrt(hidden_size).
  void reset_parameters();
  /// Return weight_ih and weight_hh.
  std::vector<QuantizableWeight> quantizable_weights() override {
    return {{"weight_ih", weight_ih, weight_ih_scale}, {"weight_hh", weight_hh, weight_hh_scale}};
  }
  void pretty_print(std::ostream& os) const override;

  OptionsType options;
  /// [G H, I], [G H, H], [G H] and [G H]; biases are undefined without that option.
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;
  Tensor weight_ih_scale, weight_hh_scale;  ///< scales of int8 rows, else undefined; see quantize.h

 protected:
  /// Compute one step from input [B,I] or [I]; undefined states are zeros.
  std::tuple<Tensor, Tensor> run(const Tensor& input, Tensor h, Tensor c) const;
};

}  // namespace detail

/// Options of RNNCell.
class AMBIT_API RNNCellOptions : public detail::CellOptions<RNNCellOptions> {
 public:
  using CellOptions::CellOptions;

  /// kTanh or kReLU.
  AMBIT_OPTION(RNNCellOptions, init::Nonlinearity, nonlinearity) = init::Nonlinearity::tanh;
};
/// Options of LSTMCell: only those of detail::CellOptions.
class AMBIT_API LSTMCellOptions : public detail::CellOptions<LSTMCellOptions> {
 public:
  using CellOptions::CellOptions;
};
/// Options of GRUCell: only those of detail::CellOptions.
class AMBIT_API GRUCellOptions : public detail::CellOptions<GRUCellOptions> {
 public:
  using CellOptions::CellOptions;
};

/// One step of RNN. Errors and gradients: as RNN.
class AMBIT_API RNNCellImpl : public detail::RNNCellImplBase<RNNCellImpl, RNNCellOptions> {
 public:
  RNNCellImpl(int64_t input_size, int64_t hidden_size);
  explicit RNNCellImpl(const RNNCellOptions& opts);
  /// input [B,I] or [I], hx [B,H] or [H], undefined: zeros -> hx after the step.
  Tensor forward(const Tensor& input, Tensor hx = {});

 private:
  friend AnyModule;
  static AnyModule::Defaults forward_defaults() { return AnyModule::undefined(1, 2); }
};
AMBIT_MODULE(RNNCell);

/// One step of LSTM. Errors and gradients: as RNN.
class AMBIT_API LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl, LSTMCellOptions> {
 public:
  LSTMCellImpl(int64_t input_size, int64_t hidden_size);
  explicit LSTMCellImpl(const LSTMCellOptions& opts);
  /// As RNNCell, with states (h, c).
  std::tuple<Tensor, Tensor> forward(const Tensor& input,
                                     std::optional<std::tuple<Tensor, Tensor>> hx = {});

 private:
  friend AnyModule;
  static AnyModule::Defaults forward_defaults() {
    return {{1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())}};
  }
};
AMBIT_MODULE(LSTMCell);

/// One step of GRU. Errors and gradients: as RNN.
class AMBIT_API GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl, GRUCellOptions> {
 public:
  GRUCellImpl(int64_t input_size, int64_t hidden_size);
  explicit GRUCellImpl(const GRUCellOptions& opts);
  /// As RNNCell.
  Tensor forward(const Tensor& input, Tensor hx = {});

 private:
  friend AnyModule;
  static AnyModule::Defaults forward_defaults() { return AnyModule::undefined(1, 2); }
};
AMBIT_MODULE(GRUCell);

}  // namespace ambit::nn
