// The engine and the graph. Formulas of single ops are tested by gradcheck.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <thread>

#include "tests/devices.h"

using namespace ambit;

TEST_CASE("backward accumulates into leaves") {
  for_each_device([](Device device) {
    Tensor x = tensor({1.0, 2.0, 3.0}, device).requires_grad_();
    (x * x).sum().backward();
    CHECK(x.grad().cpu().equal(tensor({2.0, 4.0, 6.0})));
    (x * 3).sum().backward();
    CHECK(x.grad().cpu().equal(tensor({5.0, 7.0, 9.0})));
    CHECK(x.grad().device() == device);
  });
}

TEST_CASE("backward sums the gradients of a tensor used twice before passing them on") {
  Tensor x = tensor({2.0}).requires_grad_();
  int calls = 0;
  Tensor y = x * 3;
  y.register_hook([&](const Tensor& g) {
    ++calls;
    CHECK(g.item<float>() == 2 * 6 + 1);
    return Tensor();
  });
  (y * y + y).sum().backward();
  CHECK(calls == 1);
  CHECK(x.grad().item<float>() == 39);
}

TEST_CASE("backward accepts a gradient for outputs of more than one element") {
  Tensor x = ones({2, 2}).requires_grad_();
  const Tensor y = x * 2;
  CHECK_THROWS_AS(y.backward(), ShapeError);
  CHECK_THROWS_AS(y.backward(ones({3})), ShapeError);
  CHECK_THROWS_AS(y.backward(ones({2, 2}, kFloat64)), DTypeError);
  y.backward(tensor({{1.0, 2.0}, {3.0, 4.0}}));
  CHECK(x.grad().equal(tensor({{2.0, 4.0}, {6.0, 8.0}})));
}

TEST_CASE("backward of a tensor without a graph is an error that says so") {
  CHECK_THROWS_WITH_AS(ones({1}).backward(),
                       "backward: expected a tensor that requires grad, got one that does not",
                       AutogradError);
}

TEST_CASE("a graph can be used once, or more often with retain_graph") {
  Tensor x = tensor({3.0}).requires_grad_();
  const Tensor y = (x * x).sum();
  y.backward({}, true);
  y.backward();
  CHECK(x.grad().item<float>() == 12);
  CHECK_THROWS_AS(y.backward(), AutogradError);
  CHECK(x.grad().item<float>() == 12);
}

TEST_CASE("grad returns gradients and does not change .grad") {
  Tensor a = tensor({2.0}).requires_grad_(), b = tensor({5.0}).requires_grad_();
  const Tensor mid = a * b, out = (mid * mid).sum();
  const auto g = autograd::grad({out}, {a, mid}, {}, true);
  CHECK(g[0].item<float>() == 2 * 10 * 5);
  CHECK(g[1].item<float>() == 20);
  CHECK_FALSE(a.grad().defined());
  CHECK_FALSE(b.grad().defined());
  Tensor unused = ones({1}).requires_grad_();
  CHECK_THROWS_AS(autograd::grad({out}, {unused}, {}, true), AutogradError);
  CHECK_FALSE(autograd::grad({out}, {unused}, {}, false, false, true)[0].defined());
}

TEST_CASE("double backward: the third derivative of x^4 is 24 x") {
  Tensor x = tensor(2.0).requires_grad_();
  Tensor g = x.pow(4);
  for (int i = 0; i < 3; ++i) g = autograd::grad({g}, {x}, {}, true, true)[0];
  CHECK(g.item<float>() == doctest::Approx(48));
}

TEST_CASE("NoGradGuard and detach record nothing") {
  Tensor x = ones({2}).requires_grad_();
  {
    const NoGradGuard no_grad;
    CHECK_FALSE((x * 2).requires_grad());
  }
  CHECK((x * 2).requires_grad());
  CHECK_FALSE(x.detach().requires_grad());
  CHECK((x.detach() * x).requires_grad());
}

