#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <ambit/testing.h>
#include <doctest/doctest.h>

#include "classifier.h"

using namespace ambit;

TEST_CASE("the network computes the same on every device, and stays there") {
  CHECK_DEVICE_INDEPENDENT([](Device device) {
    Classifier net = Classifier().to(device);
    const Tensor x = rand({4, 3, 8, 8}, device), weights = rand({4}, device);
    const Tensor classes = randint(10, {4}, TensorOptions(kInt64).device(device));
    return [=]() mutable {  // this part is watched
      const Tensor loss = weighted_loss(net(x), classes, weights);
      loss.backward();
      return std::vector<Tensor>{loss, net->conv->weight.grad()};
    };
  });
}

TEST_CASE("an input on another device is refused, and nothing changes") {
  FOR_EACH_DEVICE(device) {
    const Device other(device.is_cpu() ? "reference" : "cpu");
    Classifier net = Classifier().to(device);
    const Tensor x = rand({4, 3, 8, 8}, other);
    CHECK_DEVICE_MISMATCH(net(x), other.str(), device.str(), net, x);
  }
}

TEST_CASE("the loss has correct gradients") {
  FOR_EACH_DEVICE(device) {
    const TensorOptions float64 = TensorOptions(kFloat64).device(device);
    const Tensor classes = tensor({1, 0, 2}).to(device);
    CHECK_GRADIENTS([&](const Tensor& scores,
                        const Tensor& weights) { return weighted_loss(scores, classes, weights); },
                    {randn({3, 10}, float64), rand({3}, float64) + 0.5});
  }
}

TEST_CASE("whatever allocation fails, nothing is leaked") {
  FOR_EACH_DEVICE(device) {
    if (!test::can_fail(device)) continue;
    Classifier net = Classifier().to(device);
    const Tensor x = rand({4, 3, 8, 8}, device);
    CHECK_REPORT(test::with_each_allocation_failing(device, [&] { net(x); }).report);
  }
}
