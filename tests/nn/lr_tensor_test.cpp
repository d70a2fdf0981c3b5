// Learning rates that are tensors, against torch.optim of PyTorch 2.15, after
// torch.set_default_dtype(torch.float64). p = wave(3, k=.4) of expected.h, lr = torch.tensor(.05);
// for i in range(50):
//   o.zero_grad(); ((p.sin()**2).sum() + .05 * i * p.view(-1)[0]).backward(); o.step()
//   if i == 20: lr.mul_(.5)
//   if schedule: schedule.step()
// The numbers are p after 1, 10 and 50 steps.
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <ambit/optim/optim.h>
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/nn/optimizer_case.h"

using namespace ambit;
using namespace ambit::optim;

namespace {

/// Check 50 steps of an optimizer of `options`, with the schedule that `make_schedule` returns.
template <class O, class Options, class Make>
void check_steps(Device d, Options options, Tensor lr, const std::vector<double>& expected,
                 Make make_schedule) {
  const Tensor p = wave(d, {3}, 0.4).requires_grad_();
  O optimizer(Parameters{p}, options.lr(lr));
  auto schedule = make_schedule(optimizer);
  auto next = expected.begin();
  for (int i = 0; i < 50; ++i) {
    optimizer.zero_grad();
    (p.sin().pow(2).sum() + 0.05 * i * p.flatten()[0]).backward();
    optimizer.step();
    if (i == 20) lr.mul_(0.5);
    if (schedule) schedule->step();
    if (i + 1 != 1 && i + 1 != 10 && i + 1 != 50) continue;
    check_values(p, {3}, {next, next + 3});
    next += 3;
  }
}

template <class O, class Options>
void check_steps(Device d, const Options& options, const Tensor& lr,
                 const std::vector<double>& expected) {
  check_steps<O>(d, options, lr, expected,
                 [](Optimizer&) -> std::unique_ptr<LRScheduler> { return nullptr; });
}

Tensor rate(Device d) { return tensor(0.05, TensorOptions(kFloat64).device(d)); }

}  // namespace

TEST_CASE("a write to the tensor of a learning rate changes the next steps") {
  for_each_device([](Device d) {
    check_steps<SGD>(d, SGDOptions(1).momentum(0.9), rate(d),
                     {0, 0.354295745966, 0.667818349225, -0.21449789183, -0.227640660494,
                      -0.395604288164, -6.23863083873, 0.0246805352676, 0.049018806223});
    check_steps<Adam>(d, AdamOptions(), rate(d),
                      {0, 0.33941834302, 0.667356091404, -0.256231295231, -0.0522084320667,
                       0.228242416864, -1.63466976299, 0.00310034567995, 0.0144314100583});
    check_steps<AdamW>(d, AdamWOptions(), rate(d),
                       {0, 0.339223633849, 0.666997413359, -0.256137113088, -0.0527456142473,
                        0.225916364046, -1.62627264778, 0.0028253222174, 0.0148942758005});
    check_steps<NAdam>(d, NAdamOptions(), rate(d),
                       {0, 0.336595754143, 0.664533502515, -0.254061991739, 0.0689805327788,
                        0.338079716168, -2.25595462984, 0.00117982154003, -0.0104249450415});
    check_steps<Adagrad>(d, AdagradOptions(), rate(d),
                         {0, 0.339418342316, 0.667356090905, -0.220844133318, 0.171827856827,
                          0.474847710717, -0.743102040173, 0.0420182690719, 0.260347718707});
    check_steps<Adadelta>(d, AdadeltaOptions(), rate(d),
                          {0, 0.389260230028, 0.717197977822, -0.00287901942599, 0.387732555188,
                           0.715668768894, -0.0303928687401, 0.382938712235, 0.71084896011});
    check_steps<Adamax>(d, AdamaxOptions(), rate(d),
                        {0, 0.33941834302, 0.667356091404, -0.238145460223, 0.0228800826838,
                         0.260161136244, -0.997579159099, -0.00125005404129, -0.0336219447924});
  });
}

TEST_CASE("a float32 learning rate is as exact as float32") {
  check_steps<SGD>(Device(), SGDOptions(1).momentum(0.9), rate(Device()).to(kFloat32),
                   {0, 0.354295745442, 0.667818348487, -0.214497893562, -0.22764066063,
                    -0.395604290843, -6.23863094167, 0.0246805341123, 0.0490188055566});
}

TEST_CASE("a schedule writes to the tensor of a learning rate, and reads it") {
  for_each_device([](Device d) {
    const Tensor lr = rate(d);
    check_steps<SGD>(d, SGDOptions(1).momentum(0.9), lr,
                     {0, 0.354295745966, 0.667818349225, -0.195888661598, -0.212391617953,
                      -0.353925367508, -2.64215589477, -0.0161082490266, -0.0327058521249},
                     [](Optimizer& o) { return std::make_unique<ExponentialLR>(o, 0.98); });
    check_values(lr, {}, {0.009104242002177918});
    const Tensor decaying = rate(d);
    SGD sgd(Parameters{ones({1}, d).requires_grad_()}, SGDOptions(1).lr(decaying));
    ExponentialLR schedule(sgd, 0.5);
    schedule.step();
    sgd.step();
    check_values(decaying, {}, {0.025});
    sgd.param_groups()[0].options().set_lr(0.5);
    sgd.step();
    check_values(decaying, {}, {0.5});
  });
}

TEST_CASE("groups share the tensor of a learning rate; others are refused") {
  const Tensor lr = rate(Device()), a = ones({1}).requires_grad_(), b = ones({1}).requires_grad_();
  SGD sgd({OptimizerParamGroup({a}), OptimizerParamGroup({b})}, SGDOptions(1).lr(lr));
  lr.fill_(0.25);
  (a.sum() + b.sum()).backward();
  sgd.step();
  check_values(a, {1}, {0.75});
  check_values(b, {1}, {0.75});
  lr.fill_(-1);
  CHECK_THROWS_WITH_AS(sgd.step(), "SGD: expected lr of at least 0, got -1", Error);
  CHECK_THROWS_WITH_AS(SGDOptions(1).lr(ones({2})), "lr: expected a tensor of one element, got [2]",
                       ShapeError);
  CHECK_THROWS_AS(AdamOptions().lr(Tensor()), ShapeError);
}
