// The engine and the graph: not the formulas of single ops, which gradcheck proves.
// Long because engine, views and in-place writes are one subject: most tests cross all three.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <thread>

#include "gradcheck.h"
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

TEST_CASE("backward takes a gradient for outputs of more than one element") {
  Tensor x = ones({2, 2}).requires_grad_();
  const Tensor y = x * 2;
  CHECK_THROWS_AS(y.backward(), ShapeError);
  CHECK_THROWS_AS(y.backward(ones({3})), ShapeError);
  CHECK_THROWS_AS(y.backward(ones({2, 2}, kFloat64)), DTypeError);
  y.backward(tensor({{1.0, 2.0}, {3.0, 4.0}}));
  CHECK(x.grad().equal(tensor({{2.0, 4.0}, {6.0, 8.0}})));
}

TEST_CASE("backward of a tensor without a graph says so") {
  CHECK_THROWS_WITH_AS(ones({1}).backward(),
                       "backward: expected a tensor that requires grad or came from one, got one "
                       "that does not",
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

TEST_CASE("grad returns gradients and leaves .grad alone") {
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

TEST_CASE("grad mode is the thread's own") {
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
  }  // dies before any backward
  CHECK_THROWS_AS(ones({1}).retain_grad(), AutogradError);
}

TEST_CASE("hooks see and replace gradients, on leaves too") {
  Tensor x = ones({2}).requires_grad_();
  const unsigned id = x.register_hook([](const Tensor& g) { return g * 10; });
  (x * 2).sum().backward();
  CHECK(x.grad().equal(full({2}, 20.0)));
  x.remove_hook(id);
  CHECK_THROWS_AS(x.remove_hook(id), IndexError);
  (x * 2).sum().backward();
  CHECK(x.grad().equal(full({2}, 22.0)));
}

TEST_CASE("a saved tensor that was overwritten is noticed, and the op named") {
  for_each_device([](Device device) {
    Tensor x = ones({2}, device).requires_grad_();
    Tensor w = ones({2}, device);
    const Tensor y = x * w;
    w.add_(1);
    CHECK_THROWS_WITH_AS(y.sum().backward(),
                         "mul: expected a tensor saved for backward unchanged, got one that was "
                         "since written in place (version 0, now 1)",
                         AutogradError);
    CHECK_FALSE(x.grad().defined());
  });
}

TEST_CASE("a view of a saved tensor that was overwritten is noticed") {
  Tensor x = ones({2, 2}).requires_grad_();
  const Tensor w = ones({2, 2}), y = x * w;
  w.select(0, 1).fill_(3);
  CHECK_THROWS_AS(y.sum().backward(), AutogradError);
}

TEST_CASE("a leaf that requires grad refuses in-place writes while recording") {
  Tensor x = ones({2}).requires_grad_();
  CHECK_THROWS_AS(x.add_(1), AutogradError);
  CHECK_THROWS_AS(x.view({2, 1}).mul_(2), AutogradError);
  CHECK(x.equal(ones({2})));
  const NoGradGuard no_grad;
  x.add_(1);
  CHECK(x.equal(full({2}, 2.0)));
}

TEST_CASE("in-place ops are differentiated") {
  Tensor x = tensor({1.0, 2.0}).requires_grad_();
  Tensor y = x * 2;
  y.add_(x);
  y.mul_(y.detach() * 0 + 5);
  y.sum().backward();
  CHECK(x.grad().equal(full({2}, 15.0)));
}

TEST_CASE("a write to a view reaches its base, and the base's other views") {
  Tensor w = tensor({5.0, 7.0}, kFloat64).requires_grad_();
  const Tensor base = zeros({2, 2}, kFloat64), row = base[0], column = base.select(1, 0);
  row.copy_(w);
  CHECK(base.requires_grad());
  CHECK(column.requires_grad());
  (base * tensor({{1.0, 2.0}, {3.0, 4.0}}, kFloat64)).sum().backward({}, true);
  CHECK(w.grad().equal(tensor({1.0, 2.0}, kFloat64)));
  column.sum().backward();
  CHECK(w.grad().equal(tensor({2.0, 2.0}, kFloat64)));
}

TEST_CASE("writes through views pass gradcheck") {
  gradcheck(
      [](const std::vector<Tensor>& in) {
        const Tensor y = in[0] * 2;
        y.select(0, 1).mul_(in[1]);
        y.transpose(0, 1).select(0, 0).add_(in[1].select(0, 0));
        return y * y;
      },
      {randn({3, 2}, kFloat64), randn({2}, kFloat64)});
}

TEST_CASE("a graph 100,000 nodes deep runs and dies without recursion") {
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
  // With a graph of its own, the sum of gradients is another tensor after each step.
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
  autograd::set_detect_anomaly(true);
  Tensor x = zeros({1}).requires_grad_();
  const Tensor y = (x.sqrt() * 0).sum();  // 0 * inf
  CHECK_THROWS_WITH_AS(y.backward(),
                       "sqrt: expected a gradient without NaN in backward, got NaN for input 0",
                       AutogradError);
  autograd::set_detect_anomaly(false);
}

TEST_CASE("a gradient on another device is refused with the documents' words") {
  Tensor x = ones({2}).requires_grad_();
  const Tensor y = x * 2;
  CHECK_THROWS_WITH_AS(y.backward(ones({2}, "reference")),
                       "expected device cpu but got device reference:0", DeviceMismatchError);
}

TEST_CASE("a tensor moved to another device after it was saved is noticed") {
  Tensor w = ones({2}).requires_grad_(), x = ones({2}).requires_grad_();
  const Tensor y = x * w;
  {
    const NoGradGuard no_grad;
    w.set_data(w.to("reference"));
  }
  CHECK_THROWS_AS(y.sum().backward(), AutogradError);
}

namespace {

struct Cube : autograd::Function<Cube> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x, double scale) {
    ctx->save_for_backward({x});
    ctx->saved_data["scale"] = scale;
    return x * x * x * scale;
  }
  static std::vector<Tensor> backward(autograd::AutogradContext* ctx, std::vector<Tensor> g) {
    const Tensor x = ctx->get_saved_variables()[0];
    return {g[0] * 3 * x * x * ctx->saved_data["scale"]};
  }
};

struct ExpAndSquare : autograd::Function<ExpAndSquare> {
  static std::vector<Tensor> forward(autograd::AutogradContext* ctx, const Tensor& x) {
    const Tensor e = exp(x), s = x * x;
    ctx->save_for_backward({x, e});
    return {e, s};
  }
  static std::vector<Tensor> backward(autograd::AutogradContext* ctx, std::vector<Tensor> g) {
    const auto saved = ctx->get_saved_variables();
    Tensor total = zeros_like(saved[0]);
    if (g[0].defined()) total = total + g[0] * saved[1];
    if (g[1].defined()) total = total + g[1] * 2 * saved[0];
    return {total};
  }
};

struct Careless : autograd::Function<Careless> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 2; }
  static std::vector<Tensor> backward(autograd::AutogradContext*, std::vector<Tensor>) {
    return {};
  }
};

}  // namespace

