// Sharded optimizer state: the same updates and checkpoint, with a part of the memory on each rank.
#include <ambit/ambit.h>
#include <ambit/distributed/data_parallel.h>
#include <ambit/distributed/zero_optimizer.h>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <mutex>

using namespace ambit;
using namespace ambit::distributed;

namespace {

nn::Sequential make_net() {
  nn::Sequential net(nn::Linear(6, 8), nn::ReLU(), nn::Linear(8, 5), nn::Linear(5, 3));
  Generator numbers(kCPU, 11);
  const NoGradGuard no_grad;
  for (const Tensor& p : net->parameters()) p.uniform_(-0.5, 0.5, numbers);
  return net;
}

// Exact on every rank: the gradient does not depend on the rank that computes it.
template <class Step>
void train(nn::Sequential& net, int steps, const Step& step) {
  for (int i = 0; i < steps; ++i) {
    net->zero_grad();
    (net->forward(ones({2, 6})) * (i + 1)).pow(2).sum().backward();
    step();
  }
}

}  // namespace

TEST_CASE("a sharded optimizer updates as an unsharded one, with its share of the state") {
  nn::Sequential whole = make_net();
  optim::Adam adam(whole->parameters(), optim::AdamOptions(0.01));
  train(whole, 5, [&] { adam.step(); });
  run_local(3, [&](const std::shared_ptr<ProcessGroup>& group) {
    nn::Sequential net = make_net();
    ZeroRedundancyOptimizer<optim::Adam> sharded(net->parameters(), optim::AdamOptions(0.01),
                                                 group);
    train(net, 5, [&] { sharded.step(); });
    for (size_t i = 0; i < net->parameters().size(); ++i) {
      CHECK(equal(net->parameters()[i], whole->parameters()[i]));
    }
    CHECK(sharded.local().state().size() == sharded.local().parameters().size());
    CHECK(sharded.local().parameters().size() <= 4);  // of 6
    sharded.zero_grad();
    CHECK_FALSE(net->parameters()[0].grad().defined());
  });
}

TEST_CASE(
    "a sharded optimizer's checkpoint is that of an unsharded one, and loads with other numbers of "
    "ranks") {
  nn::Sequential whole = make_net();
  optim::Adam adam(whole->parameters(), optim::AdamOptions(0.01));
  train(whole, 3, [&] { adam.step(); });
  std::mutex mutex;
  Value saved;
  run_local(3, [&](const std::shared_ptr<ProcessGroup>& group) {
    nn::Sequential net = make_net();
    ZeroRedundancyOptimizer<optim::Adam> sharded(net->parameters(), optim::AdamOptions(0.01),
                                                 group);
    train(net, 3, [&] { sharded.step(); });
    const Value all = sharded.checkpoint();
    const std::lock_guard lock(mutex);
    if (group->rank() == 2) saved = all;
  });
  optim::Adam other(whole->parameters(), optim::AdamOptions(0.5));
  other.load_checkpoint(saved);
  const StateDict a = adam.state_dict(), b = other.state_dict();
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) CHECK(equal(a[i].second, b[i].second));
  run_local(2, [&](const std::shared_ptr<ProcessGroup>& group) {
    nn::Sequential net = make_net();
    ZeroRedundancyOptimizer<optim::Adam> sharded(net->parameters(), optim::AdamOptions(0.5), group);
    sharded.load_checkpoint(saved);
    CHECK(sharded.local().param_groups()[0].options().get_lr() == 0.01);
    const StateDict mine = sharded.local().state_dict();
    CHECK(mine.size() == 3 * sharded.local().parameters().size());
    CHECK_THROWS_AS(sharded.load_checkpoint(Value::dict(
                        {{"param_groups", Value::list({})}, {"state", Value::dict({})}})),
                    SerializationError);
  });
  run_local(3, [](const std::shared_ptr<ProcessGroup>& group) {
    CHECK_THROWS_AS(ZeroRedundancyOptimizer<optim::SGD>({ones({1})}, optim::SGDOptions(0.1), group),
                    Error);
  });
}

TEST_CASE("shares have about the same number of bytes") {
  const std::vector<Tensor> params{ones({10}), ones({70}), ones({30}), ones({40})};
  CHECK(partition_parameters(params, 2) == std::vector<int>{0, 0, 1, 1});
}

TEST_CASE("gradients on several ranks are clipped by their common norm") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto with_grad = [](int rank, double value) {
    Tensor t = ones({3 + rank});
    t.requires_grad_();
    t.mutable_grad() = full({3 + rank}, value);
    return t;
  };
  for (const double p : {2.0, 1.0, 0.0, kInfinity}) {
    for (const double last : {3.0, 0.1, static_cast<double>(NAN)}) {  // rank 1's gradient
      INFO("norm " << p << " of 2 and " << last);
      const std::vector<Tensor> whole{with_grad(0, 2), with_grad(1, last)};
      const double expected = nn::utils::clip_grad_norm_(whole, 1.0, p);
      run_local(2, [&](const std::shared_ptr<ProcessGroup>& group) {
        const int r = group->rank();
        const Tensor mine = with_grad(r, r == 0 ? 2 : last);
        const double norm = distributed::clip_grad_norm_(*group, {mine}, 1.0, p);
        CHECK((norm == doctest::Approx(expected) || (norm != norm && expected != expected)));
        CHECK(allclose(mine.grad(), whole[static_cast<size_t>(r)].grad(), 1e-5, 1e-8, true));
      });
    }
  }
}