TEST_CASE("grad mode belongs to the thread") {
  const NoGradGuard no_grad;
  bool other = false;
  std::thread([&] { other = GradMode::is_enabled(); }).join();
  CHECK(other);
  CHECK_FALSE(GradMode::is_enabled());
}

TEST_CASE("retain_grad keeps the gradient of a tensor that is not a leaf") {
  Tensor x = ones({2}).requires_grad_();
  const Tensor y = x * 2, z = y * 3;
  y.retain_grad();
  z.sum().backward();
  CHECK(y.grad().equal(full({2}, 3.0)));
  CHECK_FALSE(z.grad().defined());
  {
    const Tensor gone = x * 2;
    gone.retain_grad();
  }  // destroyed before backward
  CHECK_THROWS_AS(ones({1}).retain_grad(), AutogradError);
}

TEST_CASE("hooks receive and replace gradients, of leaves too") {
  Tensor x = ones({2}).requires_grad_();
  const unsigned id = x.register_hook([](const Tensor& g) { return g * 10; });
  (x * 2).sum().backward();
  CHECK(x.grad().equal(full({2}, 20.0)));
  x.remove_hook(id);
  CHECK_THROWS_AS(x.remove_hook(id), IndexError);
  (x * 2).sum().backward();
  CHECK(x.grad().equal(full({2}, 22.0)));
}

TEST_CASE("a graph 100,000 nodes deep runs and is destroyed without recursion") {
  Tensor x = ones({1}).requires_grad_();
  Tensor y = x;
  for (int i = 0; i < 100'000; ++i) y = y + 1;
  y.sum().backward();
  CHECK(x.grad().item<float>() == 1);
  Tensor never_run = x;
  for (int i = 0; i < 100'000; ++i) never_run = never_run * 1;
}

TEST_CASE("threads may run backward on graphs that share leaves") {
  constexpr int kThreads = 4, kSteps = 50;
  // With a graph per thread, .grad is another tensor after each step.
  for (const bool create_graph : {false, true}) {
    Tensor x = ones({8}).requires_grad_();
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int step = 0; step < kSteps; ++step) {
          (x * 1).sum().backward({}, /*retain_graph=*/false, create_graph);
        }
      });
    }
    for (std::thread& t : threads) t.join();
    CHECK(x.grad().equal(full({8}, static_cast<double>(kThreads * kSteps))));
  }
}

TEST_CASE("anomaly detection names the op that made NaN") {
  const autograd::DetectAnomalyGuard guard;
  Tensor x = zeros({1}).requires_grad_();
  const Tensor y = (x.sqrt() * 0).sum();  // 0 * inf
  CHECK_THROWS_WITH_AS(y.backward(),
                       "sqrt: expected a gradient without NaN in backward, got NaN for input 0",
                       AutogradError);
}

TEST_CASE("a gradient on another device is refused with the documented message") {
  Tensor x = ones({2}).requires_grad_();
  const Tensor y = x * 2;
  CHECK_THROWS_WITH_AS(y.backward(ones({2}, "reference")),
                       "expected device cpu but got device reference:0", DeviceMismatchError);
}

TEST_CASE("a saved tensor that was moved to another device is detected") {
  Tensor w = ones({2}).requires_grad_(), x = ones({2}).requires_grad_();
  const Tensor y = x * w;
  {
    const NoGradGuard no_grad;
    w.set_data(w.to("reference"));
  }
  CHECK_THROWS_AS(y.sum().backward(), AutogradError);
}

TEST_CASE("a hook that returns another shape or dtype is an error") {
  const Tensor x = randn({1, 1, 4, 4}).requires_grad_();
  for (const Tensor& wrong : {ones({64, 64, 8, 8}), ones({1, 1, 2, 2}, kFloat64)}) {
    const Tensor y = max_pool2d(x, {.kernel = {2, 2}, .stride = {2, 2}});
    y.register_hook([&](const Tensor&) { return wrong; });
    CHECK_THROWS_AS(y.sum().backward(), AutogradError);
    CHECK_FALSE(x.grad().defined());
  }
}

