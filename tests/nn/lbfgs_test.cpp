// LBFGS compared with PyTorch 1.13 in float64: Python's and libtorch's are equal. p = wave(4,
// k=.4);
//   def closure():
//     o.zero_grad(); l = ((p*p - 2)**2).sum() + p[0]*p[1]*.3 + (p[2] - p[3])**4; l.backward()
//     return l
//   losses = [o.step(closure).item() for _ in range(n)]
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <ambit/optim/optim.h>
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
using optim::LBFGS;
using optim::LBFGSOptions;

namespace {

// Names, because backends are not searched before main().
const std::pair<const char*, const char*> kPairs[] = {
    {"cpu", "reference"}, {"reference", "cpu"}, {"cpu", "sim"}, {"sim", "cpu"}};

struct Problem {
  explicit Problem(Device device = {}) : p(wave(device, {4}, 0.4).requires_grad_()) {}
  Tensor operator()() {
    ++calls;
    p.mutable_grad().reset();
    Tensor loss = (p * p - 2).pow(2).sum() + p[0] * p[1] * 0.3 + (p[2] - p[3]).pow(4);
    loss.backward();
    return loss;
  }
  Tensor p;
  int calls = 0;
};

struct Case {
  const char* options;
  LBFGSOptions make;
  std::vector<double> expected;  // p, then the losses
  int calls;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"lr=.1",
       LBFGSOptions(0.1),
       {-1.440341195009, 1.441454106843, 1.414322416184, 1.414009691508, 10.90479496934,
        0.7641818592705, -0.5756593844549, -0.6106768315452},
       80},
      {"lr=.05, max_iter=5, history_size=3",
       LBFGSOptions(0.05).max_iter(5).history_size(3),
       {-1.094757130912, 1.662263226724, 1.46681317464, 1.441817218624, 10.90479496934,
        5.413427804892, 3.589371300939, 2.265963145164},
       20},
      {"line_search_fn='strong_wolfe'",
       LBFGSOptions().line_search_fn("strong_wolfe"),
       {-1.440485871974, 1.440486226072, 1.414213130605, 1.414213855287, 10.90479496934,
        -0.6112499999973, -0.6112499999973, -0.6112499999973},
       27},
      {"max_iter=3, history_size=2, line_search_fn='strong_wolfe'",
       LBFGSOptions().max_iter(3).history_size(2).line_search_fn("strong_wolfe"),
       {-1.329047609948, 0.8855257742467, 1.313604928056, 1.301988337764, 10.90479496934,
        5.518726462646, 3.93769293077, 1.465134249991},
       14},
      {"lr=.5, max_iter=7, max_eval=5, line_search_fn='strong_wolfe'",
       LBFGSOptions(0.5).max_iter(7).max_eval(5).line_search_fn("strong_wolfe"),
       {-1.440809396175, 1.438994147769, 1.414214896235, 1.412444296194, 10.90479496934,
        3.98117791631, 0.1494364917118, -0.5962789288125},
       21},
      {"lr=5, max_iter=4, line_search_fn='strong_wolfe'",
       LBFGSOptions(5).max_iter(4).line_search_fn("strong_wolfe"),
       {-1.436422574549, 1.445359646867, 1.420326849047, 1.410784567509, 10.90479496934,
        4.583633494783, 3.78858514621, 0.5736602616181},
       22},
      {"lr=.02, max_iter=2, history_size=4",
       LBFGSOptions(0.02).max_iter(2).history_size(4),
       {-0.5448480211078, 1.417878274333, 1.396321860158, 1.429782133323, 10.90479496934,
        10.82758774345,   9.936102788551, 9.045604796114, 7.313440797294, 6.919233531678,
        6.649916749583,   6.335509002879, 5.990479332028, 5.65935113508,  5.360686141657,
        5.061513661257,   4.72853649361,  4.389530058038, 4.089972515767, 3.8306764476,
        3.592574196902,   3.360677346231, 3.12844313818,  2.897675940983},
       40},
  };
  return all;
}

Tensor with_losses(const Tensor& p, const std::vector<double>& losses) {
  return cat({p.detach().cpu(), tensor(losses, kFloat64)});
}

}  // namespace

TEST_CASE("LBFGS has PyTorch's values") {
  for (const Case& c : cases()) {
    INFO(std::string(c.options));
    for_each_device([&](Device device) {
      Problem problem(device);
      LBFGS lbfgs({problem.p}, c.make);
      std::vector<double> losses;
      while (losses.size() + 4 < c.expected.size()) {
        losses.push_back(lbfgs.step([&] { return problem(); }).item<double>());
      }
      // Near the minimum a step is a quotient of small differences, which loses three more digits.
      check_values(with_losses(problem.p, losses), {static_cast<int64_t>(c.expected.size())},
                   c.expected, 1e-8);
      CHECK(problem.calls == c.calls);
    });
  }
}

TEST_CASE("LBFGS continues from its state, as a dict and as a checkpoint") {
  for (const Case& c : cases()) {
    INFO(std::string(c.options));
    Problem whole;
    LBFGS first({whole.p}, c.make);
    first.step([&] { return whole(); });
    first.step([&] { return whole(); });
    for (const bool checkpoint : {false, true}) {
      Problem rest;
      rest.p.set_data(whole.p.detach().clone());
      LBFGS second({rest.p}, checkpoint ? LBFGSOptions(7) : c.make);
      if (checkpoint) {
        second.load_checkpoint(first.checkpoint());
      } else {
        second.load_state_dict(first.state_dict());
      }
      Problem other;
      other.p.set_data(whole.p.detach().clone());
      LBFGS third({other.p}, c.make);
      third.load_state_dict(first.state_dict());
      second.step([&] { return rest(); });
      third.step([&] { return other(); });
      CHECK(rest.p.equal(other.p));
      // Without the state, the values would differ.
      Problem forgetful;
      forgetful.p.set_data(whole.p.detach().clone());
      LBFGS fourth({forgetful.p}, c.make);
      fourth.step([&] { return forgetful(); });
      if (c.make.max_iter() < 20) CHECK_FALSE(forgetful.p.equal(other.p));
    }
    whole.p.set_data(whole.p.detach().clone());
    first.step([&] { return whole(); });
  }
}

