// Training steps as CUDA graphs: with any optimizer, a captured step has the results of an eager
// one, bit for bit, and the same random numbers. gpu_graphs_test.cpp has other tests of graphs.
// Without a GPU these cases are skipped with a note.
#include <ambit/ambit.h>
#include <ambit/cuda.h>
#include <ambit/cuda_counters.h>
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "has_gpu.h"

using namespace ambit;

namespace {

Device gpu() { return Device("cuda"); }

using Parameters = std::vector<Tensor>;
using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>(const Parameters&)>;
template <class Optimizer, class Options>
MakeOptimizer made(const Options& options) {
  return [options](const Parameters& p) { return std::make_unique<Optimizer>(p, options); };
}
/// Optimizers with which whole steps can be captured.
std::vector<MakeOptimizer> capturable_optimizers() {
  using namespace optim;
  return {
      made<SGD>(SGDOptions(0.1).momentum(0.9).weight_decay(1e-3).nesterov(true)),
      made<Adam>(AdamOptions(0.1).weight_decay(1e-2).capturable(true)),
      made<AdamW>(AdamWOptions(0.1).betas({0.5, 0.8}).capturable(true)),
      made<RMSprop>(RMSpropOptions(0.01).momentum(0.9).centered(true)),
      made<Adagrad>(AdagradOptions(0.1)),
      made<SGD>(SGDOptions(0.1).momentum(0.9).maximize(true)),
      made<Adadelta>(AdadeltaOptions()),
      made<Rprop>(RpropOptions(1e-3)),
  };
}

/// A network with a convolution, batch norm and a product, and its optimizer.
struct Training {
  explicit Training(const MakeOptimizer& make)
      : net(nn::Conv2d(nn::Conv2dOptions(3, 4, 3)), nn::BatchNorm2d(4), nn::ReLU(), nn::Flatten(),
            nn::Linear(64, 5)) {
    net->to(gpu());
    optimizer = make(net->parameters());
  }
  Tensor gradients(const Tensor& x, const Tensor& target) {
    net->zero_grad();
    const Tensor loss = nn::functional::cross_entropy(net->forward(x), target);
    loss.backward();
    return loss.detach();
  }
  Tensor step(const Tensor& x, const Tensor& target) {
    const Tensor loss = gradients(x, target);
    optimizer->step();
    return loss;
  }
  void load(const Training& other) {
    const NoGradGuard no_grad;
    const auto to = net->named_parameters(), from = other.net->named_parameters();
    for (const auto& p : from) to[p.key()].copy_(p.value());
  }
  std::vector<Tensor> state() const {
    std::vector<Tensor> all = net->parameters();
    for (const Tensor& b : net->buffers()) all.push_back(b);
    return all;
  }

  nn::Sequential net;
  std::unique_ptr<optim::Optimizer> optimizer;
};

void check_equal(const Training& a, const Training& b) {
  const std::vector<Tensor> left = a.state(), right = b.state();
  REQUIRE(left.size() == right.size());
  for (size_t i = 0; i < left.size(); ++i)
    CHECK(left[i].detach().cpu().equal(right[i].detach().cpu()));
}

struct Batches {
  Tensor x = randn({4, 3, 6, 6}), target = randint(0, 5, {4}, kInt64);
  void next() {
    x = randn({4, 3, 6, 6});
    target = randint(0, 5, {4}, kInt64);
  }
};

}  // namespace

TEST_CASE("gpu: a captured training step equals the eager one, and is one launch") {
  if (!has_gpu()) return;
  manual_seed(7);
  bool on_side = false;
  for (const MakeOptimizer& make : capturable_optimizers()) {
    on_side = !on_side;
    Training eager(make), graphed(make);
    graphed.load(eager);
    Batches batches;
    const Tensor x = batches.x.to(gpu()), target = batches.target.to(gpu());
    for (int i = 0; i < 2; ++i) {
      eager.step(x, target);
      graphed.step(x, target);
    }
    std::optional<cuda::StreamGuard> guard;
    if (on_side) guard.emplace(cuda::getStreamFromPool());
    cuda::CUDAGraph graph;
    const cuda::Counters before = cuda::counters();
    graph.capture_begin();
    const Tensor loss = graphed.step(x, target);
    graph.capture_end();
    CHECK(cuda::counters().launches == before.launches);
    CHECK(cuda::counters().host_waits == before.host_waits);
    check_equal(eager, graphed);  // nothing has run yet
    guard.reset();
    for (int i = 0; i < 5; ++i) {
      if (on_side && i == 2) guard.emplace(cuda::getStreamFromPool());
      batches.next();
      x.copy_(batches.x);
      target.copy_(batches.target);
      const Tensor expected = eager.step(x, target);
      const cuda::Counters now = cuda::counters();
      graph.replay();
      CHECK(cuda::counters().launches == now.launches + 1);
      CHECK(cuda::counters().system_allocations == now.system_allocations);
      CHECK(loss.cpu().equal(expected.cpu()));
      check_equal(eager, graphed);
    }
    graphed.step(x, target);
    eager.step(x, target);
    check_equal(eager, graphed);
  }
}

TEST_CASE("gpu: a captured binary cross entropy reports invalid probabilities of each replay") {
  if (!has_gpu()) return;
  const Tensor x = full({4}, 0.25).to(gpu()).requires_grad_(), target = ones({4}, gpu());
  const auto step = [&] {
    x.mutable_grad() = Tensor();
    const Tensor loss = nn::BCELoss()->forward(x, target);
    loss.backward();
    return loss;
  };
  step();
  cuda::CUDAGraph graph;
  graph.capture_begin();
  const Tensor loss = step();
  graph.capture_end();
  const auto replay_with = [&](double value) {
    const NoGradGuard no_grad;
    x.fill_(value);
    graph.replay();
  };
  replay_with(0.5);
  CHECK(loss.item<float>() == doctest::Approx(std::log(2.0)));
  for (int i = 0; i < 2; ++i) {
    replay_with(1.5);
    CHECK_THROWS_WITH_AS(synchronize(gpu()),
                         doctest::Contains("binary_cross_entropy: expected all"), Error);
  }
  replay_with(1);
  CHECK(loss.item<float>() == 0);
  CHECK(x.grad().cpu().equal(zeros({4})));  // the gradient of an exact prediction is 0
}

