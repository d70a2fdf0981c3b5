// Schedulers compared with PyTorch 1.13: the rates of the first group after 0, 1, ..., 20 times
//   o.step(); s.step()    of o = make_sgd()
// and the last rate of the second group. StepLR is libtorch's, which differs from Python's.
#include <ambit/error.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "schedulers.h"

using namespace ambit;
using namespace ambit::optim;

namespace {

using Make = std::function<std::unique_ptr<LRScheduler>(Optimizer&)>;

struct Case {
  const char* name;
  Make make;
  std::vector<double> lrs;
  double second;
};

template <class S, class... Args>
Make made(const Args&... args) {
  return [args...](Optimizer& o) { return std::make_unique<S>(o, args...); };
}

std::unique_ptr<LRScheduler> make_sequence(Optimizer& o) {
  return std::make_unique<SequentialLR>(
      o,
      std::vector<std::shared_ptr<LRScheduler>>{std::make_shared<LinearLR>(o, 0.1, 1.0, 4),
                                                std::make_shared<CosineAnnealingLR>(o, 8),
                                                std::make_shared<ExponentialLR>(o, 0.5)},
      std::vector<int64_t>{4, 14});
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      // clang-format off
    {"StepLR(6, .5) of libtorch",
     made<StepLR>(6, 0.5),
     {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025,
     0.025, 0.025, 0.025, 0.0125, 0.0125},
     0.0025},
    {"MultiStepLR([3, 8, 8, 15], gamma=.5)",
     made<MultiStepLR>(std::vector<int64_t>{3, 8, 8, 15}, 0.5),
     {0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.05, 0.0125, 0.0125, 0.0125, 0.0125, 0.0125, 0.0125,
     0.0125, 0.00625, 0.00625, 0.00625, 0.00625, 0.00625, 0.00625},
     0.00125},
    {"ExponentialLR(.9)",
     made<ExponentialLR>(0.9),
     {0.1, 0.09, 0.081, 0.0729, 0.06561, 0.059049, 0.0531441, 0.04782969, 0.043046721,
     0.0387420489, 0.03486784401, 0.031381059609, 0.0282429536481, 0.02541865828329,
     0.02287679245496, 0.02058911320946, 0.01853020188852, 0.01667718169967, 0.0150094635297,
     0.01350851717673, 0.01215766545906},
     0.002431533091811},
    {"CosineAnnealingLR(6, eta_min=.01)",
     made<CosineAnnealingLR>(6, 0.01),
     {0.1, 0.0939711431703, 0.0775, 0.055, 0.0325, 0.0160288568297, 0.01, 0.0160288568297, 0.0325,
     0.055, 0.0775, 0.0939711431703, 0.1, 0.0939711431703, 0.0775, 0.055, 0.0325,
     0.0160288568297, 0.01, 0.0160288568297, 0.0325},
     0.0125},
    {"CosineAnnealingWarmRestarts(3, 2, eta_min=.01)",
     made<CosineAnnealingWarmRestarts>(3, 2, 0.01),
     {0.1, 0.0775, 0.0325, 0.1, 0.0939711431703, 0.0775, 0.055, 0.0325, 0.0160288568297, 0.1,
     0.09846666218301, 0.0939711431703, 0.08681980515339, 0.0775, 0.06664685702961, 0.055,
     0.04335314297039, 0.0325, 0.02318019484661, 0.0160288568297, 0.01153333781699},
     0.01017037086855},
    {"CosineAnnealingWarmRestarts(4)",
     made<CosineAnnealingWarmRestarts>(4),
     {0.1, 0.08535533905933, 0.05, 0.01464466094067, 0.1, 0.08535533905933, 0.05,
     0.01464466094067, 0.1, 0.08535533905933, 0.05, 0.01464466094067, 0.1, 0.08535533905933,
     0.05, 0.01464466094067, 0.1, 0.08535533905933, 0.05, 0.01464466094067, 0.1},
     0.02},
    {"LambdaLR(lambda e: .95**e)",
     made<LambdaLR>(LambdaLR::Lambda([](int64_t e) { return std::pow(0.95, e); })),
     {0.1, 0.095, 0.09025, 0.0857375, 0.081450625, 0.07737809375, 0.0735091890625,
     0.06983372960937, 0.06634204312891, 0.06302494097246, 0.05987369392384, 0.05688000922765,
     0.05403600876626, 0.05133420832795, 0.04876749791155, 0.04632912301598, 0.04401266686518,
     0.04181203352192, 0.03972143184582, 0.03773536025353, 0.03584859224085},
     0.007169718448171},
    {"MultiplicativeLR(lambda e: 1 - e/50)",
     made<MultiplicativeLR>(
         LambdaLR::Lambda([](int64_t e) { return 1 - static_cast<double>(e) / 50; })),
     {0.1, 0.098, 0.09408, 0.0884352, 0.081360384, 0.0732243456, 0.064437424128, 0.05541618475008,
     0.04654959519007, 0.03817066805586, 0.03053653444468, 0.02381849686685, 0.01810205761881,
     0.01339552263792, 0.009644776299301, 0.006751343409511, 0.004590913518467,
     0.003030002922188, 0.001939201870201, 0.001202305159524, 0.0007213830957146},
     0.0001442766191429},
    {"LinearLR(.25, .8, 8)",
     made<LinearLR>(0.25, 0.8, 8),
     {0.025, 0.031875, 0.03875, 0.045625, 0.0525, 0.059375, 0.06625, 0.073125, 0.08, 0.08, 0.08,
     0.08, 0.08, 0.08, 0.08, 0.08, 0.08, 0.08, 0.08, 0.08, 0.08},
     0.016},
    {"ConstantLR(.5, 4)",
     made<ConstantLR>(0.5, 4),
     {0.05, 0.05, 0.05, 0.05, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1,
     0.1, 0.1, 0.1, 0.1},
     0.02},
    {"SequentialLR([LinearLR(.1, total_iters=4), CosineAnnealingLR(8), ExponentialLR(.5)], "
     "[4, 14])",
     make_sequence,
     {0.01, 0.0325, 0.055, 0.0775, 0.1, 0.09619397662556, 0.08535533905933, 0.06913417161825,
     0.05, 0.03086582838175, 0.01464466094067, 0.003806023374436, 0, 0.003806023374436, 0.1,
     0.05, 0.025, 0.0125, 0.00625, 0.003125, 0.0015625},
     0.0003125},
    {"OneCycleLR(.5, total_steps=20)",
     made<OneCycleLR>(OneCycleLROptions(0.5, 20)),
     {0.02, 0.06583592135001, 0.18583592135, 0.33416407865, 0.45416407865, 0.5, 0.4937320031175,
     0.4752423160067, 0.4454580887855, 0.4058728269749, 0.3584715008957, 0.3056310109681,
     0.250001, 0.1943709890319, 0.1415304991043, 0.09412917302512, 0.05454391121448,
     0.02475968399326, 0.006269996882456, 2e-06, 0.006269996882456},
     0.006269996882456},
      // clang-format on
  };
  return all;
}

