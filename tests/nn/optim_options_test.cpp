// Options of groups: options inherited from the optimizer, and options in files.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/nn/serialize.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/optim/optim.h>
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/temporary_folder.h"

using namespace ambit;
using namespace ambit::optim;

namespace {

std::vector<Tensor> parameters() { return {ones({2, 1}).requires_grad_()}; }

// Return the options of a group with `own` in an optimizer with `defaults`.
template <class O, class Options>
Options group_of(const Options& own, const Options& defaults) {
  const O optimizer({OptimizerParamGroup(parameters(), own.clone())}, defaults);
  return static_cast<const Options&>(optimizer.param_groups()[0].options());
}

// Return "name: value" of each, to compare and to print.
std::string text(const Value::Dict& values) {
  std::ostringstream all;
  for (const auto& [key, v] : values) {
    all << key.to_string() << ": ";
    if (v.isTuple()) {
      for (const Value& item : v.items()) all << item.to_double() << ' ';
    } else if (v.isString()) {
      all << v.to_string();
    } else if (v.is_none()) {
      all << "None";
    } else {
      all << v.toScalar().to<double>();
    }
    all << "; ";
  }
  return all.str();
}

using Maker = std::function<std::unique_ptr<Optimizer>()>;

template <class O, class Options>
std::pair<Maker, Maker> two(const Options& saved, const Options& other) {
  return {[=] { return std::make_unique<O>(parameters(), saved); },
          [=] { return std::make_unique<O>(parameters(), other); }};
}

// Create an optimizer without default options, and one with the defaults.
std::vector<std::pair<Maker, Maker>> every_optimizer() {
  return {
      two<SGD>(SGDOptions(0.1).momentum(0.9).dampening(0.2).weight_decay(0.01), SGDOptions(0.5)),
      two<SGD>(SGDOptions(0.1).momentum(0.9).nesterov(true), SGDOptions(0.5)),
      two<Adam>(AdamOptions(0.1).betas({0.8, 0.99}).eps(1e-6).weight_decay(0.1).amsgrad(true),
                AdamOptions()),
      two<Adam>(AdamOptions(0.1).capturable(true), AdamOptions()),
      two<AdamW>(AdamWOptions(0.1).betas({0.8, 0.99}).eps(1e-6).weight_decay(0.1), AdamWOptions()),
      two<Adagrad>(
          AdagradOptions(0.1).lr_decay(0.01).weight_decay(0.1).initial_accumulator_value(0.5).eps(
              1e-6),
          AdagradOptions()),
      two<RMSprop>(
          RMSpropOptions(0.1).alpha(0.9).eps(1e-6).weight_decay(0.1).momentum(0.5).centered(true),
          RMSpropOptions()),
      two<SGD>(SGDOptions(0.1).maximize(true), SGDOptions(0.5)),
      two<Adam>(AdamOptions(0.1).decoupled_weight_decay(true).maximize(true), AdamOptions()),
      two<NAdam>(NAdamOptions(0.1)
                     .betas({0.8, 0.99})
                     .eps(1e-6)
                     .weight_decay(0.1)
                     .momentum_decay(0.1)
                     .decoupled_weight_decay(true)
                     .maximize(true),
                 NAdamOptions()),
      two<RAdam>(RAdamOptions(0.1)
                     .betas({0.8, 0.99})
                     .eps(1e-6)
                     .weight_decay(0.1)
                     .decoupled_weight_decay(true)
                     .maximize(true),
                 RAdamOptions()),
      two<Adadelta>(AdadeltaOptions(0.1).rho(0.8).eps(1e-4).weight_decay(0.1).maximize(true),
                    AdadeltaOptions()),
      two<Adamax>(AdamaxOptions(0.1).betas({0.8, 0.99}).eps(1e-6).weight_decay(0.1).maximize(true),
                  AdamaxOptions()),
      two<ASGD>(ASGDOptions(0.1).lambd(0.1).alpha(0.5).t0(3).weight_decay(0.1).maximize(true),
                ASGDOptions()),
      two<Rprop>(RpropOptions(0.1).etas({0.4, 1.1}).step_sizes({1e-3, 1}).maximize(true),
                 RpropOptions()),
      two<Muon>(MuonOptions(0.1)
                    .weight_decay(0.2)
                    .momentum(0.9)
                    .nesterov(false)
                    .ns_coefficients({2, -1.5, 0.5})
                    .eps(1e-6)
                    .ns_steps(3)
                    .adjust_lr_fn("match_rms_adamw"),
                MuonOptions()),
      two<LBFGS>(LBFGSOptions(0.1)
                     .max_iter(7)
                     .max_eval(9)
                     .tolerance_grad(1e-3)
                     .tolerance_change(1e-4)
                     .history_size(5)
                     .line_search_fn("strong_wolfe")
                     .maximize(true),
                 LBFGSOptions()),
  };
}

void step(Optimizer& optimizer) {
  optimizer.step([&] {
    optimizer.zero_grad();
    const Tensor loss = optimizer.parameters()[0].pow(2).sum();
    loss.backward();
    return loss;
  });
}

// Save `from` and load it into `to`: through a stream if `how` is "stream", else through a file of
// the name `how`.
void pass_on(const Optimizer& from, Optimizer& to, const std::string& how) {
  if (how == "stream") {
    std::stringstream stream;
    save(from, stream);
    load(to, stream);
    return;
  }
  const TemporaryFolder folder;
  save(from, folder / how);
  load(to, folder / how);
}

constexpr const char* kWays[] = {"stream", "optimizer.bin", "optimizer.pth"};

}  // namespace

