// Autocast: the dtype in which each op of the table runs, and the gradients.
// autocast_region_test.cpp tests the limits of a region.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "autocast_calls.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
using namespace autocast_calls;

namespace {

constexpr DType kLow = kBFloat16;

void check_has_all(const std::vector<OpCall>& calls, std::span<const char* const> names) {
  for (const std::string name : names) {
    INFO(name);
    CHECK(std::ranges::any_of(calls, [&](const OpCall& c) { return c.name == name; }));
  }
}

void check_calls(const std::vector<OpCall>& calls, DType of_a, DType of_b, DType expected) {
  for_each_device([&](Device device) {
    for (const OpCall& c : calls) {
      INFO(std::string(c.name));
      const Tensor a = square_of(device, of_a), b = square_of(device, of_b, 0.2);
      const AutocastGuard guard(device, kLow);
      CHECK(name(c.call(a, b).dtype()) == std::string(name(expected)));
    }
  });
}

}  // namespace

TEST_CASE("each op of PyTorch's lists has a call in this test, in the same class") {
  check_has_all(kLowerPrecisionCalls, kTorchLowerPrecision);
  check_has_all(kFloat32Calls, kTorchFloat32);
  check_has_all(kWidestCalls, kTorchWidest);
}

TEST_CASE("products run in the lower precision") {
  check_calls(kLowerPrecisionCalls, kFloat32, kFloat32, kLow);
  check_calls(kLowerPrecisionCalls, kLow, kFloat32, kLow);
  check_calls(kLowerPrecisionCalls, kFloat32, kLow, kLow);
}

TEST_CASE("ops that need range or precision run in float32") {
  check_calls(kFloat32Calls, kLow, kLow, kFloat32);
  check_calls(kFloat32Calls, kFloat32, kLow, kFloat32);
  check_calls(kFloat32Calls, kFloat16, kFloat16, kFloat32);
}

TEST_CASE("ops that refuse mixed dtypes run in the widest one") {
  check_calls(kWidestCalls, kLow, kFloat32, kFloat32);
  check_calls(kWidestCalls, kFloat32, kLow, kFloat32);
  check_calls(kWidestCalls, kLow, kLow, kLow);
}

TEST_CASE("all other ops run in the dtype of their operands") {
  check_calls(kAsIsCalls, kLow, kLow, kLow);
  check_calls(kAsIsCalls, kFloat32, kFloat32, kFloat32);
}

TEST_CASE("float64 and integers are not cast") {
  const AutocastGuard guard(kCPU, kLow);
  const Tensor d = square_of(kCPU, kFloat64), i = ones({4, 4}, kInt64);
  for (const auto* calls : {&kLowerPrecisionCalls, &kFloat32Calls, &kWidestCalls, &kAsIsCalls}) {
    for (const OpCall& c : *calls) {
      const std::string op = c.name;
      if (op == "lstm_cell" || op == "gru_cell") continue;  // its weights are float32
      INFO(op);
      CHECK(c.call(d, d).dtype() == kFloat64);
    }
  }
  CHECK(matmul(i, i).dtype() == kInt64);
  CHECK(sum(i).dtype() == kInt64);
}

TEST_CASE("each op has the results of operands cast by hand, forward and backward") {
  for_each_device([](Device device) {
    for (const auto* calls : {&kLowerPrecisionCalls, &kFloat32Calls, &kWidestCalls}) {
      const bool is_lower_precision = calls == &kLowerPrecisionCalls;
      for (const OpCall& c : *calls) {
        INFO(std::string(c.name));
        const DType given = is_lower_precision ? kFloat32 : kLow,
                    run_in = is_lower_precision ? kLow : kFloat32;
        const Tensor a = square_of(device, given).requires_grad_();
        const Tensor b = square_of(device, calls == &kWidestCalls ? kFloat32 : given, 0.2);
        const Tensor by_hand = a.detach().to(run_in).requires_grad_();
        if (std::string(c.name).find("_cell") != std::string::npos) continue;  // random weights
        Tensor y;
        {
          const AutocastGuard guard(device, kLow);
          y = c.call(a, b);
        }
        const Tensor expected = c.call(by_hand, b.to(run_in));
        CHECK(y.dtype() == expected.dtype());
        CHECK(equal(y, expected));
        if (!expected.requires_grad()) continue;
        y.sum().backward();
        expected.sum().backward();
        CHECK(a.grad().dtype() == given);
        // If a is used twice, its gradients are added in float32, but in kLow when cast by hand:
        // one or two roundings, 2^-8 of numbers below 4.
        CHECK(a.grad().allclose(by_hand.grad().to(given), 0x1p-7, 0x1p-7));
      }
    }
  });
}