TEST_CASE("gpu: replays of Adam's steps increase the step count") {
  if (!has_gpu()) return;
  const Tensor p = ones({3}, gpu()).requires_grad_(), q = ones({3}, gpu()).requires_grad_();
  p.mutable_grad() = ones({3}, gpu());
  q.mutable_grad() = ones({3}, gpu());
  optim::Adam adam({p}, optim::AdamOptions(0.1).capturable(true)), eager({q}, 0.1);
  adam.step();
  cuda::CUDAGraph graph;
  graph.capture_begin();
  adam.step();
  graph.capture_end();
  for (int i = 0; i < 4; ++i) graph.replay();
  CHECK(adam.state_dict()[0].second.item<int64_t>() == 5);
  for (int i = 0; i < 5; ++i) eager.step();
  // Five steps with a few roundings of 6e-8 each, and two ways to compute powers in float64.
  CHECK(p.detach().cpu().allclose(q.detach().cpu(), 0, 3e-6));
}

TEST_CASE("gpu: an optimizer whose first step was refused in a capture starts with the next step") {
  if (!has_gpu()) return;
  for (const MakeOptimizer& make : capturable_optimizers()) {
    const Tensor p = ones({3}, gpu()).requires_grad_(), q = ones({3}, gpu()).requires_grad_();
    p.mutable_grad() = ones({3}, gpu());
    q.mutable_grad() = ones({3}, gpu());
    const auto refused = make({p}), other = make({q});
    cuda::CUDAGraph graph;
    graph.capture_begin();
    CHECK_THROWS_WITH_AS(refused->step(), doctest::Contains("got an optimizer's new state"),
                         BackendError);
    graph.reset();
    for (int i = 0; i < 2; ++i) {
      refused->step();
      other->step();
    }
    CHECK(p.detach().cpu().equal(q.detach().cpu()));
  }
}

TEST_CASE("gpu: a graph of forward and backward works with an eager step of Adam") {
  if (!has_gpu()) return;
  manual_seed(8);
  const auto make = made<optim::Adam>(optim::AdamOptions());
  Training eager(make), graphed(make);
  graphed.load(eager);
  const Tensor x = randn({4, 3, 6, 6}).to(gpu()), target = tensor({0, 1, 2, 3}).to(gpu());
  eager.gradients(x, target);
  graphed.gradients(x, target);
  cuda::CUDAGraph graph;
  graph.capture_begin();
  graphed.gradients(x, target);
  graph.capture_end();
  for (int i = 0; i < 3; ++i) {
    x.copy_(randn({4, 3, 6, 6}));
    eager.gradients(x, target);
    eager.optimizer->step();
    graph.replay();
    graphed.optimizer->step();
    check_equal(eager, graphed);
  }
}

TEST_CASE("gpu: a graph draws the random numbers of the eager step") {
  if (!has_gpu()) return;
  const Tensor x = ones({10, 7}, gpu());
  const auto step = [&] {
    return nn::functional::dropout(x, 0.5) + rand({10, 7}, gpu()) * randint(9, {7}, gpu());
  };
  const Generator generator = default_generator(gpu());
  cuda::CUDAGraph graph;
  graph.capture_begin();
  const Tensor y = step();
  graph.capture_end();
  const auto check_replays = [&] {
    for (int i = 0; i < 3; ++i) {
      const uint64_t offset = generator.offset();
      const Tensor expected = step().cpu();
      const uint64_t taken = generator.offset() - offset;
      static_cast<void>(generator.advance(-taken));
      graph.replay();
      CHECK(generator.offset() == offset + taken);
      CHECK(y.cpu().equal(expected));
    }
  };
  check_replays();
  randn({100}, gpu());
  check_replays();
  manual_seed(99);
  check_replays();
  // A capture draws no numbers; drawing outside of it invalidates it.
  graph.reset();
  const uint64_t before = generator.offset();
  graph.capture_begin();
  step();
  graph.capture_end();
  CHECK(generator.offset() == before);
  graph.reset();
  graph.capture_begin();
  step();
  std::thread([] { randn({3}, gpu()); }).join();
  CHECK_THROWS_WITH_AS(graph.capture_end(), doctest::Contains("that other code used"),
                       BackendError);
}

TEST_CASE("gpu: a graph draws the mask of attention's dropout again for the gradient") {
  if (!has_gpu()) return;
  const Tensor x = randn({2, 3, 20, 4}, gpu()).requires_grad_(), dy = randn({2, 3, 20, 4}, gpu());
  const auto step = [&] {
    x.mutable_grad() = Tensor();
    scaled_dot_product_attention(x, x, x, {}, 0.5).backward(dy);
    return x.grad();
  };
  step();
  const Generator generator = default_generator(gpu());
  cuda::CUDAGraph graph;
  graph.capture_begin();
  const Tensor grad = step();
  graph.capture_end();
  for (int i = 0; i < 2; ++i) {
    const uint64_t offset = generator.offset();
    const Tensor expected = step().cpu();
    static_cast<void>(generator.advance(offset - generator.offset()));
    graph.replay();
    CHECK(grad.cpu().equal(expected));
  }
}
