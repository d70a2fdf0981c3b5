// Recurrent networks and their cells: layers, directions, projections, states, packed sequences.
#include "layers.h"

using namespace parity;

namespace {

namespace rnn = torch::nn::utils::rnn;

constexpr double kRoundings = 2048;  // a chain of products through all steps, layers and back

template <class Holder, class Make>
void run_network(const std::string& name, const Make& options, bool with_state) {
  Holder m(options);
  const int64_t count = options.num_layers() * (options.bidirectional() ? 2 : 1);
  const Tensor input = options.batch_first() ? x({2, 5, 3}) : x({5, 2, 3});
  const Tensor state = with_state ? y({count, 2, 4}) - 1 : Tensor();
  report_layer(
      name, *m, {input, state}, [&](const List& a) { return outputs(m->forward(a[0], a[1])); },
      kRoundings);
}

template <class Holder, class Make>
void run_packed(const std::string& name, const Make& options) {
  Holder m(options);
  const Tensor lengths = torch::tensor({2, 5, 3}, torch::kLong).cpu();
  report_layer(
      name, *m, {x({5, 3, 3})},
      [&](const List& a) {
        const auto packed = rnn::pack_padded_sequence(a[0], lengths, false, false);
        const auto [out, state] = m->forward_with_packed_input(packed);
        List all = outputs(rnn::pad_packed_sequence(out));
        append(all, state);
        return all;
      },
      kRoundings);
}

// Options of RNN, LSTM and GRU.
template <class Holder, class Make>
void run_networks(const std::string& name, const Make& options) {
  run_network<Holder>(name, options, false);
  run_network<Holder>(name + " from a state", options, true);
  run_network<Holder>(name + " of two layers", Make(options).num_layers(2), true);
  run_network<Holder>(name + " without bias", Make(options).bias(false), false);
  run_network<Holder>(name + " batches first", Make(options).batch_first(true), true);
  run_network<Holder>(name + " both ways", Make(options).bidirectional(true), true);
  run_network<Holder>(name + " of all",
                      Make(options).num_layers(2).bidirectional(true).batch_first(true), true);
  run_packed<Holder>(name + " packed", options);
  run_packed<Holder>(name + " packed, both ways", Make(options).num_layers(2).bidirectional(true));
  report_refusal(name + " of another width", [&] {
    Holder(options)->forward(x({5, 2, 4}).to(torch::kFloat));
  });
}

void run_lstm(const std::string& name, const nn::LSTMOptions& options, bool with_state) {
  nn::LSTM m(options);
  const int64_t count = options.num_layers() * (options.bidirectional() ? 2 : 1);
  const int64_t out = options.proj_size() > 0 ? options.proj_size() : options.hidden_size();
  const Tensor input = options.batch_first() ? x({2, 5, 3}) : x({5, 2, 3});
  List inputs{input};
  if (with_state) {
    inputs.push_back(y({count, 2, out}) - 1);
    inputs.push_back(x({count, 2, options.hidden_size()}));
  }
  report_layer(
      name, *m, inputs,
      [&](const List& a) {
        if (a.size() == 1) return outputs(m->forward(a[0]));
        return outputs(m->forward(a[0], std::make_tuple(a[1], a[2])));
      },
      kRoundings);
}

}  // namespace

PARITY(layers_rnn) {
  run_networks<nn::RNN>("RNN", nn::RNNOptions(3, 4));
  run_networks<nn::RNN>("RNN of relu", nn::RNNOptions(3, 4).nonlinearity(torch::kReLU));
}

PARITY(layers_gru) { run_networks<nn::GRU>("GRU", nn::GRUOptions(3, 4)); }

PARITY(layers_lstm) {
  const nn::LSTMOptions plain(3, 4);
  run_lstm("LSTM", plain, false);
  run_lstm("LSTM from a state", plain, true);
  run_lstm("LSTM of two layers", nn::LSTMOptions(plain).num_layers(2), true);
  run_lstm("LSTM without bias", nn::LSTMOptions(plain).bias(false), false);
  run_lstm("LSTM batches first", nn::LSTMOptions(plain).batch_first(true), true);
  run_lstm("LSTM both ways", nn::LSTMOptions(plain).bidirectional(true), true);
  run_lstm("LSTM projected", nn::LSTMOptions(plain).proj_size(2), false);
  run_lstm("LSTM of all",
           nn::LSTMOptions(plain).num_layers(2).bidirectional(true).proj_size(2).batch_first(true),
           true);
  run_packed<nn::LSTM>("LSTM packed", plain);
  run_packed<nn::LSTM>("LSTM packed, of all",
                       nn::LSTMOptions(plain).num_layers(2).bidirectional(true).proj_size(2));
  report_refusal("a projection as wide", [] {
    nn::LSTM(nn::LSTMOptions(3, 4).proj_size(4))->forward(torch::ones({5, 2, 3}));
  });
}

PARITY(layers_cells) {
  const Tensor input = x({2, 3}), h = y({2, 4}) - 1, c = x({2, 4});
  run_layer("RNNCell", nn::RNNCell(3, 4), input);
  run_layer("RNNCell from a state", nn::RNNCell(nn::RNNCellOptions(3, 4).bias(false)), input, h);
  run_layer("RNNCell of relu", nn::RNNCell(nn::RNNCellOptions(3, 4).nonlinearity(torch::kReLU)),
            input, h);
  run_layer("GRUCell", nn::GRUCell(3, 4), input);
  run_layer("GRUCell from a state", nn::GRUCell(nn::GRUCellOptions(3, 4).bias(false)), input, h);
  run_layer("LSTMCell", nn::LSTMCell(3, 4), input);
  nn::LSTMCell cell(nn::LSTMCellOptions(3, 4).bias(false));
  report_layer("LSTMCell from a state", *cell, {input, h, c}, [&](const List& a) {
    return outputs(cell->forward(a[0], std::make_tuple(a[1], a[2])));
  });
  nn::LSTMCell with_bias(3, 4);
  report_layer("LSTMCell with both", *with_bias, {input, h, c}, [&](const List& a) {
    return outputs(with_bias->forward(a[0], std::make_tuple(a[1], a[2])));
  });
  report_refusal("a state of another width", [&] {
    nn::GRUCell(3, 4)(torch::ones({2, 3}), torch::ones({2, 3}));
  });
}

// Fewer arguments than forward has.
PARITY(layers_recurrent_in_containers) {
  using Pair = std::tuple<Tensor, Tensor>;
  const Tensor steps = x({5, 2, 3}), state = y({1, 2, 4}) - 1, one = x({2, 3});
  run_any<Pair>("RNN", nn::RNN(3, 4), {steps}, kRoundings);
  run_any<Pair>("GRU", nn::GRU(3, 4), {steps}, kRoundings);
  run_any<Pair>("GRU from a state", nn::GRU(3, 4), {steps, state}, kRoundings);
  run_any<std::tuple<Tensor, Pair>>("LSTM", nn::LSTM(3, 4), {steps}, kRoundings);
  run_any<Tensor>("RNNCell", nn::RNNCell(3, 4), {one});
  run_any<Tensor>("GRUCell", nn::GRUCell(3, 4), {one});
  run_any<Pair>("LSTMCell", nn::LSTMCell(3, 4), {one});
}
