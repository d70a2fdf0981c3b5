// Gradients of elementwise ops, first and second, compared with finite differences. Inputs avoid
// kinks and poles, except for those where the gradient is defined.
#include <ambit/ops/elementwise.h>
#include <ambit/ops/special.h>

#include <string>

#include "gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/ops/unary_maps.h"

using namespace ambit;

namespace {

void check_both(TensorFnRef f, const std::vector<Tensor>& inputs) {
  gradcheck(f, inputs);
  gradgradcheck(f, inputs);
}

}  // namespace

TEST_CASE("unary maps have correct first and second gradients, in place too") {
  for_each_device([](Device d) {
    for (const UnaryMap& m : unary_maps()) {
      INFO(m.name);
      const Tensor x = wave(d, {5}) * 0.6 + m.shift;
      check_both([&](const auto& in) { return m.map(in[0]) + square(in[0]); }, {x});
      check_both(
          [&](const auto& in) {
            const Tensor y = in[0] * 1;
            m.in_place(y);
            return y + square(in[0]);
          },
          {x});
    }
    check_both([](const auto& in) { return gelu(in[0]); }, {wave(d, {5})});
    check_both([](const auto& in) { return gelu(in[0], "tanh"); }, {wave(d, {5})});
  });
}

TEST_CASE("binary ops have correct gradients of both operands, broadcasting") {
  for_each_device([](Device d) {
    const Tensor a = wave(d, {2, 3}) + 2.1, b = wave(d, {3}, 1.1) + 3;
    check_both([](const auto& in) { return add(in[0], in[1], 1.5); }, {a, b});
    check_both([](const auto& in) { return sub(in[0], in[1], 2); }, {b, a});
    check_both([](const auto& in) { return in[0] * in[1]; }, {a, b});
    check_both([](const auto& in) { return in[0] / in[1]; }, {a, b});
    check_both([](const auto& in) { return pow(in[0], in[1]); }, {a, b});
    check_both([](const auto& in) { return remainder(in[0] * 3, in[1]); }, {a, b});
    check_both([](const auto& in) { return fmod(in[0] * 3, in[1]); }, {a, b});
    check_both([](const auto& in) { return floor_divide(in[0] * 3, in[1]) + in[0]; }, {a, b});
    check_both([](const auto& in) { return div(in[0] * 3, in[1], "trunc") + in[0]; }, {a, b});
    check_both([](const auto& in) { return maximum(in[0], in[1]); }, {a, b});
    check_both([](const auto& in) { return minimum(in[0], in[1]); }, {a, b});
    check_both([](const auto& in) { return atan2(in[0], in[1]); }, {a, b});
  });
}

TEST_CASE("ops with numbers have correct gradients") {
  for_each_device([](Device d) {
    const Tensor a = wave(d, {4}) + 2;
    check_both([](const auto& in) { return (2 - in[0] * 3) / 4 + 1 / in[0] - 5; }, {a});
    for (const double e : {0., 1., 2., 3., 0.5, -0.5, -1., 2.5}) {
      INFO("exponent ", e);
      check_both([e](const auto& in) { return pow(in[0], e) + exp(in[0]); }, {a});
    }
    check_both([](const auto& in) { return pow(2, in[0]); }, {a});
    check_both([](const auto& in) { return in[0] % 0.7 + fmod(in[0], 0.7); }, {a});
    check_both([](const auto& in) { return clamp(in[0] * in[0], 2, 5); }, {a});
    check_both([](const auto& in) { return clamp(in[0] * in[0], 2); }, {a});
    check_both([](const auto& in) { return clamp(in[0] * in[0], std::nullopt, 5); }, {a});
  });
}

TEST_CASE("in-place binary ops have correct gradients of self and other") {
  for_each_device([](Device d) {
    const Tensor a = wave(d, {2, 3}) + 2.1, b = wave(d, {3}, 1.1) + 3;
    using InPlace = std::function<void(const Tensor&, const Tensor&)>;
    const std::vector<InPlace> ops{
        [](const Tensor& x, const Tensor& y) { x.add_(y, 2); },
        [](const Tensor& x, const Tensor& y) { x.sub_(y); },
        [](const Tensor& x, const Tensor& y) { x.sub_(y, 0.5).add_(x, 3); },
        [](const Tensor& x, const Tensor& y) { x.mul_(y); },
        [](const Tensor& x, const Tensor& y) { x.div_(y); },
        [](const Tensor& x, const Tensor& y) { x.pow_(y); },
        [](const Tensor& x, const Tensor& y) { x.atan2_(y); },
        [](const Tensor& x, const Tensor& y) { x.remainder_(y); },
        [](const Tensor& x, const Tensor& y) { x.fmod_(y); },
        [](const Tensor& x, const Tensor& y) { x.mul_(y).mul_(2).pow_(1.5).clamp_(1, 90); },
        [](const Tensor& x, const Tensor& y) { x.copy_(y); },
        [](const Tensor& x, const Tensor& y) { x.select(1, 1).mul_(y.sum()); },
    };
    for (size_t i = 0; i < ops.size(); ++i) {
      INFO("op ", i);
      check_both(
          [&](const auto& in) {
            const Tensor x = in[0] * 2;
            ops[i](x, in[1]);
            return x;
          },
          {a, b});
    }
  });
}

