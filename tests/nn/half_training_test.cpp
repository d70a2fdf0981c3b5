// Modules and optimizers of float16 and bfloat16.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include "tests/devices.h"

using namespace ambit;
using namespace ambit::nn;

namespace {

/// Points of two half moons, which no line separates.
struct Moons {
  Tensor x, y;
};
Moons moons(int64_t n) {
  manual_seed(5);
  const Tensor angle = rand({n}) * 3.14159, noise = randn({n, 2}) * 0.1;
  const Tensor upper = arange(n) % 2 == 0;
  const Tensor x = where(upper, cos(angle), 1 - cos(angle)),
               y = where(upper, sin(angle), 0.5 - sin(angle));
  return {stack({x, y}, 1) + noise, upper.to(kInt64)};
}

Sequential make_net() {
  manual_seed(7);
  return Sequential(Linear(2, 32), ReLU(), LayerNorm(LayerNormOptions({32})), Linear(32, 2));
}

/// Train on the moons and return the final accuracy.
template <class Optimizer, class Options>
double accuracy(Device device, DType dtype, const Options& options) {
  const Moons data = moons(400);
  const Tensor x = data.x.to(device, dtype), y = data.y.to(device);
  Sequential net = make_net();
  net->to(device, dtype);
  Optimizer optimizer(net->parameters(), options);
  for (int step = 0; step < 120; ++step) {
    optimizer.zero_grad();
    const Tensor loss = functional::cross_entropy(net->forward(x), y);
    CHECK(loss.dtype() == dtype);
    loss.backward();
    optimizer.step();
  }
  for (const Tensor& p : net->parameters()) {
    CHECK(p.dtype() == dtype);
    CHECK(p.grad().dtype() == dtype);
  }
  return (net->forward(x).argmax(1) == y).to(kFloat32).mean().item<double>();
}

}  // namespace

TEST_CASE("modules are converted to float16 and back") {
  BatchNorm1d norm(3);
  norm->half();
  CHECK(norm->weight.dtype() == kHalf);
  CHECK(norm->running_mean.dtype() == kHalf);
  CHECK(norm->num_batches_tracked.dtype() == kInt64);
  norm->bfloat16();
  CHECK(norm->weight.dtype() == kBFloat16);
  norm->to(kFloat32);
  CHECK(norm->weight.dtype() == kFloat32);
  CHECK(norm->forward(ones({2, 3})).dtype() == kFloat32);
  norm->half();
  CHECK_THROWS_AS(norm->forward(ones({2, 3})), DTypeError);
}

TEST_CASE("small nets train in float16 and bfloat16 as well as in float32") {
  for_each_device([](Device device) {
    using namespace optim;
    for (const DType dtype : dtypes::kReducedFloating) {
      INFO(name(dtype));
      CHECK(accuracy<SGD>(device, dtype, SGDOptions(0.3).momentum(0.9)) > 0.97);
      CHECK(accuracy<Adam>(device, dtype, AdamOptions(0.02).eps(1e-4)) > 0.97);
    }
  });
}

TEST_CASE("optimizer steps equal float32's after rounding, and keep their state in the dtype") {
  for_each_device([](Device device) {
    for (const DType dtype : dtypes::kReducedFloating) {
      manual_seed(2);
      const auto make = [&](DType as) {
        manual_seed(2);
        // A large tensor, which is processed in parts, and small ones.
        std::vector<Tensor> all;
        for (const Dims& sizes : {Dims{300, 700}, Dims{7}, Dims{0}, Dims{3, 5}, Dims{}}) {
          const Tensor p = randn(sizes).to(dtype).to(device, as).requires_grad_();
          p.mutable_grad() = randn(sizes).to(dtype).to(device, as);
          all.push_back(p);
        }
        return all;
      };
      const auto check = [&](const auto& step) {
        const std::vector<Tensor> low = make(dtype), wide = make(kFloat32);
        step(low);
        step(wide);
        for (size_t i = 0; i < low.size(); ++i) {
          CHECK(low[i].dtype() == dtype);
          CHECK(low[i].detach().cpu().equal(wide[i].detach().to(dtype).cpu()));
        }
      };
      check([](const std::vector<Tensor>& p) {
        optim::SGD(p, optim::SGDOptions(0.1).momentum(0.9)).step();
      });
      check([](const std::vector<Tensor>& p) {
        optim::SGD(p, optim::SGDOptions(0.1).weight_decay(0.1)).step();
      });
      check([](const std::vector<Tensor>& p) { optim::Adam(p, optim::AdamOptions(0.1)).step(); });
      check([](const std::vector<Tensor>& p) { optim::AdamW(p, optim::AdamWOptions(0.1)).step(); });
    }
  });
}
