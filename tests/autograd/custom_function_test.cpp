// Functions whose gradient a program writes itself.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include "gradcheck.h"
#include "tests/devices.h"

using namespace ambit;

namespace {

struct Cube : autograd::Function<Cube> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x, double scale) {
    ctx->save_for_backward({x});
    ctx->saved_data["scale"] = scale;
    return x * x * x * scale;
  }
  static std::vector<Tensor> backward(autograd::AutogradContext* ctx, std::vector<Tensor> g) {
    const Tensor x = ctx->get_saved_variables()[0];
    return {g[0] * 3 * x * x * ctx->saved_data["scale"].toDouble(), Tensor()};
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

TEST_CASE("detecting anomalies names the op whose backward throws") {
  const Tensor x = ones({2}).requires_grad_();
  const Tensor loss = Careless::apply(x).sum();
  const autograd::DetectAnomalyGuard guard;
  try {
    loss.backward();
    FAIL("no error");
  } catch (const AutogradError& e) {
    CHECK(std::string(e.what()).starts_with("Careless: expected its backward to succeed"));
  }
}
