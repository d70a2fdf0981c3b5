// Optimizers with all their options, groups, state and schedulers, and nn::utils.
#include <cmath>
#include <memory>
#include <sstream>

#include "parity.h"

using parity::fill;
using parity::report;
using parity::report_refusal;
using parity::wave;

namespace nn = torch::nn;
namespace optim = torch::optim;

namespace {

using Params = std::vector<torch::Tensor>;

// Five steps on a function with two minima; each has a few dozen roundings, and multiplies earlier
// errors by less than 2.
constexpr double kSteps = 5 * 64;

template <class Optimizer>
void descend(Optimizer& optimizer, const torch::Tensor& w) {
  const auto closure = [&] {
    optimizer.zero_grad();
    torch::Tensor loss = ((w - 0.3) * (w + 1) * (w - 2)).pow(2).sum();
    loss.backward();
    return loss;
  };
  for (int step = 0; step < 5; ++step) optimizer.step(closure);
}

template <class Optimizer, class Options>
void report_optimizer(const std::string& what, const Options& options, double within = kSteps) {
  torch::Tensor w = wave({4}, 0.9, torch::kDouble).set_requires_grad(true);
  Optimizer optimizer(Params{w}, options);
  descend(optimizer, w);
  report(what, w, within);
  // A saved training continues without a difference.
  std::stringstream file;
  torch::serialize::OutputArchive out;
  optimizer.save(out);
  out.save_to(file);
  torch::Tensor v = w.detach().clone().set_requires_grad(true);
  Optimizer other(Params{v}, options);
  torch::serialize::InputArchive in;
  in.load_from(file);
  other.load(in);
  descend(optimizer, w);
  descend(other, v);
  report(what + " goes on", w, 2 * within);
  report(what + " from its file", torch::equal(v, w));
}

}  // namespace

PARITY(optim_all_options) {
  report_optimizer<optim::SGD>(
      "sgd", optim::SGDOptions(0.01).momentum(0.9).dampening(0.1).weight_decay(0.1));
  report_optimizer<optim::Adam>("adam", optim::AdamOptions(0.02).weight_decay(0.1).amsgrad(true));
  report_optimizer<optim::AdamW>("adamw", optim::AdamWOptions(0.02).weight_decay(0.1));
  report_optimizer<optim::Adagrad>("adagrad", optim::AdagradOptions(0.1)
                                                  .lr_decay(0.01)
                                                  .weight_decay(0.1)
                                                  .initial_accumulator_value(0.5)
                                                  .eps(1e-8));
  report_optimizer<optim::RMSprop>(
      "rmsprop", optim::RMSpropOptions(0.01).alpha(0.9).weight_decay(0.1).momentum(0.5));
  report_optimizer<optim::RMSprop>("centered", optim::RMSpropOptions(0.01).centered(true));
  for (const char* search : {"", "strong_wolfe"}) {
    auto options = optim::LBFGSOptions(0.1).max_iter(4).history_size(3);
    if (*search) options.line_search_fn(search);
    // Differences of gradients are divided by each other: one rounding of each gradient changes the
    // result of fixed steps by up to 14,400 roundings (the largest of 40 runs of PyTorch 2.15).
    report_optimizer<optim::LBFGS>(std::string("lbfgs ") + search, options,
                                   *search ? kSteps : 1 << 15);
  }
}

PARITY(optim_groups) {
  torch::Tensor a = wave({3}, 0.7, torch::kDouble).set_requires_grad(true),
                b = wave({2}, 0.5, torch::kDouble).set_requires_grad(true);
  std::vector<optim::OptimizerParamGroup> groups{
      // All options are set, because libtorch 1.13 inherits no defaults.
      optim::OptimizerParamGroup(
          Params{a}, std::make_unique<optim::SGDOptions>(optim::SGDOptions(0.5).momentum(0.25)))};
  optim::SGD sgd(groups, optim::SGDOptions(0.1).momentum(0.5));
  optim::Optimizer& base = sgd;
  base.add_param_group(optim::OptimizerParamGroup(Params{b}));
  for (int step = 0; step < 2; ++step) {
    base.zero_grad();
    (a.pow(2).sum() + b.pow(2).sum()).backward();
    sgd.step();
  }
  report("first", a, kSteps);
  report("second", b, kSteps);
  report("groups", static_cast<double>(base.param_groups().size()));
  optim::OptimizerOptions& options = base.param_groups()[0].options();
  report("rate", options.get_lr());
  options.set_lr(0.25);
  report("another", static_cast<optim::SGDOptions&>(options).lr());
  std::unique_ptr<optim::OptimizerOptions> copy = options.clone();
  report("of the copy", copy->get_lr());
  report("defaults", static_cast<optim::SGDOptions&>(base.defaults()).momentum());
  report_refusal("a negative rate", [&] { optim::Adam(Params{a}, optim::AdamOptions(-1)); });
  report_refusal("a beta of 1", [&] {
    optim::Adam(Params{a}, optim::AdamOptions(1).betas({1., 0.9}));
  });
}