// Where the exact cosine is 0, the computed one is a rounding error.
constexpr double kCosineRounding = 1e-16;

}  // namespace

TEST_CASE("every scheduler sets PyTorch's rates") {
  for (const Case& c : cases()) {
    INFO(std::string(c.name));
    SGD sgd = make_sgd();
    const auto scheduler = c.make(sgd);
    for (size_t i = 0; i < c.lrs.size(); ++i) {
      INFO(i);
      if (i > 0) scheduler->step();
      CHECK(std::abs(lr_of(sgd) - c.lrs[i]) <= 1e-12 * c.lrs[i] + kCosineRounding);
      CHECK(scheduler->get_last_lr()[0] == lr_of(sgd));
      CHECK(scheduler->last_epoch() == static_cast<int64_t>(i));
    }
    check_close(lr_of(sgd, 1), c.second);
  }
}

TEST_CASE("a scheduler continues from its checkpoint") {
  for (const Case& c : cases()) {
    INFO(std::string(c.name));
    SGD first_sgd = make_sgd(), sgd = make_sgd();
    const auto first = c.make(first_sgd);
    for (int i = 0; i < 9; ++i) first->step();
    const auto second = c.make(sgd);
    second->step();
    sgd.load_checkpoint(first_sgd.checkpoint());
    second->load_checkpoint(first->checkpoint());
    CHECK(second->last_epoch() == 9);
    for (size_t i = 9; i < c.lrs.size(); ++i) {
      if (i > 9) second->step();
      CHECK(std::abs(lr_of(sgd) - c.lrs[i]) <= 1e-12 * c.lrs[i] + kCosineRounding);
    }
    check_close(lr_of(sgd, 1), c.second);
  }
}

TEST_CASE("a scheduler loads its options from a checkpoint, and refuses invalid ones") {
  SGD sgd = make_sgd();
  ExponentialLR exponential(sgd, 0.9);
  ExponentialLR other(sgd, 0.5);
  other.step();
  exponential.load_checkpoint(other.checkpoint());
  exponential.step();
  check_close(lr_of(sgd), 0.1 * 0.5 * 0.5);
  const Value good = exponential.checkpoint();
  const auto with = [&](const char* key, Value value) {
    Value::Dict entries;
    for (const auto& [name, old] : good.entries()) {
      entries.emplace_back(name, name.to_string() == key ? value : old);
    }
    return Value::dict(std::move(entries));
  };
  for (const Value& bad : {Value(), Value::dict({}), with("last_epoch", -1), with("gamma", "fast"),
                           with("base_lrs", std::vector<double>{0.1}), with("last_epoch", 1.5)}) {
    CHECK_THROWS_AS(exponential.load_checkpoint(bad), SerializationError);
    CHECK(exponential.last_epoch() == 2);
  }
  StepLR steps(sgd, 2);
  CHECK_THROWS_AS(steps.load_checkpoint(good), SerializationError);
}

