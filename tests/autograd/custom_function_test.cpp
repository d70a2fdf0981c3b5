// Functions with a gradient that the program defines.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

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

TEST_CASE(
    "a custom function's gradient is converted to the shape and dtype of its input, or is an "
    "error") {
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

namespace {

using namespace autograd;

// As in libtorch's documentation, with both namespaces in a using-directive.
struct MulConstant : Function<MulConstant> {
  static Tensor forward(AutogradContext* ctx, Tensor tensor, double constant) {
    ctx->saved_data["constant"] = constant;
    return tensor * constant;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grad_outputs) {
    return {grad_outputs[0] * ctx->saved_data["constant"].toDouble(), Tensor()};
  }
};

struct Linear : Function<Linear> {
  static Tensor forward(AutogradContext* ctx, Tensor input, Tensor weight,
                        std::optional<Tensor> bias = {}) {
    ctx->save_for_backward({input, weight});
    ctx->saved_data["has_bias"] = bias.has_value();
    Tensor out = input.mm(weight.t());
    if (bias) out += bias->unsqueeze(0).expand_as(out);
    return out;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    const auto saved = ctx->get_saved_variables();
    wanted = {ctx->needs_input_grad(0), ctx->needs_input_grad(1), ctx->needs_input_grad({{0, 2}}),
              ctx->needs_input_grad({{2, 9}})};
    const Tensor db = ctx->saved_data["has_bias"].toBool() ? g[0].sum(0) : Tensor();
    // Return one gradient more than there are arguments.
    return {g[0].mm(saved[1]), g[0].t().mm(saved[0]), db, Tensor()};
  }
  static inline std::vector<bool> wanted;
};

// A function that writes its argument in place, as in libtorch's documentation.
struct Doubled : Function<Doubled> {
  static variable_list forward(AutogradContext* ctx, int n, Tensor var, bool returns) {
    ctx->saved_data["n"] = n;
    var.mul_(n);
    ctx->mark_dirty({var});
    return {returns ? var : var * 1};
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    return {Tensor(), g[0] * ctx->saved_data["n"].toInt(), Tensor()};
  }
};

// A function with several outputs; the third has no gradient.
struct Parts : Function<Parts> {
  static variable_list forward(AutogradContext* ctx, TensorList list, const std::string& mode) {
    ctx->set_materialize_grads(mode != "undefined");
    const Tensor a = list[0] * 2, b = list[1].sum(), c = list[0] * 3;
    ctx->mark_non_differentiable({c});
    ctx->save_for_backward({list[0], a});
    return {a, b, c};
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    got = g;
    const Tensor x = ctx->get_saved_variables()[0];
    return {g[0].defined() ? g[0] * 2 : Tensor(), g[1].defined() ? g[1].expand({3}) : Tensor(),
            Tensor()};
  }
  static inline variable_list got;
};

struct Keeper : Function<Keeper> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, int what) {
    auto& data = ctx->saved_data;
    data["int"] = 7;
    data["text"] = "seven";
    data["tensor"] = x.detach() * 7;
    data["sizes"] = x.sizes();
    data["doubles"] = std::vector<double>{0.5, 7};
    data["tensors"] = std::vector<Tensor>{x.detach(), x.detach()};
    data["none"] = std::nullopt;
    data["some"] = std::optional<int64_t>(7);
    data["scalar"] = Scalar(0.25);
    data["what"] = what;
    return x * 1;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    const auto& data = ctx->saved_data;
    CHECK(data.at("int").toInt() == 7);
    CHECK(data.at("int").to<uint8_t>() == 7);
    CHECK(data.at("text").toStringRef() == "seven");
    CHECK(data.at("tensor").toTensor().equal(full({2}, 7.0)));
    CHECK(data.at("sizes").toIntVector() == std::vector<int64_t>{2});
    CHECK(data.at("doubles").toDoubleVector()[0] == 0.5);
    CHECK(data.at("tensors").toTensorVector().size() == 2);
    CHECK(data.at("none").isNone());
    CHECK(data.at("some").toOptional<int64_t>() == 7);
    CHECK_FALSE(data.at("none").to<std::optional<double>>());
    CHECK(data.at("scalar").toScalar().to<double>() == 0.25);
    CHECK_THROWS_AS(data.at("text").toInt(), Error);
    CHECK_THROWS_AS(data.at("doubles").to<std::vector<Tensor>>(), Error);
    return {data.at("what").toInt() == 0 ? g[0] : Tensor(),
            data.at("what").toInt() == 1 ? ones({2}) : Tensor()};
  }
};

}  // namespace

