// Shared by the tests of schedulers: an optimizer with two groups, and the tolerance of rates.
#pragma once

#include <ambit/ops/creation.h>
#include <ambit/optim/optim.h>
#include <doctest/doctest.h>

#include <cmath>

/// Expected rates have 13 digits; recursive formulas accumulate a dozen roundings.
inline void check_close(double got, double expected) {
  CHECK(std::abs(got - expected) <= 1e-12 * std::abs(expected) + 1e-17);
}

/// Return SGD([{'params': [p]}, {'params': [q], 'lr': .02}], lr=.1, momentum=.9).
inline ambit::optim::SGD make_sgd() {
  using namespace ambit::optim;
  const auto leaf = [] { return ambit::zeros({1}).requires_grad_(); };
  return SGD({OptimizerParamGroup({leaf()}),
              OptimizerParamGroup({leaf()}, SGDOptions(0.02).momentum(0.9).clone())},
             SGDOptions(0.1).momentum(0.9));
}

inline double lr_of(const ambit::optim::Optimizer& o, size_t group = 0) {
  return o.param_groups()[group].options().get_lr();
}
