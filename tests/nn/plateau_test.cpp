// ReduceLROnPlateau compared with PyTorch 1.13: the rates after each of 20 metrics.
#include <vector>

#include "schedulers.h"

using namespace ambit;
using namespace ambit::optim;

TEST_CASE("ReduceLROnPlateau reduces in the same steps as PyTorch's") {
  using Options = ReduceLROnPlateauOptions;
  const std::vector<double> metrics{5, 4, 3, 3,   3, 3.00001, 2.9999, 3,   3,   2,
                                    2, 2, 2, 2.5, 2, 1.99,    1.9,    1.9, 1.9, 1.9};
  const auto check = [&](const Options& options, const std::vector<double>& lrs, double best) {
    const bool largest = options.mode() == Options::Mode::max;
    const Tensor p = zeros({1}).requires_grad_();
    SGD sgd({p}, 1.0), other_sgd({p}, 1.0);
    ReduceLROnPlateau plateau(sgd, options), other(other_sgd);
    for (size_t i = 0; i < metrics.size(); ++i) {
      INFO(i);
      if (i == 11) {
        other.load_checkpoint(plateau.checkpoint());
        other_sgd.load_checkpoint(sgd.checkpoint());
      }
      const double metric = largest ? 6 - metrics[i] : metrics[i];
      plateau.step(metric);
      check_close(lr_of(sgd), lrs[i]);
      if (i < 11) continue;
      other.step(metric);
      CHECK(lr_of(other_sgd) == lr_of(sgd));
    }
    check_close(plateau.best(), best);
    CHECK(other.num_bad_epochs() == plateau.num_bad_epochs());
  };
  check(Options().patience(1), {1,     1,    1,    1,    0.1,  0.1,  0.01, 0.01, 0.001, 0.001,
                                0.001, 1e-4, 1e-4, 1e-5, 1e-5, 1e-5, 1e-5, 1e-5, 1e-6,  1e-6},
        1.9);
  check(Options(Options::Mode::max).patience(2).factor(0.5).cooldown(2),
        {1,   1,   1,    1,    1,    0.5,  0.5,  0.5,  0.5,  0.5,
         0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.125},
        4.1);
  check(Options()
            .patience(0)
            .factor(0.5)
            .threshold(0.2)
            .threshold_mode(Options::ThresholdMode::abs)
            .min_lr(0.1),
        {1,   1,   1,   0.5, 0.25, 0.125, 0.1, 0.1, 0.1, 0.1,
         0.1, 0.1, 0.1, 0.1, 0.1,  0.1,   0.1, 0.1, 0.1, 0.1},
        2.0);
  check(Options(Options::Mode::max)
            .patience(0)
            .factor(0.5)
            .threshold(0.05)
            .threshold_mode(Options::ThresholdMode::abs)
            .eps(0.2),
        {1,    1,    1,    0.5,  0.25, 0.25, 0.25, 0.25, 0.25, 0.25,
         0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25},
        4.1);
}

TEST_CASE("ReduceLROnPlateauScheduler is ReduceLROnPlateau with libtorch's arguments") {
  SGD sgd({zeros({1}).requires_grad_()}, 1.0);
  using Scheduler = ReduceLROnPlateauScheduler;
  Scheduler scheduler(sgd, Scheduler::max, 0.5f, 1, 0, Scheduler::abs, 0, {0.2f});
  std::vector<double> rates;
  for (const double metric : {1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0}) {
    scheduler.step(metric);
    rates.push_back(scheduler.get_last_lr()[0]);
  }
  const std::vector<double> want{1, 1, 1, 0.5, 0.5, 0.25, 0.25, 0.2f};
  CHECK(rates == want);
}