TEST_CASE("a function receives and returns a gradient per argument, as in libtorch") {
  const Tensor x = wave(kCPU, {2, 3}).requires_grad_(), w = wave(kCPU, {4, 3}, 0.3),
               b = wave(kCPU, {4}).requires_grad_();
  gradcheck([](const std::vector<Tensor>& in) { return MulConstant::apply(in[0], 5.5); }, {x});
  gradgradcheck([](const std::vector<Tensor>& in) { return MulConstant::apply(in[0], 5.5); }, {x});
  gradcheck(
      [](const std::vector<Tensor>& in) {
        return Linear::apply(in[0], in[1], std::optional<Tensor>(in[2]));
      },
      {x, w.detach(), b});
  gradcheck(
      [](const std::vector<Tensor>& in) {
        return Linear::apply(in[0], in[1], std::optional<Tensor>());
      },
      {x, w.detach()});
  Linear::apply(x, w, std::optional<Tensor>(b)).sum().backward();
  CHECK(Linear::wanted == std::vector<bool>{true, false, true, true});
  // Only the gradient of b is requested.
  autograd::grad({Linear::apply(x, w, std::optional<Tensor>(b)).sum()}, {b});
  CHECK(Linear::wanted == std::vector<bool>{false, false, false, true});
}

TEST_CASE("a missing gradient is zeros, or undefined on request") {
  for_each_device([](Device device) {
    const Tensor x = ones({2, 2}, device).requires_grad_(), y = ones({3}, device).requires_grad_();
    const std::vector<Tensor> list{x, y};
    auto out = Parts::apply(TensorList(list), std::string("zeros"));
    CHECK_FALSE(out[2].requires_grad());
    out[0].sum().backward();
    REQUIRE(Parts::got[1].defined());
    CHECK(Parts::got[1].equal(zeros({}, device)));
    CHECK(Parts::got[2].equal(zeros({2, 2}, device)));
    CHECK(x.grad().equal(full({2, 2}, 2.0, device)));
    CHECK(y.grad().equal(zeros({3}, device)));
    out = Parts::apply(TensorList(list), std::string("undefined"));
    y.mutable_grad().reset();
    out[0].sum().backward();
    CHECK_FALSE(Parts::got[1].defined());
    CHECK_FALSE(y.grad().defined());
    CHECK_THROWS_AS(out[0].sum().backward(), AutogradError);  // the saved tensors are released
  });
}

TEST_CASE("a function may write its argument in place") {
  for_each_device([](Device device) {
    const Tensor x = ones({3}, device).requires_grad_();
    const Tensor y = x * 3;
    const uint32_t version = y.version();
    const auto out = Doubled::apply(6, y, true);
    CHECK(out[0].is_same(y));
    CHECK(y.version() > version);
    CHECK(y.equal(full({3}, 18.0, device)));
    CHECK(y.grad_fn()->name() == "DoubledBackward0");
    y.sum().backward();
    CHECK(x.grad().equal(full({3}, 18.0, device)));

    // If the argument is a view, its base gets the history, too.
    const Tensor z = x * 1, part = z.narrow(0, 1, 2);
    x.mutable_grad().reset();
    Doubled::apply(5, part, true);
    z.sum().backward();
    CHECK(x.grad().equal(tensor({1., 5., 5.}, device)));

    CHECK_THROWS_AS(Doubled::apply(2, ones({3}, device).requires_grad_(), true), AutogradError);
    CHECK_THROWS_WITH_AS(
        Doubled::apply(2, x * 1, false),
        "Doubled: expected forward to return every tensor that it marks dirty, got "
        "one that it does not",
        AutogradError);
    const NoGradGuard no_grad;
    CHECK_NOTHROW(Doubled::apply(2, x, true));
  });
}

TEST_CASE("a function's arguments may be plain values, and needs_input_grad counts tensors") {
  const Tensor x = ones({2}).requires_grad_();
  Keeper::apply(x, 0).sum().backward();
  CHECK(x.grad().equal(ones({2})));
  CHECK_THROWS_WITH_AS(Keeper::apply(x, 1).sum().backward(),
                       "Keeper: expected backward to return an undefined gradient for argument 1, "
                       "which is not a tensor, got one of sizes [2]",
                       AutogradError);
}
