// Permitted calls with several devices (docs/device-mismatch.md): 0-dim cpu tensors in elementwise
// ops, cpu indices of index and index_put_, copy_ and to. On every device, with gradients, which
// are on their tensor's device. copy_test.cpp tests the values of copy_ and to.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include "tests/devices.h"

using namespace ambit;

namespace {

using Function = Tensor (*)(const Tensor&, const Tensor&);
using InPlace = const Tensor& (*)(const Tensor&, const Tensor&);

struct Elementwise {
  const char* name;
  Function run;
  InPlace run_in_place;
};

Tensor plus(const Tensor& a, const Tensor& b) { return add(a, b, 2); }
const Tensor& plus_(const Tensor& a, const Tensor& b) { return add_(a, b, 2); }
Tensor minus(const Tensor& a, const Tensor& b) { return sub(a, b, 2); }
const Tensor& minus_(const Tensor& a, const Tensor& b) { return sub_(a, b, 2); }
Tensor choose(const Tensor& a, const Tensor& b) { return where(a > b, a, b); }

#define ELEMENTWISE(name)                                                                        \
  {                                                                                              \
#name,                                                                                       \
        [](const Tensor& a,                                                                      \
           const Tensor& b) { return name(a, b); },                                              \
                                                 [](const Tensor& a, const Tensor& b)            \
                                                      -> const Tensor& { return name##_(a, b); } \
  }
const Elementwise kElementwise[] = {
    {"add", plus, plus_},
    {"sub", minus, minus_},
    ELEMENTWISE(mul),
    ELEMENTWISE(div),
    ELEMENTWISE(floor_divide),
    ELEMENTWISE(remainder),
    ELEMENTWISE(fmod),
    ELEMENTWISE(pow),
    ELEMENTWISE(atan2),
    ELEMENTWISE(eq),
    ELEMENTWISE(ne),
    ELEMENTWISE(lt),
    ELEMENTWISE(le),
    ELEMENTWISE(gt),
    ELEMENTWISE(ge),
    ELEMENTWISE(logical_and),
    ELEMENTWISE(logical_or),
    ELEMENTWISE(logical_xor),
    {"maximum", maximum, nullptr},
    {"minimum", minimum, nullptr},
    {"where", choose, nullptr},
};

Tensor numbers(Device device) { return tensor({1.5, 2.0, 3.0}).to(device); }
Tensor number() { return tensor(2.0); }

// Powers and angles differ by a few units in the last place between backends: 8 float epsilons.
void check_close(const Tensor& got, const Tensor& want) {
  CHECK(got.cpu().to(kFloat32).allclose(want.to(kFloat32), 8 * 1.2e-7, 8 * 1.2e-7));
}

void check_gradients(const Elementwise& op, Device device, bool number_first) {
  const auto gradients = [&](Device d) {
    const Tensor x = numbers(d).requires_grad_(), s = number().requires_grad_();
    const Tensor y = number_first ? op.run(s, x) : op.run(x, s);
    if (y.requires_grad()) y.sum().backward();
    return std::pair{x.grad(), s.grad()};
  };
  const auto [x, s] = gradients(device);
  const auto [x_on_cpu, s_on_cpu] = gradients(kCPU);
  REQUIRE(x.defined() == x_on_cpu.defined());
  REQUIRE(s.defined() == s_on_cpu.defined());
  if (x.defined()) {
    CHECK(x.device() == device);
    check_close(x, x_on_cpu);
  }
  if (s.defined()) {
    CHECK(s.device() == kCPU);
    check_close(s, s_on_cpu);
  }
}

}  // namespace

TEST_CASE("a 0-dim cpu tensor can be an operand of every elementwise op, and gets its gradient") {
  for_each_device([](Device device) {
    for (const Elementwise& op : kElementwise) {
      INFO(std::string(op.name));
      const Tensor x = numbers(device), s = number();
      CHECK(op.run(x, s).device() == device);
      check_close(op.run(x, s), op.run(x.cpu(), s));
      CHECK(op.run(s, x).device() == device);
      check_close(op.run(s, x), op.run(s, x.cpu()));
      CHECK(op.run(s, number().to(device)).device() == device);  // both 0-dim
      check_gradients(op, device, false);
      check_gradients(op, device, true);
      if (!op.run_in_place) continue;
      const Tensor y = numbers(device);
      op.run_in_place(y, s);
      CHECK(y.device() == device);
      check_close(y, op.run(x.cpu(), s));
    }
  });
}

TEST_CASE("a 0-dim cpu tensor can be an operand of bitwise ops, and a mask") {
  for_each_device([](Device device) {
    const Tensor n = tensor({6, 5}).to(device), bits = tensor(3), yes = tensor(true);
    CHECK(bitwise_and(n, bits).cpu().equal(tensor({2, 1})));
    CHECK(bitwise_or(bits, n).cpu().equal(tensor({7, 7})));
    CHECK(n.clone().bitwise_xor_(bits).cpu().equal(tensor({5, 6})));
    CHECK(masked_fill(n, yes, 1).cpu().equal(tensor({1, 1})));
    CHECK(masked_fill(bits, n > 5, 1).cpu().equal(tensor({1, 3})));
    CHECK(n.clone().masked_fill_(yes, 1).cpu().equal(tensor({1, 1})));
    CHECK(where(yes, n, bits).cpu().equal(n.cpu()));
    CHECK(isclose(n, tensor(6)).cpu().equal(tensor({true, false})));
    CHECK_FALSE(allclose(n, tensor(6)));
  });
}

TEST_CASE("a gradient through an in-place op reaches the 0-dim cpu tensor") {
  for_each_device([](Device device) {
    const Tensor s = number().requires_grad_();
    const Tensor y = numbers(device);
    y.mul_(s);
    y.sum().backward();
    CHECK(s.grad().device() == kCPU);
    CHECK(s.grad().item<float>() == 6.5);  // the sum of the numbers, exact in binary
  });
}

TEST_CASE("indices and masks on the cpu can be used with tensors of any device, with gradients") {
  for_each_device([](Device device) {
    const Tensor x = arange(6, kFloat32).reshape({3, 2}).to(device).requires_grad_();
    const Tensor rows = tensor({2, 0, 2}), columns = tensor({1, 0, 1});
    const Tensor mask = tensor({{true, false}, {false, true}, {true, true}});
    const Tensor picked = x.index({rows, columns});
    CHECK(picked.device() == device);
    CHECK(picked.cpu().equal(tensor({5., 0., 5.})));
    CHECK(x.index({mask}).cpu().equal(tensor({0., 3., 4., 5.})));
    (picked.sum() + x.index({mask}).sum()).backward();
    CHECK(x.grad().device() == device);
    CHECK(x.grad().cpu().equal(tensor({{2., 0.}, {0., 1.}, {1., 3.}})));

    const Tensor y = zeros({3, 2}, device), value = ones({3}, device);
    y.index_put_({rows, columns}, value);
    index_put_(y, {rows, columns}, value, /*accumulate=*/true);
    CHECK(y.cpu().equal(tensor({{2., 0.}, {0., 0.}, {0., 3.}})));
    y.index_put_({mask}, 7);
    CHECK(y.cpu().equal(tensor({{7., 0.}, {0., 7.}, {7., 7.}})));
  });
}

TEST_CASE("dtypes of tensors on two devices can be promoted, since nothing is computed") {
  for_each_device([](Device device) {
    CHECK(result_type(ones({2}, kInt32), ones({2}, device)) == kFloat32);
    CHECK(ones({2}, kInt32).type_as(ones({2}, device)).device() == device);
  });
}

TEST_CASE("gradients of copy_ and to are copied back to the other device") {
  for_each_device([](Device device) {
    const Tensor x = ones({2}).requires_grad_();
    const Tensor y = zeros({2}, device);
    y.copy_(x * 3);
    (y.sum() + (x.to(device) * 2).sum()).backward();
    CHECK(x.grad().device() == kCPU);
    CHECK(x.grad().equal(full({2}, 5.0)));
  });
}
