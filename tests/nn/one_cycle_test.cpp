// OneCycleLR compared with PyTorch 1.13, after 0, 1, ..., 20 times o.step(); s.step(): the
// momentum, and all options. schedulers_test.cpp also tests its rates.
#include <ambit/error.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "schedulers.h"

using namespace ambit;
using namespace ambit::optim;

TEST_CASE("OneCycleLR moves the momentum in the opposite direction") {
  // clang-format off
  const std::vector<double> expected{
      0.95, 0.9404508497187, 0.9154508497187, 0.8845491502813, 0.8595491502813, 0.85,
      0.8512536043909, 0.8549515566049, 0.8609084258766, 0.8688255099071, 0.8783058130441,
      0.8888739533022, 0.9, 0.9111260466978, 0.9216941869559, 0.9311744900929, 0.9390915741234,
      0.9450484433951, 0.9487463956091, 0.95, 0.9487463956091};
  // clang-format on
  SGD sgd = make_sgd();
  OneCycleLR cycle(sgd, OneCycleLROptions(0.5, 20));
  for (size_t i = 0; i < expected.size(); ++i) {
    if (i > 0) cycle.step();
    for (const auto& group : sgd.param_groups()) {
      check_close(static_cast<const SGDOptions&>(group.options()).momentum(), expected[i]);
    }
  }
  const double last = lr_of(sgd);
  CHECK_THROWS_WITH_AS(cycle.step(), "OneCycleLR: expected at most 20 steps, got one more", Error);
  CHECK(lr_of(sgd) == last);
}

TEST_CASE("OneCycleLR reports that the optimizer was loaded without its schedule") {
  SGD sgd = make_sgd();
  const Value without = sgd.checkpoint();
  OneCycleLR cycle(sgd, OneCycleLROptions(0.5, 20));
  sgd.load_checkpoint(without);
  CHECK_THROWS_WITH_AS(cycle.step(),
                       doctest::Contains("_momentum in the schedule of group 0, got none"), Error);
}

TEST_CASE("OneCycleLR in three phases, linear, with Adam's first beta and a rate per group") {
  // OneCycleLR([.5, .1], total_steps=20, pct_start=.4, anneal_strategy='linear', three_phase=True,
  //            div_factor=10, final_div_factor=100, base_momentum=.7, max_momentum=.8)
  // clang-format off
  const std::vector<double> lrs{
      0.05, 0.1142857142857, 0.1785714285714, 0.2428571428571, 0.3071428571429, 0.3714285714286,
      0.4357142857143, 0.5, 0.4357142857143, 0.3714285714286, 0.3071428571429, 0.2428571428571,
      0.1785714285714, 0.1142857142857, 0.05, 0.0401, 0.0302, 0.0203, 0.0104, 0.0005, -0.0094};
  const std::vector<double> betas{
      0.8, 0.7857142857143, 0.7714285714286, 0.7571428571429, 0.7428571428571, 0.7285714285714,
      0.7142857142857, 0.7, 0.7142857142857, 0.7285714285714, 0.7428571428571, 0.7571428571429,
      0.7714285714286, 0.7857142857143, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8};
  // clang-format on
  const Tensor p = zeros({1}).requires_grad_(), q = zeros({1}).requires_grad_();
  Adam adam({OptimizerParamGroup({p}), OptimizerParamGroup({q})}, AdamOptions(0.1));
  OneCycleLR cycle(adam, OneCycleLROptions({0.5, 0.1}, 20)
                             .pct_start(0.4)
                             .anneal_linear(true)
                             .three_phase(true)
                             .div_factor(10)
                             .final_div_factor(100)
                             .base_momentum(0.7)
                             .max_momentum(0.8));
  for (size_t i = 0; i < lrs.size(); ++i) {
    if (i > 0) cycle.step();
    // Quoted with 13 digits; near 0 the values are differences of numbers of magnitude 0.1.
    CHECK(std::abs(lr_of(adam) - lrs[i]) <= 1e-13);
    const auto& options = static_cast<const AdamOptions&>(adam.param_groups()[0].options());
    check_close(std::get<0>(options.betas()), betas[i]);
  }
  CHECK(std::abs(lr_of(adam, 1) + 0.00188) <= 1e-13);
}