TEST_CASE("a learning rate lowered by a scheduler is loaded, in every format") {
  for (const std::string how : kWays) {
    INFO(how);
    SGD first(parameters(), SGDOptions(0.05));
    StepLR schedule(first, 1, 0.5);
    step(first);
    schedule.step();
    schedule.step();
    SGD second(parameters(), SGDOptions(0.05));
    pass_on(first, second, how);
    // PyTorch 2.15: o.load_state_dict(saved) has lr 0.025 and initial_lr 0.05
    CHECK(second.param_groups()[0].options().get_lr() == 0.025);
    CHECK(second.param_groups()[0].schedule() ==
          std::map<std::string, double>{{"initial_lr", 0.05}});
  }
}

TEST_CASE("every option of every optimizer is loaded, in every format") {
  for (const std::string how : kWays) {
    for (const auto& [make, make_other] : every_optimizer()) {
      const auto saved = make(), other = make_other();
      const std::string right = text(saved->param_groups()[0].options().values());
      INFO(how << ": " << right);
      CHECK(text(other->param_groups()[0].options().values()) != right);
      step(*saved);
      OptimizerOptions& options = other->param_groups()[0].options();
      pass_on(*saved, *other, how);
      CHECK(&other->param_groups()[0].options() == &options);
      CHECK(text(options.values()) == right);
      CHECK(other->state_dict().size() == saved->state_dict().size());
    }
  }
}

TEST_CASE("each group is loaded with its options") {
  for (const std::string how : kWays) {
    const auto make = [](double first, double second) {
      auto sgd = std::make_unique<SGD>(parameters(), SGDOptions(first).momentum(0.5));
      sgd->add_param_group({parameters(), SGDOptions(second).momentum(0.9).clone()});
      return sgd;
    };
    const auto saved = make(0.1, 0.2), other = make(0.3, 0.4);
    pass_on(*saved, *other, how);
    CHECK(other->param_groups()[0].options().get_lr() == 0.1);
    CHECK(other->param_groups()[1].options().get_lr() == 0.2);
    CHECK(other->param_groups()[1].options().get_momentum() == 0.9);
    CHECK(other->defaults().get_lr() == 0.3);
  }
}

