// Layers as modules: compares names and sizes of their state, all outputs, the gradients of their
// inputs and parameters, and the final contents of their buffers.
#pragma once

#include "tests/parity/calls.h"

#include <tuple>
#include <utility>

namespace parity {

namespace nn = torch::nn;

inline void append(List& all, const Tensor& t) { all.push_back(t); }
template <class... T>
void append(List& all, const std::tuple<T...>& outputs) {
  std::apply([&](const auto&... each) { (append(all, each), ...); }, outputs);
}

/// Return all tensors that a forward returned, in order.
template <class Output>
List outputs(const Output& output) {
  List all;
  append(all, output);
  return all;
}

/// Parameters become float64 waves. `forward` receives the inputs: floating-point ones may be
/// written in place, and have gradients; undefined ones stay undefined. For `roundings` see
/// report().
void report_layer(const std::string& name, nn::Module& layer, const List& inputs,
                  const std::function<List(const List&)>& forward, double roundings = 256);

template <class Holder, size_t... I>
void run_layer(const std::string& name, Holder& layer, const List& inputs,
               std::index_sequence<I...> /*arguments*/) {
  report_layer(name, *layer, inputs,
               [&](const List& a) { return outputs(layer->forward(a[I]...)); });
}

/// Run a layer's forward with these inputs.
template <class Holder, class... T>
void run_layer(const std::string& name, Holder layer, const T&... inputs) {
  run_layer(name, layer, List{inputs...}, std::index_sequence_for<T...>());
}

/// Run a layer in a Sequential and as an AnyModule, with one to three inputs.
template <class Result, class Holder>
void run_any(const std::string& name, Holder layer, const List& inputs, double roundings = 256) {
  const auto each = [&](const std::string& where, nn::Module& module, auto forward) {
    report_layer(
        name + where, module, inputs,
        [&](const List& a) {
          if (a.size() == 1) return outputs(forward(a[0]));
          return outputs(a.size() == 2 ? forward(a[0], a[1]) : forward(a[0], a[1], a[2]));
        },
        roundings);
  };
  nn::Sequential chain(layer);
  each(" in a Sequential", *chain,
       [&](const auto&... a) { return chain->template forward<Result>(a...); });
  nn::AnyModule any(layer);
  layer->zero_grad();
  each(" in an AnyModule", *layer, [&](const auto&... a) { return any.forward<Result>(a...); });
}

}  // namespace parity