TEST_CASE("LBFGS trains several parameters as one, some without a gradient or elements") {
  for_each_device([](Device device) {
    const Tensor a = wave(device, {2, 2}, 0.4).requires_grad_();
    const Tensor strided = wave(device, {2, 3}).t().detach().requires_grad_();
    const Tensor unused = ones({3}, TensorOptions(kFloat64).device(device)).requires_grad_();
    const Tensor nothing = empty({0}, a.options()).requires_grad_();
    LBFGS lbfgs({a, unused, strided, nothing}, LBFGSOptions().line_search_fn("strong_wolfe"));
    const auto closure = [&] {
      lbfgs.zero_grad();
      Tensor loss = (a - 1).pow(2).sum() + (strided - wave(device, {3, 2})).pow(4).sum();
      loss.backward();
      return loss;
    };
    const double before = closure().item<double>();
    for (int i = 0; i < 5; ++i) lbfgs.step(closure);
    CHECK(closure().item<double>() < 1e-6 * before);
    CHECK(unused.equal(ones_like(unused)));
    CHECK(strided.stride(0) == 1);
  });
}

TEST_CASE("after an error in LBFGS or its closure, nothing has changed") {
  Problem problem;
  LBFGS lbfgs({problem.p}, LBFGSOptions().line_search_fn("strong_wolfe").max_iter(3));
  lbfgs.step([&] { return problem(); });
  const Tensor before = problem.p.detach().clone();
  const StateDict state = lbfgs.state_dict();
  for (int good = 0; good < 3; ++good) {
    int left = good;
    CHECK_THROWS_WITH_AS(lbfgs.step([&]() -> Tensor {
      if (left-- == 0) throw Error("not now");
      return problem();
    }),
                         "not now", Error);
    CHECK(problem.p.equal(before));
    const StateDict now = lbfgs.state_dict();
    for (size_t i = 0; i < state.size(); ++i) CHECK(now[i].second.equal(state[i].second));
  }
  CHECK_THROWS_AS(lbfgs.step(), Error);
  CHECK_THROWS_AS(lbfgs.step([] { return Tensor(); }), Error);
  lbfgs.step([&] { return problem(); });
  CHECK_FALSE(problem.p.equal(before));
}

TEST_CASE("LBFGS refuses invalid options and state") {
  const Tensor p = ones({2}).requires_grad_(), q = ones({2}).requires_grad_();
  CHECK_THROWS_AS(LBFGS({optim::OptimizerParamGroup({p}), optim::OptimizerParamGroup({q})}), Error);
  CHECK_THROWS_WITH_AS(LBFGS({p}, LBFGSOptions().line_search_fn("armijo")),
                       "LBFGS: expected \"strong_wolfe\" or no line_search_fn, got \"armijo\"",
                       Error);
  CHECK_THROWS_AS(LBFGS({p}, LBFGSOptions(-1)), Error);
  CHECK_THROWS_AS(LBFGS({p}, LBFGSOptions().max_iter(-1)), Error);
  CHECK_THROWS_AS(LBFGS({p, ones({2}, kFloat64).requires_grad_()}).step([&] { return p.sum(); }),
                  DTypeError);
  LBFGS lbfgs({p});
  const auto closure = [&] {
    lbfgs.zero_grad();
    Tensor loss = (p * p).sum();
    loss.backward();
    return loss;
  };
  lbfgs.step(closure);
  const StateDict good = lbfgs.state_dict();
  REQUIRE(good.size() == 10);
  for (size_t i = 0; i < good.size(); ++i) {
    INFO(good[i].first);
    StateDict missing = good, twice = good, other = good;
    missing.erase(missing.begin() + static_cast<ptrdiff_t>(i));
    CHECK_THROWS_AS(lbfgs.load_state_dict(missing), Error);
    twice.push_back(good[i]);
    CHECK_THROWS_AS(lbfgs.load_state_dict(twice), Error);
    other[i].second = ones({3, 3});
    CHECK_THROWS_AS(lbfgs.load_state_dict(other), Error);
  }
  CHECK(lbfgs.state_dict()[2].second.equal(good[2].second));
  CHECK_THROWS_AS(lbfgs.load_checkpoint(optim::SGD({p}, 0.1).checkpoint()), Error);
  lbfgs.load_state_dict(good);
  lbfgs.load_state_dict({});
  CHECK(lbfgs.state_dict().empty());
}

TEST_CASE("LBFGS refuses parameters and gradients on several devices") {
  for (const auto& [here, there] : kPairs) {
    const Tensor p = ones({2}).to(here).requires_grad_(), q = ones({2}).to(there).requires_grad_();
    LBFGS both({p, q}), one({p});
    CHECK_THROWS_AS(both.step([&] { return p.sum(); }), DeviceMismatchError);
    CHECK_THROWS_AS(one.step([&] {
      p.mutable_grad() = ones({2}).to(there);
      return p.sum();
    }),
                    DeviceMismatchError);
    CHECK(p.equal(ones({2}).to(here)));
  }
}
