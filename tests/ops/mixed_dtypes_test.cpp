// Binary ops of two dtypes: each gradient is that of the same numbers in float64, because the
// gradient is not computed in the dtype of the other operand.
#include <ambit/autograd.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/devices.h"

using namespace ambit;

namespace {

using Binary = std::function<Tensor(const Tensor&, const Tensor&)>;

struct Case {
  const char* name;
  Binary op;
  std::vector<double> self, other;  // exact in every dtype except bool
};

const std::vector<double> kLeft{100, 3, 1, 2, 127}, kRight{3, 100, 7, 2, 1};

std::vector<Case> cases() {
  const auto of = [](Tensor (*f)(const Tensor&, const Tensor&)) { return Binary(f); };
  return {
      {"add", [](const Tensor& a, const Tensor& b) { return add(a, b, 3); }, kLeft, kRight},
      {"mul", of(mul), kLeft, kRight},
      {"div", of(div), kLeft, kRight},
      {"floor_divide", of(floor_divide), kLeft, kRight},
      {"remainder", of(remainder), kLeft, kRight},
      {"fmod", of(fmod), kLeft, kRight},
      // For the exponent e = 0 the gradient's formula has e - 1, which uint8 and bool cannot hold,
      // and x^-1, which no integer dtype can hold.
      {"pow", of(pow), {100, 3, 1, 2, 5}, {2, 0, 1, 3, 0}},
      {"atan2", of(atan2), kLeft, kRight},
      {"maximum", of(maximum), kLeft, kRight},
      {"minimum", of(minimum), kLeft, kRight},
      {"where", [](const Tensor& a, const Tensor& b) { return where(gt(a, b), a, b); }, kLeft,
       kRight},
  };
}

Tensor make(const std::vector<double>& values, DType dtype, Device device) {
  std::vector<double> v = values;
  return from_blob(v.data(), {static_cast<int64_t>(v.size())}, kFloat64).clone().to(device, dtype);
}

/// Return the gradient of sum(op(a, b) * (1, 2, ...)) by `wanted`, which is a or b.
Tensor gradient(const Binary& op, const Tensor& a, const Tensor& b, const Tensor& wanted) {
  const Tensor out = op(a, b);
  const Tensor weights = arange(1, out.numel() + 1, 1, out.options()).view(out.sizes());
  return autograd::grad({(out * weights).sum()}, {wanted})[0];
}

void check(const Case& c, const Tensor& a, const Tensor& b) {
  const DType result = result_type(a, b);
  for (const bool left : {true, false}) {
    if (!(left ? a : b).is_floating_point()) continue;
    INFO(std::string(c.name), " of ", std::string(name(a.dtype())), a.dim() ? "" : " 0-dim",
         " and ", std::string(name(b.dtype())), b.dim() ? "" : " 0-dim",
         left ? ", by the first" : ", by the second");
    const auto operand = [](const Tensor& t, DType dtype, bool wanted) {
      Tensor copy = t.detach().clone().to(dtype);
      return wanted ? copy.requires_grad_() : copy;
    };
    const Tensor x = operand(a, a.dtype(), left), y = operand(b, b.dtype(), !left);
    const Tensor x64 = operand(a, kFloat64, left), y64 = operand(b, kFloat64, !left);
    const Tensor got = gradient(c.op, x, y, left ? x : y);
    const Tensor expected = gradient(c.op, x64, y64, left ? x64 : y64);
    CHECK(got.dtype() == (left ? a : b).dtype());
    // Six operations of at most 4 ulp each, and one rounding to the operand's dtype; a sum of five
    // terms to 0 dims adds their roundings.
    const bool single = result == kFloat32 || got.dtype() == kFloat32;
    const double tolerance = 32 * (single ? 0x1p-23 : 0x1p-52) * (got.dim() ? 1 : 8);
    const Tensor error = abs(got.to(kFloat64) - expected) / (abs(expected) + 1);
    INFO("got ", str(got), " expected ", str(expected));
    CHECK(error.max().item<double>() <= tolerance);
  }
}

}  // namespace

TEST_CASE("a gradient does not depend on the dtype of the other operand") {
  for_each_device([](Device device) {
    for (const Case& c : cases()) {
      for (const DType left : dtypes::kAll) {
        for (const DType right : dtypes::kAll) {
          if (!is_floating_point(left) && !is_floating_point(right)) continue;
          const Tensor a = make(c.self, left, device);
          // A bool divisor is always true.
          const bool power = c.name == std::string("pow");
          const Tensor b = right == kBool && !power ? ones({5}, TensorOptions(device).dtype(kBool))
                                                    : make(c.other, right, device);
          check(c, a, b);
          check(c, a[0], b);
          check(c, a, b[0]);
        }
      }
    }
  });
}

// torch.atan2(torch.tensor([1.]), torch.tensor([100], dtype=torch.uint8)) and its gradient
TEST_CASE("atan2's gradient does not square integers in their dtype") {
  for_each_device([](Device device) {
    const Tensor y = full({1}, 100, TensorOptions(device).dtype(kUInt8));
    const Tensor x = ones({1}, TensorOptions(device)).requires_grad_();
    atan2(y, x).sum().backward();
    // -y / (x^2 + y^2); four roundings
    CHECK(std::abs(x.grad().item<double>() + 100.0 / 10001) < 4 * 0x1p-24);
  });
}

TEST_CASE("pow with bool exponents has the gradient with respect to its base") {
  for_each_device([](Device device) {
    const Tensor x = full({2}, 5., TensorOptions(device)).requires_grad_();
    const Tensor e = tensor({false, true}, TensorOptions(device).dtype(kBool));
    pow(x, e).sum().backward();
    CHECK(equal(x.grad().cpu(), tensor({0.f, 1.f})));
  });
}