PARITY(optim_schedules) {
  torch::Tensor w = wave({4}, 0.9, torch::kDouble).set_requires_grad(true);
  optim::SGD sgd(Params{w}, 0.08);
  optim::StepLR schedule(sgd, 2, 0.5);
  optim::LRScheduler& base = schedule;
  for (int epoch = 0; epoch < 5; ++epoch) {
    report("rate", sgd.param_groups()[0].options().get_lr(), 8);
    base.step();
  }
}

PARITY(utils_gradients) {
  const auto parameters = [](double scale) {
    Params all{wave({2, 3}, 0.7, torch::kDouble), wave({4}, 0.4, torch::kDouble),
               wave({1}, 0.4, torch::kDouble)};
    for (size_t i = 0; i < 2; ++i) all[i].mutable_grad() = all[i] * scale;
    return all;
  };
  for (const double norm : {1.0, 2.0, 3.0, HUGE_VAL}) {
    Params all = parameters(9);
    report("norm", nn::utils::clip_grad_norm_(all, 0.5, norm), 64);
    report("clipped", all[0].grad(), 64);
    report("without a gradient", all[2].grad());
  }
  Params small = parameters(1e-3), bad = parameters(HUGE_VAL);
  report("small", nn::utils::clip_grad_norm_(small, 5), 64);
  report("left", small[1].grad(), 8);
  report_refusal("infinite", [&] { nn::utils::clip_grad_norm_(bad, 1, 2, true); });
  report("nothing", nn::utils::clip_grad_norm_(Params(), 1));
  Params one = parameters(9);
  nn::utils::clip_grad_value_(one, 0.75);
  report("by value", one[0].grad());
  nn::utils::clip_grad_value_(one[1], 0.1);
  report("of one", one[1].grad());
  report("one's norm", nn::utils::clip_grad_norm_(one[0], 0.1), 64);
}

PARITY(utils_vectors) {
  const Params all{wave({2, 3}), wave({4}), wave({})};
  const torch::Tensor flat = nn::utils::parameters_to_vector(all);
  report("flat", flat);
  nn::utils::vector_to_parameters(flat * 2, all);
  report("back", all[1]);
  report("of no dims", all[2]);
}

PARITY(utils_sequences) {
  namespace rnn = nn::utils::rnn;
  const torch::Tensor order = torch::tensor({2, 0, 1});
  report("inverted", rnn::invert_permutation(order));
  const std::vector<torch::Tensor> sequences{wave({2, 3}), wave({4, 3}), wave({1, 3})};
  const rnn::PackedSequence packed = rnn::pack_sequence(sequences, /*enforce_sorted=*/false);
  report("data", packed.data());
  report("sizes", packed.batch_sizes());
  report("sorted", packed.sorted_indices());
  report("unsorted", packed.unsorted_indices());
  const auto [padded, lengths] = rnn::pad_packed_sequence(packed, true, -1, 5);
  report("padded", padded);
  report("lengths", lengths);
  report("pad_sequence", rnn::pad_sequence(sequences, false, 0.5));
  report_refusal("in no order", [&] { rnn::pack_sequence(sequences); });
  report_refusal("too short", [&] { rnn::pad_packed_sequence(packed, false, 0, 3); });
  const auto again =
      rnn::pack_padded_sequence(wave({3, 2, 2}), torch::tensor({3, 1}).cpu(), false, true);
  report("again", again.data());
}
