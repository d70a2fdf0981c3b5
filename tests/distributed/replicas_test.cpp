// torch::nn::parallel: clones of a module on several devices of one process, as in programs for
// libtorch.
#include <ambit/ambit.h>
#include <torch/nn/parallel/data_parallel.h>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <vector>

using namespace ambit;
namespace parallel = torch::nn::parallel;

namespace {

// A function, because simulated devices exist only after main() has begun.
std::vector<Device> two_devices() { return {Device("cuda:0"), Device("cuda:1")}; }

bool has_two_devices() {
  const bool has = device_count("cuda") >= 2;
  if (!has) std::puts("skipped: one GPU, as which none is simulated");
  return has;
}

nn::Sequential network() {
  manual_seed(3);
  return nn::Sequential(nn::Linear(4, 8), nn::Tanh(), nn::Linear(8, 2));
}

}  // namespace

TEST_CASE("data_parallel() has the output and the gradients of one device") {
  if (!has_two_devices()) return;
  // Batches that are divided evenly, unevenly, and into fewer parts than devices.
  for (const int64_t n : {6, 5, 1}) {
    INFO(n);
    manual_seed(n);
    const Tensor x = randn({n, 4});
    nn::Sequential one = network(), many = network();
    const Tensor expected = one->forward(x);
    expected.square().sum().backward();
    const Tensor got = parallel::data_parallel(many, x, two_devices(), Device(kCPU));
    CHECK(got.device() == Device(kCPU));
    // Dot products of at most 8 terms, with rows in the same order, differ by a few roundings.
    CHECK(allclose(got, expected, 1e-5, 1e-6));
    got.square().sum().backward();
    for (size_t i = 0; i < one->parameters().size(); ++i) {
      const Tensor p = many->parameters()[i];
      CHECK(p.device() == Device(kCPU));
      // Sums over up to 6 rows are computed in two parts.
      CHECK(allclose(p.grad(), one->parameters()[i].grad(), 1e-5, 1e-6));
    }
  }
}

TEST_CASE("data_parallel() with one device moves the module there") {
  if (!has_two_devices()) return;
  nn::Sequential net = network();
  const Tensor y = parallel::data_parallel(net, ones({3, 4}), std::vector{Device("cuda:1")});
  CHECK(y.device() == Device("cuda:1"));
  CHECK(net->parameters()[0].device() == Device("cuda:1"));
  CHECK_THROWS_WITH_AS(parallel::data_parallel(net, ones({3, 4}), std::vector<Device>()),
                       "data_parallel: expected at least one device, got none", Error);
}

namespace {

struct DeviceOfImpl : nn::Cloneable<DeviceOfImpl> {
  void reset() override {}
  Tensor forward(const Tensor& x) {
    if (x.size(0) == 1) throw Error("one row");
    // Check the thread's own device of that kind, and its grad mode.
    CHECK(Device("cuda") == x.device());
    return x + static_cast<double>(GradMode::is_enabled());
  }
};
AMBIT_MODULE(DeviceOf);

}  // namespace

TEST_CASE("parallel_apply() runs each module on its device, and passes errors on") {
  if (!has_two_devices()) return;
  auto modules = parallel::replicate(DeviceOf(), two_devices());
  REQUIRE(modules.size() == 2);
  const std::vector<Tensor> inputs{zeros({2, 2}), zeros({3, 2})};
  {
    const NoGradGuard no_grad;
    const auto outputs = parallel::parallel_apply(modules, inputs, two_devices());
    CHECK(outputs[1].device() == two_devices()[1]);
    CHECK(outputs[1].sum().item<float>() == 0);
  }
  CHECK(parallel::parallel_apply(modules, inputs, two_devices())[0].sum().item<float>() == 4);
  CHECK_THROWS_WITH_AS(
      parallel::parallel_apply(modules, {zeros({2, 2}), zeros({1, 2})}, two_devices()), "one row",
      Error);
  CHECK_THROWS_AS(parallel::parallel_apply(modules, {zeros({2, 2})}, two_devices()), Error);
}