TEST_CASE("a checkpoint of StepLR counts steps like Python, whose rates fall a step earlier") {
  SGD sgd = make_sgd();
  StepLR steps(sgd, 3, 0.5);
  const auto epoch = [&] { return steps.checkpoint()["last_epoch"].to_int(); };
  CHECK(epoch() == -1);
  for (int i = 0; i < 3; ++i) steps.step();
  CHECK(epoch() == 2);
  // torch.optim.lr_scheduler.StepLR(sgd, 3, 0.5) after 5 steps, with the rate 0.05: the rate falls
  // in the next step, which is number 6.
  steps.load_checkpoint(Value::dict({{"step_size", 3},
                                     {"gamma", 0.5},
                                     {"base_lrs", std::vector<double>{0.1, 0.02}},
                                     {"last_epoch", 5},
                                     {"_step_count", 6}}));
  for (const double lr : {0.05, 0.05, 0.05, 0.025}) {
    steps.step();
    check_close(lr_of(sgd), lr);
  }
}

TEST_CASE("schedulers that multiply may be chained") {
  // ChainedScheduler([ExponentialLR(.9), MultiStepLR([5], .1), ConstantLR(.5, 7)])
  const std::vector<double> expected{0.05,       0.045,       0.0405,      0.03645,     0.032805,
                                     0.00295245, 0.002657205, 0.004782969, 0.0043046721};
  SGD sgd = make_sgd();
  ExponentialLR a(sgd, 0.9);
  MultiStepLR b(sgd, {5});
  ConstantLR c(sgd, 0.5, 7);
  for (size_t i = 0; i < expected.size(); ++i) {
    if (i > 0) a.step(), b.step(), c.step();
    check_close(lr_of(sgd), expected[i]);
  }
}

TEST_CASE("schedulers refuse options out of range") {
  SGD sgd = make_sgd(), other = make_sgd();
  CHECK_THROWS_WITH_AS(StepLR(sgd, 0), "StepLR: expected a step_size of at least 1, got 0", Error);
  CHECK_THROWS_AS(ConstantLR(sgd, 1.5), Error);
  CHECK_THROWS_WITH_AS(LinearLR(sgd, 0), "LinearLR: expected a start_factor in (0, 1], got 0",
                       Error);
  CHECK_THROWS_AS(LinearLR(sgd, 0.5, -1), Error);
  CHECK_THROWS_AS(CosineAnnealingLR(sgd, 0), Error);
  CHECK_THROWS_AS(CosineAnnealingWarmRestarts(sgd, 3, 0), Error);
  CHECK_THROWS_AS(LambdaLR(sgd, std::vector<LambdaLR::Lambda>{[](int64_t) { return 1.0; }}), Error);
  CHECK_THROWS_AS(OneCycleLR(sgd, OneCycleLROptions(0.1, 0)), Error);
  CHECK_THROWS_AS(OneCycleLR(sgd, OneCycleLROptions({0.1, 0.2, 0.3}, 5)), Error);
  Adagrad adagrad({zeros({1}).requires_grad_()});
  CHECK_THROWS_AS(OneCycleLR(adagrad, OneCycleLROptions(0.1, 5)), Error);
  CHECK_NOTHROW(OneCycleLR(adagrad, OneCycleLROptions(0.1, 5).cycle_momentum(false)));
  CHECK_THROWS_AS(ReduceLROnPlateau(sgd, ReduceLROnPlateauOptions().factor(1)), Error);
  CHECK_THROWS_AS(ReduceLROnPlateau(sgd, ReduceLROnPlateauOptions().min_lr({1, 2, 3})), Error);
  const auto step = [](Optimizer& o) { return std::make_shared<StepLR>(o, 1); };
  CHECK_THROWS_AS(SequentialLR(sgd, {step(sgd), step(sgd)}, {}), Error);
  CHECK_THROWS_AS(SequentialLR(sgd, {step(sgd), step(other)}, {2}), Error);
  CHECK_THROWS_AS(SequentialLR(sgd, {step(sgd), step(sgd), step(sgd)}, {4, 4}), Error);
  CHECK_THROWS_AS(SequentialLR(sgd, {}, {}), Error);
}

namespace {

// A scheduler as programs derive them from libtorch's base class.
class Halves : public LRScheduler {
 public:
  explicit Halves(Optimizer& o) : LRScheduler(o) {}

 protected:
  std::vector<double> get_lrs() override {
    auto lrs = get_current_lrs();
    if (step_count_ > 0) lrs[0] /= 2;
    return lrs;
  }
};

}  // namespace

TEST_CASE("a program's own scheduler overrides get_lrs()") {
  SGD sgd = make_sgd();
  Halves halves(sgd);
  halves.step();
  CHECK(lr_of(sgd) == 0.1);
  halves.step();
  CHECK(lr_of(sgd) == 0.05);
  halves.restart();
  CHECK(lr_of(sgd) == 0.1);
}