TEST_CASE("where and masked_fill pass gradients to the selected elements") {
  for_each_device([](Device d) {
    const Tensor a = wave(d, {2, 3}), b = wave(d, {3}, 1.1), mask = wave(d, {2, 3}, 2) > 0;
    check_both([&](const auto& in) { return where(mask, square(in[0]), exp(in[1])); }, {a, b});
    check_both([&](const auto& in) { return where(mask, in[0], 2.5); }, {b});
    check_both([&](const auto& in) { return masked_fill(exp(in[0]), mask, 3); }, {b});
    check_both(
        [&](const auto& in) {
          const Tensor y = square(in[0]);
          y.masked_fill_(mask, 3);
          return y;
        },
        {a});
  });
}

TEST_CASE("gradients at kinks and poles are PyTorch's") {
  for_each_device([](Device d) {
    const auto grad_at = [d](double at, const std::function<Tensor(const Tensor&)>& f) {
      const Tensor x = tensor(at, TensorOptions(kFloat64).device(d).requires_grad(true));
      f(x).backward();
      return x.grad().item<double>();
    };
    // x = torch.tensor(at, dtype=torch.float64, requires_grad=True); f(x).backward(); x.grad
    CHECK(grad_at(0, [](const Tensor& x) { return abs(x); }) == 0);
    CHECK(grad_at(0, [](const Tensor& x) { return relu(x); }) == 0);
    CHECK(grad_at(0, [](const Tensor& x) { return pow(x, 0); }) == 0);
    CHECK(grad_at(0, [](const Tensor& x) { return pow(x, zeros({}, x.options())); }) == 0);
    CHECK(grad_at(2, [](const Tensor& x) { return pow(zeros({}, x.options()), x); }) == 0);
    CHECK(grad_at(2, [](const Tensor& x) { return clamp(x, 2, 3); }) == 0);  // 2.15; 1.13 has 1
    CHECK(grad_at(2, [](const Tensor& x) { return maximum(x, full_like(x, 2)); }) == 0.5);
    CHECK(grad_at(2, [](const Tensor& x) { return minimum(full_like(x, 2), x); }) == 0.5);
  });
}

TEST_CASE("promoted operands get gradients of their own dtype") {
  for_each_device([](Device d) {
    const Tensor f = tensor({1., 2.}, TensorOptions(kFloat32).device(d).requires_grad(true));
    const Tensor g = tensor({3., 4.}, TensorOptions(kFloat64).device(d).requires_grad(true));
    (f * g).sum().backward();
    CHECK(f.grad().dtype() == kFloat32);
    CHECK(g.grad().dtype() == kFloat64);
    check_values(f.grad(), {2}, {3, 4});
    const Tensor c = tensor(5., requires_grad());  // 0-dim, on cpu
    (f.detach() * c).sum().backward();
    CHECK(c.grad().is_cpu());
    check_values(c.grad(), {}, {3});
  });
}

// In PyTorch 2.15, torch.atan2 and torch.special.zeta of uint8 and int8 have other gradients.
TEST_CASE(
    "gradients next to an integer operand are those next to the same floating-point numbers") {
  struct Function {
    const char* name;
    Tensor (*f)(const Tensor& n, const Tensor& x);
  };
  const Function functions[] = {
      {"atan2", [](const Tensor& n, const Tensor& x) { return atan2(n, x); }},
      {"atan2, second", [](const Tensor& n, const Tensor& x) { return atan2(x, n); }},
      {"special_zeta", [](const Tensor& n, const Tensor& x) { return special_zeta(n, x); }},
      {"pow", [](const Tensor& n, const Tensor& x) { return pow(n, x); }},
      {"pow, second", [](const Tensor& n, const Tensor& x) { return pow(x, n); }},
      {"xlogy", [](const Tensor& n, const Tensor& x) { return xlogy(n, x); }},
      {"special_xlog1py", [](const Tensor& n, const Tensor& x) { return special_xlog1py(n, x); }},
      {"div", [](const Tensor& n, const Tensor& x) { return n / x; }},
      {"fmod", [](const Tensor& n, const Tensor& x) { return fmod(n, x); }},
      {"remainder", [](const Tensor& n, const Tensor& x) { return remainder(n, x); }},
  };
  for_each_device([&](Device d) {
    const Tensor numbers = tensor({4., 1., 100., 2.}, TensorOptions(kFloat64).device(d));
    const auto gradient = [&](const Function& function, const Tensor& n) {
      const Tensor x = tensor({2., 1.5, 2.25, 1.25}, numbers.options()).requires_grad_();
      function.f(n, x).sum().backward();
      return x.grad();
    };
    for (const Function& function : functions) {
      const Tensor expected = gradient(function, numbers);
      for (const DType dtype : {kUInt8, kInt8, kInt16}) {
        INFO(function.name, " of ", name(dtype));
        CHECK(allclose(gradient(function, numbers.to(dtype)), expected));
      }
    }
    // -y / (x^2 + y^2)
    CHECK(gradient(functions[0], numbers.to(kUInt8))[0].item<double>() == doctest::Approx(-0.2));
  });
}

TEST_CASE("dropout scales the elements it keeps, and its gradient uses the same mask") {
  for_each_device([](Device d) {
    manual_seed(3);
    const Tensor x = ones({1000}, TensorOptions(d).requires_grad(true));
    const Tensor y = dropout(x, 0.25);
    y.sum().backward();
    CHECK(x.grad().equal(y));
    CHECK(((y == 0) | isclose(y, full_like(y, 4. / 3))).all().item<bool>());
    // 1000 draws with p = 0.25: the fraction kept is 0.75 with standard deviation 0.014; five of
    // these are 0.07.
    CHECK(std::abs((y != 0).to(kFloat64).mean().item<double>() - 0.75) < 0.07);
    CHECK(dropout(x, 0.25, false).is_same(x));
    CHECK((dropout(x, 1) == 0).all().item<bool>());
    CHECK(dropout(x, 0).equal(x));
  });
}