TEST_CASE("a hook may remove itself") {
  const Tensor x = ones({2}).requires_grad_();
  const Tensor y = x * 1;
  unsigned id = 0;
  id = y.register_hook([&](const Tensor& g) {
    y.remove_hook(id);
    return g * 2;
  });
  y.register_hook([](const Tensor& g) { return g * 3; });
  y.sum().backward({}, true);
  CHECK(x.grad().equal(full({2}, 6.0)));
  y.sum().backward();
  CHECK(x.grad().equal(full({2}, 9.0)));
}

TEST_CASE("retain_grad accumulates, also for a tensor that is overwritten") {
  const Tensor x = ones({2}).requires_grad_();
  const Tensor y = x * 2;
  y.retain_grad();
  const Tensor sum = y.sum();
  sum.backward({}, true);
  sum.backward();
  CHECK(y.grad().equal(full({2}, 2.0)));

  Tensor z;
  {
    const Tensor gone = x * 2;
    gone.retain_grad();
    gone.mul_(3);
    z = gone.sum();
  }
  x.mutable_grad() = Tensor();
  z.backward();  // the graph must not write to the destroyed tensor
  CHECK(x.grad().equal(full({2}, 6.0)));
}

TEST_CASE("a hook can be removed after its tensor was overwritten") {
  const Tensor x = ones({2}).requires_grad_(), y = x * 1;
  const unsigned before = y.register_hook([](const Tensor& g) { return g * 5; });
  y.mul_(2);
  const unsigned after = y.register_hook([](const Tensor& g) { return g * 7; });
  y.sum().backward({}, /*retain_graph=*/true);
  CHECK(x.grad().equal(full({2}, 70.0)));
  y.remove_hook(before);
  y.sum().backward({}, /*retain_graph=*/true);
  CHECK(x.grad().equal(full({2}, 84.0)));
  y.remove_hook(after);
  y.sum().backward();
  CHECK(x.grad().equal(full({2}, 86.0)));
  CHECK_THROWS_AS(y.remove_hook(before), IndexError);
}

TEST_CASE(
    "a .grad never shares memory with the caller's gradient, whichever tensors hooks release") {
  for_each_device([](Device device) {
    const Tensor a = ones({3}, device).requires_grad_(), b = ones({3}, device).requires_grad_();
    const Tensor g0 = ones({3}, device);
    (a + b).sum().backward();
    const auto of_a = a.register_hook([b](const Tensor&) {
      b.mutable_grad() = Tensor();
      return Tensor();
    });
    const auto of_b = b.register_hook([a](const Tensor&) {
      a.mutable_grad() = Tensor();
      return Tensor();
    });
    (a + b).backward(g0);
    a.remove_hook(of_a);  // otherwise they own each other
    b.remove_hook(of_b);
    for (const Tensor& leaf : {a, b}) {
      CHECK(leaf.grad().cpu().equal(ones({3})));
      leaf.grad().mul_(100);
      CHECK(g0.cpu().equal(ones({3})));
    }
    CHECK(b.grad().cpu().equal(full({3}, 100.F)));
  });
}

TEST_CASE(
    "a .grad that a later leaf's hook changes to another shape is refused, and no leaf changes") {
  const Tensor a = ones({3}).requires_grad_(), b = ones({3}).requires_grad_(),
               c = ones({3}).requires_grad_();
  const Tensor oldest = c * 1;  // its gradient is computed last
  c.register_hook([b](const Tensor&) {
    b.mutable_grad() = ones({2});
    return Tensor();
  });
  CHECK_THROWS_AS((oldest + (a + b)).backward(ones({3})), ShapeError);
  CHECK_FALSE(a.grad().defined());
  CHECK(b.grad().equal(ones({2})));
  CHECK_FALSE(c.grad().defined());
}
