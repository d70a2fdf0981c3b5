// A language model: embedding, LSTM, and logits of the next token. Parameters have the names of
// PyTorch's example word_language_model.
#pragma once

#include <ambit/ambit.h>

#include <cstdint>
#include <optional>
#include <tuple>

namespace zoo {

namespace nn = ambit::nn;
using ambit::Tensor;

struct LSTMModelImpl : nn::Module {
  using State = std::tuple<Tensor, Tensor>;  // (h, c), [layers,B,hidden] each

  LSTMModelImpl(int64_t vocabulary, int64_t width, int64_t hidden, int64_t layers,
                double dropout = 0)
      : drop(register_module("drop", nn::Dropout(dropout))),
        encoder(register_module("encoder", nn::Embedding(vocabulary, width))),
        rnn(register_module("rnn", nn::LSTM(nn::LSTMOptions(width, hidden)
                                                .num_layers(layers)
                                                .dropout(layers > 1 ? dropout : 0)))),
        decoder(register_module("decoder", nn::Linear(hidden, vocabulary))) {}

  /// Ids [T,B] and the initial state, default zeros -> logits of the next ids [T,B,vocabulary], and
  /// the final state.
  std::tuple<Tensor, State> forward(const Tensor& ids, const std::optional<State>& state = {}) {
    const Tensor input = drop(encoder(ids));
    const auto [output, next] = state ? rnn(input, *state) : rnn(input);
    return {decoder(drop(output)), next};
  }

  nn::Dropout drop;
  nn::Embedding encoder;
  nn::LSTM rnn;
  nn::Linear decoder;
};
AMBIT_MODULE(LSTMModel);

}  // namespace zoo
