// Pointwise functions other than arithmetic: at kinks, with many elements, in place.
#include <doctest/doctest.h>

#include "tests/autograd/gradcheck.h"
#include "value_cases.h"

using namespace ambit;

TEST_CASE("gradients at kinks and without a derivative are PyTorch's") {
  for_each_device([](Device d) {
    const auto on = [&](const TensorData& values) {
      return tensor(values, TensorOptions(kFloat64).device(d)).requires_grad_();
    };
    struct Bend {
      const char* name;
      Tensor (*f)(const Tensor& x, const Tensor& y);
      std::vector<double> dx, dy;
    };
    // PyTorch 2.15: f(x, y).sum().backward() with x = [0., 1., 2., nan], y = [0., 1., 1., 1.]
    const std::vector<Bend> bends{
        {"fmax",
         [](const Tensor& x, const Tensor& y) { return fmax(x, y); },
         {0.5, 0.5, 1, 0},
         {0.5, 0.5, 0, 1}},
        {"fmin",
         [](const Tensor& x, const Tensor& y) { return fmin(x, y); },
         {0.5, 0.5, 0, 0},
         {0.5, 0.5, 1, 1}},
        {"copysign",
         [](const Tensor& x, const Tensor& y) { return copysign(x, y - 0.5); },
         {0, 1, 1, NAN},
         {0, 0, 0, 0}},
        {"clamp",
         [](const Tensor& x, const Tensor& y) { return clamp(x, y, y); },
         {1, 1, 0, 1},
         {0, 0, 1, 0}},
        {"nan_to_num",
         [](const Tensor& x, const Tensor& y) { return nan_to_num(x) * (y * 0 + 1); },
         {1, 1, 1, 0},
         {0, 0, 0, 0}},
    };
    for (const Bend& bend : bends) {
      INFO(std::string(bend.name));
      const Tensor x = on({0., 1., 2., NAN}), y = on({0., 1., 1., 1.});
      bend.f(x, y).sum().backward();
      check_values(x.grad(), {4}, bend.dx);
      check_values(y.grad(), {4}, bend.dy);
    }
    // torch.xlogy(x, y): 0 log(0) is constant in x
    const Tensor x = on({0., 0., 2.}), y = on({0., 3., 0.5});
    xlogy(x, y).sum().backward();
    check_values(x.grad(), {3}, {0, 1.09861228867, -0.69314718056});
    check_values(y.grad(), {3}, {NAN, 0, 4});
  });
}

TEST_CASE("addcmul and addcdiv of many elements equal those of each element") {
  manual_seed(1);
  for_each_device([](Device d) {
    const int64_t n = 300'001;  // more than one part, the last one incomplete
    const TensorOptions options = TensorOptions(kFloat64).device(d);
    const Tensor all = randn({n + 1}, options);
    const Tensor a = all.narrow(0, 1, n), b = randn({n}, options), c = rand({n}, options) + 0.5;
    const Tensor sum = a + b * c * 0.5, quotient = a - b / c;
    // The bound is for three roundings of numbers below 100.
    const auto close = [](const Tensor& x, const Tensor& y) {
      return x.cpu().allclose(y.cpu(), 0, 1e-13);
    };
    CHECK(close(addcmul(a, b, c, 0.5), sum));
    CHECK(close(addcdiv(a, b, c, -1), quotient));
    CHECK(close(a.clone().addcmul_(b, c, 0.5), sum));
    CHECK(close(a.clone().addcdiv_(b, c, -1), quotient));
    const Tensor self = a.clone();
    const int64_t version = self._version();
    CHECK(close(self.addcmul_(self, self), a + a * a));
    CHECK(self._version() == version + 1);
    // An input that overlaps self, shifted by one element, is read before self is written.
    const Tensor moved = all.clone(), next = moved.narrow(0, 0, n);
    CHECK(close(moved.narrow(0, 1, n).addcmul_(next, c), a + all.narrow(0, 0, n) * c));
    CHECK_THROWS_AS(ones({n}, d).requires_grad_().addcmul_(ones({n}, d), ones({n}, d)),
                    AutogradError);
    const Tensor x = a.clone().requires_grad_();
    addcmul(x, x, c).sum().backward();
    CHECK(close(x.grad(), 1 + c));
  });
}

