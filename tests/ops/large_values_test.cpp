// Results that their dtype holds are right where what lies between them and the operands is too
// large or too small for it: lerp, norms, normalisation, attention.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

TensorOptions f32(Device d) { return TensorOptions(kFloat32).device(d); }
TensorOptions f64(Device d) { return TensorOptions(kFloat64).device(d); }

}  // namespace

TEST_CASE("lerp keeps ends, equal or not, and what lies between finite ends is finite") {
  for_each_device([](Device d) {
    for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
      INFO(name(dtype));
      // More than one part of what is computed in parts.
      const Tensor w = linspace(0, 1, 300001, f64(d)).to(dtype);
      const Tensor three = full({300001}, 3., f64(d)).to(dtype);
      CHECK(lerp(three, three, w).equal(three));  // was 2.99999976 at 0.1
      CHECK(lerp(three, three, 0.1).equal(three));
      const Tensor a = full({300001}, 0.1, f64(d)).to(dtype), b = a * 7;
      const Tensor y = lerp(a, b, w);
      CHECK(((y >= a) & (y <= b)).all().item<bool>());
      CHECK(y[0].equal(a[0]));
      CHECK(y[-1].equal(b[0]));
      CHECK(lerp(b, a, w)[-1].equal(a[0]));
      const Tensor far = full({3}, finfo(dtype).max, f64(d)).to(dtype);
      const Tensor part = tensor({0., 0.5, 1.}, f64(d)).to(dtype);
      CHECK(lerp(far, -far, part).equal(far * (1 - 2 * part)));
      for (const double weight : {0., 0.5, 1.}) {  // 2.15: inf, inf and NaN
        CHECK(lerp(far, -far, weight).equal(far * (1 - 2 * weight)));
        CHECK(far.clone().lerp_(-far, weight).equal(far * (1 - 2 * weight)));
      }
    }
    // Beyond the ends, as 2.15: torch.lerp(torch.tensor([1., 2.]), torch.tensor([3., 6.]), 1.5)
    check_values(lerp(tensor({1., 2.}, f64(d)), tensor({3., 6.}, f64(d)), 1.5), {2}, {4, 8});
    check_values(
        lerp(tensor({1., 2.}, f64(d)), tensor({3., 6.}, f64(d)), tensor({1.5, -0.75}, f64(d))), {2},
        {4, -1});
  });
}

TEST_CASE("norms whose powers leave the range of the dtype are right") {
  for_each_device([](Device d) {
    // mpmath 1.3: (1e15**3 + 2e15**3)**(mpf(1) / 3), and so on; float32: half its epsilon per step
    const auto value = [](const Tensor& y) { return y.item<double>(); };
    const Tensor x = tensor({1., -2.}, f32(d));
    CHECK(value(norm(x * 1e15, 3)) == doctest::Approx(2.08008382e15).epsilon(1e-6));
    CHECK(value(norm(x * 1e-15, 3)) == doctest::Approx(2.08008382e-15).epsilon(1e-6));
    CHECK(value(norm(x * 1e15, -3)) == doctest::Approx(9.6149970e14).epsilon(1e-6));
    const Tensor wide = tensor({{1., -2.}, {3., 4.}}, f64(d));
    check_values(norm(wide * 1e200, 2, IntArrayRef{1}) / 1e200, {2}, {2.2360679775, 5});
    check_values(norm(wide * 1e-200, 2) / 1e-200, {}, {5.47722557505});
    check_values(norm(wide * 1e200, 3, IntArrayRef{1}) / 1e200, {2},
                 {2.08008382305, 4.49794144528});
    CHECK(value(norm(tensor({INFINITY, 1.}, f64(d)))) == INFINITY);
    CHECK(value(norm(tensor({-INFINITY, 1.}, f32(d)), 3)) == INFINITY);
    CHECK(std::isnan(value(norm(tensor({NAN, 1.}, f64(d))))));
    CHECK(value(norm(zeros({2}, f32(d)), 3)) == 0);
    CHECK(value(norm(zeros({2}, f64(d)))) == 0);
    CHECK(norm(zeros({0}, f64(d))).item<double>() == 0);
    CHECK(norm(zeros({0, 2}, f64(d)), 3, IntArrayRef{1}).numel() == 0);
    // (|x| / norm)^2 sign(x)
    const Tensor leaf = (tensor({1., -2.}, f32(d)) * 1e25).requires_grad_();
    norm(leaf, 3).backward();
    check_values(leaf.grad(), {2}, {0.231120424784, -0.924481699134}, 1e-6);
  });
}
