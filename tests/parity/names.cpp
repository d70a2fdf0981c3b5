// Further names of the frontend: gains, AdamW's state, comparisons in place; and backward after
// writes to tensors that it needs.
#include <string>
#include <tuple>
#include <vector>

#include "tests/parity/parity.h"

using parity::report;
using parity::report_refusal;
using parity::wave;
using torch::Tensor;

namespace F = torch::nn::functional;

PARITY(init_gains) {
  namespace Init = torch::nn::init;
  report("linear", Init::calculate_gain(torch::kLinear));
  report("conv2d", Init::calculate_gain(torch::kConv2D));
  report("sigmoid", Init::calculate_gain(torch::kSigmoid));
  report("tanh", Init::calculate_gain(torch::kTanh), 2);
  report("relu", Init::calculate_gain(torch::kReLU), 2);
  report("leaky_relu", Init::calculate_gain(torch::kLeakyReLU), 4);
  report("leaky_relu of 0.2", Init::calculate_gain(torch::kLeakyReLU, 0.2), 4);
}

PARITY(state_of_adamw) {
  Tensor p = wave({2, 3}).clone().requires_grad_();
  torch::optim::AdamW adamw({p}, torch::optim::AdamWOptions(0.1).amsgrad(true));
  for (int i = 0; i < 2; ++i) {
    adamw.zero_grad();
    (p * p).sum().backward();
    adamw.step();
  }
  report("entries", static_cast<double>(adamw.state().size()));
  for (auto& entry : adamw.state()) {
    auto& state = static_cast<torch::optim::AdamWParamState&>(*entry.second);
    report("steps", static_cast<double>(state.step()));
    report("mean", state.exp_avg(), 16);
    report("squares", state.exp_avg_sq(), 16);
    report("largest squares", state.max_exp_avg_sq(), 16);
  }
}

PARITY(comparisons_in_place) {
  const Tensor a = torch::tensor({1., 2., 3.}), b = torch::tensor({3., 2., 1.});
  report("eq_", a.clone().eq_(b));
  report("eq_ of a number", a.clone().eq_(2));
  report("ne_", a.clone().ne_(b));
  report("lt_", a.clone().lt_(b));
  report("ge_", a.clone().ge_(2));
}

// Each call must be refused: its gradient would be computed from the new values.
PARITY(backward_after_writes) {
  const auto refuses = [](const char* what, const Tensor& y, const Tensor& written) {
    written.mul_(1);
    report_refusal(what, [&] { y.sum().backward(); });
  };
  const Tensor w = wave({4, 3}).clone().requires_grad_(), factors = wave({4}).requires_grad_();
  const auto numbers = [](std::vector<int64_t> v) { return torch::tensor(v, torch::kLong); };
  const auto bag = [&](const Tensor& index, const Tensor& offsets,
                       const F::EmbeddingBagFuncOptions& options) {
    return F::embedding_bag(
        index, w, F::EmbeddingBagFuncOptions(options).offsets(offsets).include_last_offset(true));
  };
  const std::tuple<std::string, F::EmbeddingBagFuncOptions> bags[] = {
      {"sum", F::EmbeddingBagFuncOptions().mode(torch::kSum)},
      {"mean", F::EmbeddingBagFuncOptions().mode(torch::kMean)},
      {"max", F::EmbeddingBagFuncOptions().mode(torch::kMax)},
      {"factors", F::EmbeddingBagFuncOptions().mode(torch::kSum).per_sample_weights(factors)}};
  for (const auto& [name, options] : bags) {
    for (const bool of_offsets : {false, true}) {
      const Tensor index = numbers({1, 0, 3, 2}), offsets = numbers({0, 2, 4});
      refuses((name + (of_offsets ? ", offsets" : ", index")).c_str(), bag(index, offsets, options),
              of_offsets ? offsets : index);
    }
  }
  Tensor index = numbers({1, 0});
  refuses("embedding", F::embedding(index, w), index);
  index = numbers({1, 0});
  refuses("index_select", w.index_select(0, index), index);
  index = numbers({1, 0, 2, 1});
  refuses("cross_entropy", F::cross_entropy(w, index), index);
  const Tensor targets = numbers({1, 2, 1, 1, 2, 2}).view({2, 3});
  const Tensor x = wave({5, 2, 4}).clone().requires_grad_();
  refuses("ctc_loss",
          F::ctc_loss(x.log_softmax(-1), targets, numbers({5, 5}), numbers({3, 2}),
                      F::CTCLossFuncOptions()),
          targets);

  const Tensor a = torch::eye(3, torch::kDouble) * 2;
  const Tensor b = wave({3, 2}, 0.7, torch::kDouble).clone().requires_grad_();
  for (const bool of_pivots : {false, true}) {
    const auto [lu, pivots] = torch::linalg_lu_factor(a);
    refuses(of_pivots ? "lu_solve, pivots" : "lu_solve, LU", torch::linalg_lu_solve(lu, pivots, b),
            of_pivots ? pivots : lu);
  }
  const auto [lu, pivots] = torch::linalg_lu_factor(a.requires_grad_());
  refuses("lu_factor, pivots", lu, pivots);
}
