// Activation checkpointing: a part of a network saves only its inputs, and backward computes the
// part again. Training then needs less memory and about a third more time:
//   for (auto& block : blocks) x = utils::checkpoint(block, x);
// Source: torch.utils.checkpoint with use_reentrant=False (Chen et al. 2016, arXiv:1604.06174).
#pragma once

#include <ambit/tensor.h>

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace ambit::utils {

/// Return function(inputs). The tensors that its ops save for backward are freed; the first
/// backward that needs one of them calls function(inputs) again and keeps them until the graph is
/// freed. Gradients are those without a checkpoint, bit for bit; second derivatives can differ by
/// the order of a sum. The second call runs with the autocast state of the first and, unless
/// `preserve_rng_state` is false, with the random numbers of the first from the default generators
/// of cpu and of the inputs' devices. Parameters and other tensors that `function` uses get
/// gradients, too.
/// `function` is copied; references that it holds must be valid in backward. It must compute the
/// same each time and must not write to its inputs. Side effects happen twice: a batch norm in
/// training updates its statistics twice. Checkpoints can be nested. Errors in backward:
/// AutogradError if the second call saves more or fewer tensors than the first, or if an input was
/// written in place since.
AMBIT_API std::vector<Tensor> checkpoint(
    std::function<std::vector<Tensor>(const std::vector<Tensor>&)> function,
    std::vector<Tensor> inputs, bool preserve_rng_state = true);

/// As above, for a function of tensors with one result, such as a module:
/// `y = utils::checkpoint(net, x)`.
template <class F, std::same_as<Tensor>... Inputs>
requires std::convertible_to<std::invoke_result_t<F&, const Inputs&...>, Tensor> Tensor
checkpoint(F function, const Inputs&... inputs) {
  return checkpoint(
      [function = std::move(function)](const std::vector<Tensor>& x) mutable {
        return [&]<size_t... I>(std::index_sequence<I...>) {
          return std::vector<Tensor>{function(x[I]...)};
        }
        (std::index_sequence_for<Inputs...>());
      },
      {inputs...})[0];
}

}  // namespace ambit::utils
