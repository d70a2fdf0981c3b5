// Graphs made from modules that are written in C++.
#pragma once

#include <ambit/graph/graph.h>

#include <concepts>
#include <functional>
#include <utility>
#include <vector>

namespace ambit::graph {

/// Run `forward` with example inputs and return its calls as a graph, which save() writes as a .pt2
/// file that torch.export.load() opens. The graph shares the parameters and buffers of `net`, under
/// their dotted names; other tensors that `forward` uses are copied as constants. Each kernel that
/// `forward` runs becomes one or more nodes, which call differentiable public functions. The graph
/// is valid for the sizes of the inputs and for the mode (train or eval) of `net`. All tensors are
/// on cpu. `forward` runs up to three times, with floating-point inputs x, 1 - x and -x; its calls
/// must not depend on values that it reads on the host, such as by item(). Captures of several
/// threads run one after another.
/// Errors: Error for tensors on other devices; NotImplementedError naming the call and the path of
/// the module for calls without a form in torch.export or that depend on values (item(),
/// nonzero()), random numbers (dropout in training), batch norms in training, writes to parameters,
/// buffers or inputs, and views that slices and permutations cannot express, such as diagonals;
/// errors of `forward`.
AMBIT_API Graph capture(const nn::Module& net,
                        const std::function<std::vector<Tensor>(TensorList)>& forward,
                        TensorList inputs);

/// As above, for a module whose forward accepts tensors only, and returns one tensor.
template <class Net, class... T>
requires(std::same_as<T, Tensor>&&...) Graph
    capture(Net& net, const Tensor& first, const T&... others) {
  const auto call = [&](TensorList inputs) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::vector<Tensor>{net->forward(inputs[I]...)};
    }
    (std::make_index_sequence<sizeof...(T) + 1>());
  };
  const std::vector<Tensor> inputs{first, others...};
  return capture(*net, call, inputs);
}

}  // namespace ambit::graph