TEST_CASE("custom functions pass gradcheck and gradgradcheck") {
  const TensorFn cube = [](const std::vector<Tensor>& in) { return Cube::apply(in[0], 2.0); };
  const TensorFn both = [](const std::vector<Tensor>& in) {
    const auto out = ExpAndSquare::apply(in[0]);
    return out[0] * out[1];
  };
  const Tensor x = randn({3}, kFloat64);
  gradcheck(cube, {x});
  gradgradcheck(cube, {x});
  gradcheck(both, {x});
  gradgradcheck(both, {x});
  gradcheck([](const std::vector<Tensor>& in) { return ExpAndSquare::apply(in[0])[1]; }, {x});
}

TEST_CASE("a custom function that returns too few gradients is an error") {
  Tensor x = ones({1}).requires_grad_();
  CHECK_THROWS_AS(Careless::apply(x).backward(), AutogradError);
}

namespace {

struct WrongShape : autograd::Function<WrongShape> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 2; }
  static std::vector<Tensor> backward(autograd::AutogradContext*, std::vector<Tensor>) {
    return {ones({64, 64, 8, 8})};
  }
};

struct Wider : autograd::Function<Wider> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 2; }
  static std::vector<Tensor> backward(autograd::AutogradContext*, std::vector<Tensor>) {
    return {ones({3, 2}, kFloat64)};
  }
};

}  // namespace

TEST_CASE("a custom function's gradient takes the shape and dtype of its input, or is an error") {
  const Tensor x = randn({1, 1, 4, 4}).requires_grad_();
  const Tensor y = max_pool2d(x, {.kernel = {2, 2}, .stride = {2, 2}});
  CHECK_THROWS_AS(WrongShape::apply(y).sum().backward(), AutogradError);
  CHECK_FALSE(x.grad().defined());
  const Tensor v = ones({2}).requires_grad_();
  Wider::apply(v).sum().backward();
  CHECK(v.grad().equal(full({2}, 3.0)));
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

TEST_CASE("retain_grad accumulates, and follows a tensor that is overwritten") {
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
  z.backward();  // the graph must not write to the tensor that died
  CHECK(x.grad().equal(full({2}, 6.0)));
}

TEST_CASE("a tensor multiplied by itself in place has the gradient of its square") {
  const Tensor x = full({2}, 3.0).requires_grad_();
  const Tensor y = x * 1;
  y.mul_(y);
  y.sum().backward();
  CHECK(x.grad().equal(full({2}, 6.0)));
}

TEST_CASE("an expanded view follows its base, overwritten since") {
  const Tensor x = ones({1, 4}).requires_grad_();
  const Tensor base = x * 1, view = base.expand({3, 4});
  base.mul_(2);
  view.sum().backward();
  CHECK(x.grad().equal(full({1, 4}, 6.0)));
}

TEST_CASE("an empty view at the end follows its base, overwritten since") {
  const Tensor x = ones({4}).requires_grad_();
  const Tensor base = x * 1, part = base.slice(0, 2), empty_part = part.slice(0, 2, 0);
  base.mul_(2);
  (empty_part.sum() + base.sum()).backward();
  CHECK(x.grad().equal(full({4}, 2.0)));
}

TEST_CASE("a view made outside of the graph is not written into it") {
  const Tensor leaf = ones({2}).requires_grad_(), base = leaf * 2;
  for (const Tensor& t : {leaf, base}) {
    Tensor view;
    {
      const NoGradGuard no_grad;
      view = t.select(0, 0);
    }
    CHECK_THROWS_AS(view.mul_(3), AutogradError);
    CHECK_THROWS_AS(view.mul_(ones({}).requires_grad_()), AutogradError);
  }
  CHECK(leaf.is_leaf());
  CHECK(leaf.equal(ones({2})));
}

TEST_CASE("detecting anomalies names the op whose backward throws") {
  const Tensor x = ones({2}).requires_grad_();
  const Tensor loss = Careless::apply(x).sum();
  autograd::set_detect_anomaly(true);
  try {
    loss.backward();
    FAIL("no error");
  } catch (const AutogradError& e) {
    CHECK(std::string(e.what()).starts_with("Function: expected its backward to succeed"));
  }
  autograd::set_detect_anomaly(false);
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