TEST_CASE(
    "batch_norm with float32 statistics returns the reduced floating-point type of its images") {
  for_each_device([](Device device) {
    nn::BatchNorm1d norm(4);
    norm->to(device);
    const Tensor x = square_of(device, kLow).requires_grad_();
    Tensor y;
    {
      const AutocastGuard guard(device, kLow);
      y = norm(x);
    }
    CHECK(y.dtype() == kLow);
    CHECK(norm->running_mean.dtype() == kFloat32);
    nn::BatchNorm1d other(4);
    other->to(device);
    CHECK(equal(y, other(x.to(kFloat32)).to(kLow)));
    CHECK(equal(norm->running_mean, other->running_mean));
    y.sum().backward();
    CHECK(x.grad().dtype() == kLow);
    CHECK(norm->weight.grad().dtype() == kFloat32);
  });
}

TEST_CASE("gradients have the dtype of parameters and inputs") {
  for_each_device([](Device device) {
    nn::Linear layer(4, 3);
    layer->to(device);
    const Tensor x = square_of(device, kFloat32).requires_grad_();
    Tensor loss;
    {
      const AutocastGuard guard(device, kLow);
      const Tensor y = layer(x);
      CHECK(y.dtype() == kLow);
      loss = mse_loss(y, zeros({4, 3}, device));
      CHECK(loss.dtype() == kFloat32);
    }
    loss.backward();
    for (const Tensor& t : {x, layer->weight, layer->bias}) CHECK(t.grad().dtype() == kFloat32);
    // Compute the same gradients with explicit casts.
    const Tensor w = layer->weight.detach().requires_grad_(), b = layer->bias.detach();
    mse_loss(linear(x.detach().to(kLow), w.to(kLow), b.to(kLow)).to(kFloat32),
             zeros({4, 3}, device))
        .backward();
    CHECK(equal(w.grad(), layer->weight.grad()));
  });
}

// x, w1, b1, w2, t = wave(3,4), wave(5,4,k=.3), wave(5,k=.9), wave(2,5,k=.5), wave(3,2,k=1.1), in
// float32, w1, b1 and w2 with requires_grad_(); then in PyTorch 1.13
//   with torch.autocast('cpu', torch.bfloat16):
//     y = F.linear(torch.tanh(F.linear(x, w1, b1)), w2); loss = F.mse_loss(y, t)
//   loss.backward()
TEST_CASE("PyTorch's autocast has the same dtypes and numbers") {
  for_each_device([](Device device) {
    const auto of = [&](IntArrayRef sizes, double k) {
      return wave(device, sizes, k).to(kFloat32);
    };
    const Tensor x = of({3, 4}, 0.7), w1 = of({5, 4}, 0.3).requires_grad_();
    const Tensor b1 = of({5}, 0.9).requires_grad_(), w2 = of({2, 5}, 0.5).requires_grad_();
    Tensor y, loss;
    {
      const AutocastGuard guard(device, kBFloat16);
      y = linear(tanh(linear(x, w1, b1)), w2);
      loss = mse_loss(y, of({3, 2}, 1.1));
    }
    CHECK(y.dtype() == kBFloat16);
    CHECK(loss.dtype() == kFloat32);
    loss.backward();
    // Two roundings to bfloat16 may differ, by 2^-8 each.
    constexpr double kTwoRoundings = 0x1p-7;
    check_values(y, {3, 2}, {-0.63671875, 2.046875, 1.8671875, -2.28125, -0.5, 1.671875},
                 kTwoRoundings);
    check_values(loss, {}, {2.2045204639434814}, kTwoRoundings);
    CHECK(w1.grad().dtype() == kFloat32);
    check_values(
        w1.grad(), {5, 4},
        {-0.130859375,     0.06689453125,     0.232421875,      0.2890625,     -0.0035400390625,
         -0.0108642578125, -0.01300048828125, -0.0091552734375, 0.1455078125,  -0.1298828125,
         -0.34375,         -0.396484375,      0.1650390625,     -0.0576171875, -0.251953125,
         -0.328125,        0.40234375,        -0.23046875,      -0.75,         -0.921875},
        kTwoRoundings);
    check_values(b1.grad(), {5},
                 {0.1064453125, 0.052978515625, -0.0068359375, -0.2578125, 0.2578125},
                 kTwoRoundings);
    check_values(w2.grad(), {2, 5},
                 {-0.376953125, -0.33203125, 0.169921875, 0.439453125, 0.328125, 1.609375,
                  1.6484375, 0.123046875, -1.6015625, -1.390625},
                 kTwoRoundings);
  });
}