TEST_CASE("in-place results replace self, and invalid ones are refused without a change") {
  for_each_device([](Device d) {
    const value_cases::Inputs in(d);
    const auto same = [&](const Tensor& start, auto&& write, const Tensor& expected) {
      const Tensor x = start.clone();
      const void* before = x.data_ptr();
      Tensor& back = write(x);
      CHECK(back.is_same(x));
      CHECK(x.data_ptr() == before);
      CHECK(x.allclose(expected.to(x.dtype()), 0, 0, true));
    };
#define SAME(start, call, expected) \
  same(                             \
      start, [&](const Tensor& x) -> Tensor& { return x.call; }, expected)
    SAME(in.a, hypot_(in.b), hypot(in.a, in.b));
    SAME(in.a, nextafter_(in.b), nextafter(in.a, in.b));
    SAME(in.a, heaviside_(in.b), heaviside(in.a, in.b));
    SAME(in.a, copysign_(in.b), copysign(in.a, in.b));
    SAME(in.a, copysign_(-1), copysign(in.a, -1));
    SAME(in.a, xlogy_(in.b), xlogy(in.a, in.b));
    SAME(in.a, xlogy_(3), xlogy(in.a, 3));
    SAME(in.a, float_power_(2), float_power(in.a, 2));
    SAME(in.a, float_power_(in.n), float_power(in.a, in.n));
    SAME(in.a, ldexp_(in.n), ldexp(in.a, in.n));
    SAME(in.n, gcd_(in.m), gcd(in.n, in.m));
    SAME(in.n, lcm_(in.m), lcm(in.n, in.m));
    SAME(in.n, bitwise_left_shift_(3), bitwise_left_shift(in.n, 3));
    SAME(in.n, bitwise_right_shift_(in.m), bitwise_right_shift(in.n, in.m));
    SAME(in.n, div_(4, "floor"), div(in.n, 4, "floor"));
    SAME(in.n, div_(in.m + 5, "trunc"), div(in.n, in.m + 5, "trunc"));
    SAME(in.a, div_(in.u, std::nullopt), in.a / in.u);
    SAME(in.a, clamp_(in.b, in.b + 1), clamp(in.a, in.b, in.b + 1));
    SAME(in.a, clamp_min_(0.5), clamp_min(in.a, 0.5));
    SAME(in.a, clamp_min_(in.b), clamp_min(in.a, in.b));
    SAME(in.a, clamp_max_(0.5), clamp_max(in.a, 0.5));
    SAME(in.a, clamp_max_(in.b), clamp_max(in.a, in.b));
    SAME(in.a, addcmul_(in.b, in.u, 0.5), addcmul(in.a, in.b, in.u, 0.5));
    SAME(in.n, addcmul_(in.m, in.m, 2), addcmul(in.n, in.m, in.m, 2));
    SAME(in.a, addcdiv_(in.b, in.u, 0.5), addcdiv(in.a, in.b, in.u, 0.5));
    SAME(in.a, lerp_(in.b, 0.9), lerp(in.a, in.b, 0.9));
    SAME(in.a, lerp_(in.b, in.u), lerp(in.a, in.b, in.u));
    SAME(in.a * 1.2345, round_(2), round(in.a * 1.2345, 2));
    SAME(in.s, nan_to_num_(1.0), nan_to_num(in.s, 1.0));
    SAME(in.n, nan_to_num_(), in.n);
    SAME(in.n, operator&=(in.m), in.n & in.m);
    SAME(in.n, operator|=(in.m), in.n | in.m);
    SAME(in.n, operator^=(in.m), in.n ^ in.m);
    SAME(in.a, hypot_(in.b[0]), hypot(in.a, in.b[0]));
#undef SAME
    const Tensor n = in.n.clone();
    CHECK_THROWS_AS(n.copysign_(in.a), DTypeError);
    CHECK_THROWS_AS(n.xlogy_(2), DTypeError);
    CHECK_THROWS_AS(n.ldexp_(in.m), DTypeError);
    CHECK_THROWS_AS(n.clamp_(in.a), DTypeError);
    CHECK_THROWS_AS(n.addcmul_(in.a, in.b), DTypeError);
    CHECK_THROWS_AS(n.div_(2.5, "floor"), DTypeError);
    CHECK_THROWS_AS(n.div_(2, std::nullopt), DTypeError);
    const auto divide = [&] {
      n.div_(0, "trunc");
      static_cast<void>(n.cpu());  // wait for late work
    };
    CHECK_THROWS_AS(divide(), Error);
    CHECK_THROWS_AS(n.clamp_(in.m[0].reshape({3, 1})), ShapeError);
    CHECK_THROWS_AS(in.a.to(kFloat32).float_power_(2), DTypeError);
    CHECK(n.equal(in.n));
  });
}

// PyTorch 1.13: RuntimeError ZeroDivisionError, because 256 is 0 in uint8.
TEST_CASE("a divisor that is 0 after conversion is an error") {
  for_each_device([](Device d) {
    const Tensor x = tensor({5, 7}, kUInt8).to(d);
    const auto divide = [&] { return floor_divide(x, 256).cpu(); };  // wait for late work
    CHECK_THROWS_AS(divide(), Error);
    CHECK(floor_divide(x, 257).equal(x));
  });
}

TEST_CASE("shifts by more than the number of bits equal repeated shifts by one") {
  for_each_device([](Device d) {
    const Tensor x = tensor({1, -1, 100}, kInt8).to(d);
    for (const int64_t places : {8, 64, 256, -1}) {
      INFO(places);
      const Tensor by = full({3}, Scalar(places), TensorOptions(kInt64).device(d));
      check_values(bitwise_left_shift(x, places), {3}, {0, 0, 0});
      check_values(bitwise_right_shift(x, places), {3}, {0, -1, 0});
      const Tensor wide = x.to(kInt64);
      check_values(bitwise_left_shift(wide, where(by < 0, by, by + 56)), {3}, {0, 0, 0});
      if (places != 256) check_values(bitwise_right_shift(x, by.to(kInt8)), {3}, {0, -1, 0});
    }
    check_values(bitwise_left_shift(x, 7), {3}, {-128, -128, 0});
  });
}

TEST_CASE("clamp with tensors accepts empty ones, 0-dim ones and views") {
  for_each_device([](Device d) {
    const value_cases::Inputs in(d);
    CHECK(clamp(in.e, in.e).sizes() == IntArrayRef{0, 3});
    CHECK(clamp(in.a, in.z).min().item<double>() == 2.5);
    CHECK(clamp(in.a, {}, tensor(0.5)).max().item<double>() == 0.5);
    CHECK(clamp(in.a.t(), in.b.t()).equal(clamp(in.a, in.b).t()));
    CHECK(lerp(in.e, in.e, 0.5).sizes() == IntArrayRef{0, 3});
    CHECK(addcmul(in.e, in.e, in.z).sizes() == IntArrayRef{0, 3});
    // The tensor is written through a view.
    const Tensor x = in.a.clone();
    x.t().clamp_(in.b.t());
    CHECK(x.equal(clamp(in.a, in.b)));
  });
}