TEST_CASE("master weights are loaded with their option") {
  for (const std::string how : kWays) {
    const auto make = [](bool on) {
      return std::make_unique<SGD>(std::vector<Tensor>{ones({2}, kBFloat16).requires_grad_()},
                                   SGDOptions(0.1).momentum(0.9).master_weights(on));
    };
    const auto saved = make(true), other = make(false), plain = make(false), third = make(true);
    step(*saved);
    pass_on(*saved, *other, how);
    CHECK(other->param_groups()[0].options().keeps_master_weights());
    CHECK(other->state_dict().size() == 2);
    pass_on(*plain, *third, how);  // like PyTorch's files, it does not contain the options
    CHECK(third->param_groups()[0].options().keeps_master_weights());
  }
}

TEST_CASE("options that are not set are those of the optimizer") {
  // Values of libtorch 2.15 for optimizers with these options. libtorch lacks the optimizers listed
  // after LBFGS, and maximize.
  const auto check = [](const auto& options, const std::string& expected) {
    CHECK(text(options.values()) == expected);
  };
  const auto adam = AdamOptions(0.5).betas({0.8, 0.9}).eps(1e-3).weight_decay(0.2).amsgrad(true);
  check(group_of<Adam>(AdamOptions().weight_decay(0.1), AdamOptions(0.5)),
        "lr: 0.5; betas: 0.9 0.999 ; eps: 1e-08; weight_decay: 0.1; amsgrad: 0; maximize: 0; "
        "capturable: 0; "
        "decoupled_weight_decay: 0; ");
  check(group_of<Adam>(AdamOptions(1e-3), adam),
        "lr: 0.5; betas: 0.8 0.9 ; eps: 0.001; weight_decay: 0.2; amsgrad: 1; maximize: 0; "
        "capturable: 0; "
        "decoupled_weight_decay: 0; ");
  check(group_of<Adam>(AdamOptions(0.3).betas({0.8, 0.999}).eps(1e-4).weight_decay(0.3), adam),
        "lr: 0.3; betas: 0.8 0.999 ; eps: 0.0001; weight_decay: 0.3; amsgrad: 1; maximize: 0; "
        "capturable: 0; "
        "decoupled_weight_decay: 0; ");
  const auto adamw = AdamWOptions(0.5).weight_decay(0.2);
  check(group_of<AdamW>(AdamWOptions(0.1), adamw),
        "lr: 0.1; betas: 0.9 0.999 ; eps: 1e-08; weight_decay: 0.2; amsgrad: 0; maximize: 0; "
        "capturable: 0; "
        "decoupled_weight_decay: 1; ");
  check(group_of<AdamW>(AdamWOptions(0.1).weight_decay(0), adamw),
        "lr: 0.1; betas: 0.9 0.999 ; eps: 1e-08; weight_decay: 0; amsgrad: 0; maximize: 0; "
        "capturable: 0; "
        "decoupled_weight_decay: 1; ");
  check(group_of<SGD>(SGDOptions(0.1),
                      SGDOptions(0.5).momentum(0.9).weight_decay(0.1).nesterov(true)),
        "lr: 0.1; momentum: 0.9; dampening: 0; weight_decay: 0.1; nesterov: 1; maximize: 0; ");
  check(group_of<SGD>(SGDOptions(0.2).momentum(0.8),
                      SGDOptions(0.5).momentum(0.9).dampening(0.3).weight_decay(0.1)),
        "lr: 0.2; momentum: 0.8; dampening: 0.3; weight_decay: 0.1; nesterov: 0; maximize: 0; ");
  check(group_of<Adagrad>(
            AdagradOptions().lr_decay(0.1),
            AdagradOptions(0.5).weight_decay(0.2).initial_accumulator_value(0.3).eps(1e-3)),
        "lr: 0.5; lr_decay: 0.1; eps: 0.001; weight_decay: 0.2; initial_accumulator_value: 0.3; "
        "maximize: 0; ");
  check(group_of<RMSprop>(
            RMSpropOptions().alpha(0.5),
            RMSpropOptions(0.5).weight_decay(0.2).momentum(0.3).eps(1e-3).centered(true)),
        "lr: 0.5; momentum: 0.3; alpha: 0.5; eps: 0.001; centered: 1; weight_decay: 0.2; "
        "maximize: 0; ");
  check(group_of<LBFGS>(LBFGSOptions().max_iter(7), LBFGSOptions(0.5)
                                                        .max_iter(9)
                                                        .max_eval(11)
                                                        .tolerance_grad(1e-3)
                                                        .tolerance_change(1e-4)
                                                        .history_size(5)
                                                        .line_search_fn("strong_wolfe")),
        "lr: 0.5; max_iter: 7; max_eval: 11; tolerance_grad: 0.001; tolerance_change: 0.0001; "
        "history_size: 5; line_search_fn: strong_wolfe; maximize: 0; ");
  check(group_of<LBFGS>(LBFGSOptions().max_iter(8), LBFGSOptions(0.5).max_iter(16)),
        "lr: 0.5; max_iter: 8; max_eval: 20; tolerance_grad: 1e-07; tolerance_change: 1e-09; "
        "history_size: 100; line_search_fn: None; maximize: 0; ");
  check(group_of<NAdam>(NAdamOptions().momentum_decay(0.1).maximize(true),
                        NAdamOptions(0.5).betas({0.8, 0.9}).weight_decay(0.2)),
        "lr: 0.5; betas: 0.8 0.9 ; eps: 1e-08; weight_decay: 0.2; momentum_decay: 0.1; "
        "decoupled_weight_decay: 0; maximize: 1; ");
  check(group_of<RAdam>(RAdamOptions(0.1), RAdamOptions(0.5).decoupled_weight_decay(true)),
        "lr: 0.1; betas: 0.9 0.999 ; eps: 1e-08; weight_decay: 0; maximize: 0; "
        "decoupled_weight_decay: 1; ");
  check(group_of<Rprop>(RpropOptions().etas({0.4, 1.1}), RpropOptions(0.5).step_sizes({0.1, 1})),
        "lr: 0.5; etas: 0.4 1.1 ; step_sizes: 0.1 1 ; maximize: 0; ");
  check(group_of<Muon>(MuonOptions().ns_steps(3),
                       MuonOptions(0.5).nesterov(false).adjust_lr_fn("spectral_unclamped")),
        "lr: 0.5; weight_decay: 0.1; momentum: 0.95; nesterov: 0; ns_coefficients: 3.4445 -4.775 "
        "2.0315 ; eps: 1e-07; ns_steps: 3; adjust_lr_fn: spectral_unclamped; ");
  CHECK(group_of<Adam>(AdamOptions(), AdamOptions().decoupled_weight_decay(true))
            .decoupled_weight_decay());
  CHECK(group_of<SGD>(SGDOptions(0.1), SGDOptions(0.1).maximize(true)).maximize());
  CHECK(group_of<LBFGS>(LBFGSOptions(), LBFGSOptions().maximize(true)).maximize());
  CHECK(group_of<SGD>(SGDOptions(0.1), SGDOptions(0.1).master_weights(true)).master_weights());
  CHECK(group_of<Adam>(AdamOptions().eps(1e-6), AdamOptions().capturable(true)).capturable());
}

TEST_CASE("SGD's learning rate always counts as set, since its options have no default for it") {
  // libtorch 2.15 replaces an lr of 0.001 by the optimizer's.
  CHECK(group_of<SGD>(SGDOptions(1e-3), SGDOptions(0.5)).lr() == 1e-3);
  CHECK(group_of<SGD>(SGDOptions(0), SGDOptions(0.5)).lr() == 0);
}

TEST_CASE("groups that are added later inherit options, too, and are checked with these") {
  Adam adam(parameters(), AdamOptions(0.5));
  adam.add_param_group({parameters(), AdamOptions(1e-3).eps(1e-6).clone()});
  CHECK(adam.param_groups()[1].options().get_lr() == 0.5);
  adam.defaults().set_lr(0.25);
  adam.add_param_group({parameters(), AdamOptions().clone()});
  CHECK(adam.param_groups()[2].options().get_lr() == 0.25);
  SGD sgd(parameters(), SGDOptions(0.1).momentum(0.9).nesterov(true));
  CHECK_THROWS_AS(sgd.add_param_group({parameters(), SGDOptions(0.1).dampening(0.1).clone()}),
                  Error);
  CHECK(sgd.param_groups().size() == 1);
}
