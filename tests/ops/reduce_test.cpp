// Reductions: values, shapes, dtypes and errors. gradcheck_reduce_test tests their gradients.
#include <ambit/error.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/random.h>

#include <cmath>
#include <limits>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
}  // namespace

TEST_CASE("sum and mean reduce the given dims, counted from either end") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3, 4});
    // x = wave(2, 3, 4); x.sum((0, 2)); x.mean(1, keepdim=True); x.mean((0, -1))
    check_values(x.sum({0, 2}), {3}, {2.42039916509, -2.76394549454, 2.78810322161});
    check_values(x.mean(1, true), {2, 1, 4},
                 {-0.0987594959055, 0.103416120011, 0.256953518765, 0.289641662634, 0.288676178211,
                  0.182236027085, -0.00991257509503, -0.19739913832});
    check_values(x.mean({0, -1}), {3}, {0.302549895636, -0.345493186818, 0.348512902701});
    CHECK(x.sum().dim() == 0);
    CHECK(x.sum(IntArrayRef{}, true).sizes() == IntArrayRef{1, 1, 1});
    // The operand has the same elements with other strides.
    check_values(x.permute({2, 0, 1}).sum({0, 1}), {3},
                 {2.42039916509, -2.76394549454, 2.78810322161});
    check_values(x.narrow(2, 0, 1).expand({2, 3, 4}).sum(2), {2, 3}, [&] {
      std::vector<double> v;
      for (const double e :
           {0., 0.334988150156, -0.631266637872, 0.854598908088, -0.979177729151, 0.990607355695}) {
        v.push_back(4 * e);
      }
      return v;
    }());
  });
}

TEST_CASE("var and std of numbers whose squares exceed float32 are correct") {
  for_each_device([](Device d) {
    // torch.std(x, 1); torch.var(x, 1); torch.std(x[:2])
    const TensorOptions float32 = TensorOptions(kFloat32).device(d);
    const Tensor x = tensor(
        {{1e20, -1e20, 3e20}, {1e-25, 2e-25, 4e-25}, {3e38, -3e38, 3e38}, {0., 0., 0.}}, float32);
    const Tensor units = tensor({1e-20, 1e25, 1., 1.}, TensorOptions(kFloat64).device(d));
    // The bound is a few roundings of 2^-24.
    check_values(x.std(1).to(kFloat64) * units, {4},
                 {2.0000000400817547, 1.5275252351881298, kInf, 0}, 1e-6);
    check_values(x.var(1), {4}, {kInf, 0, kInf, 0});
    const Tensor many =
        tensor({1.5e19, -1.5e19}, float32).repeat(50);  // the sum is infinite in float32
    check_values(many.var(), {}, {2.2727273567926407e38}, 1e-6);
    check_values(many.std(false), {}, {1.5000000520515486e19}, 1e-6);
    check_values(tensor({{kInf, 1., 2.}, {kNan, 1., 2.}, {1., 1., 1.}}, float32).std(1), {3},
                 {kNan, kNan, 0});
  });
}

TEST_CASE("var and std of numbers whose squares exceed float64 are correct") {
  for_each_device([](Device d) {
    // Computed by hand: the deviations of {1, -1, 3} from 1 are 0, -2, 2.
    const TensorOptions float64 = TensorOptions(kFloat64).device(d);
    const Tensor x = tensor({{1., -1., 3.}, {1., -1., 3.}, {1., -1., 3.}}, float64);
    const Tensor units = tensor({1e200, 1e-200, 1e307}, float64);
    const Tensor std = (x * units.unsqueeze(1)).std(1);
    check_values(std / units, {3}, {2, 2, 2}, 1e-14);
    check_values((x * units.unsqueeze(1)).var(1), {3}, {kInf, 0, kInf});
  });
}

TEST_CASE("var and std divide by the number of elements minus the correction") {
  using Correction = std::optional<int64_t>;
  for_each_device([](Device d) {
    for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
      // torch.var(torch.tensor([1., 2., 4., 9.]), 0, correction=...): the sum of squares is 38.
      const Tensor x = tensor({1., 2., 4., 9.}, TensorOptions(kFloat64).device(d)).to(dtype);
      const double ulp = is_reduced_floating(dtype) ? 0x1p-8 : 0x1p-23;
      for (const int64_t correction : {0, 1, 2, 3}) {
        const double var = 38. / static_cast<double>(4 - correction);
        check_values(ambit::var(x, {0}, Correction(correction)), {}, {var}, ulp);
        check_values(ambit::std(x, {0}, Correction(correction)), {}, {std::sqrt(var)}, ulp);
      }
      check_values(ambit::var(x, {0}, Correction(4)), {}, {kInf});
      check_values(ambit::var(x, {0}, Correction(7)), {}, {kInf});
      check_values(ambit::var(x * 0, {0}, Correction(4)), {}, {kNan});
    }
  });
}

TEST_CASE("var along a dim depends only on its elements, in all layouts") {
  for_each_device([](Device d) {
    manual_seed(5);
    // Sizes with more rows and columns than are added at once, and with results divided among
    // threads.
    for (const Dims& sizes : {Dims{67, 300}, Dims{5000, 3}, Dims{3, 9001}, Dims{1, 70000}}) {
      INFO(str(IntArrayRef(sizes)));
      const Tensor wide = randn(sizes, TensorOptions(kFloat64)) + 100;
      for (const DType dtype : {kFloat32, kBFloat16}) {
        const Tensor x = wide.to(dtype).to(d), exact = x.cpu().to(kFloat64);
        for (const int64_t dim : {0, 1}) {
          if (sizes[static_cast<size_t>(dim)] == 1) continue;
          const Tensor mean = exact.mean({dim}, true);
          const Tensor expected =
              square(exact - mean).sum({dim}) / static_cast<double>(exact.size(dim) - 1);
          const Tensor got = x.var(dim).cpu().to(kFloat64);
          const Tensor strided = x.t().contiguous().t().var(dim).cpu().to(kFloat64);
          // Deviations are sums of doubles; the result is rounded once to 2^-24 or 2^-9.
          const double ulp = dtype == kFloat32 ? 0x1p-23 : 0x1p-8;
          CHECK(got.allclose(expected, ulp, 0));
          CHECK(strided.allclose(expected, ulp, 0));
        }
      }
    }
  });
}

TEST_CASE("sum returns int64 for integers and bool, and any requested dtype") {
  for_each_device([](Device d) {
    const Tensor bytes = tensor({200, 100, 1}, TensorOptions(kUInt8).device(d));
    CHECK(bytes.sum().dtype() == kInt64);
    CHECK(bytes.sum().item<int64_t>() == 301);
    CHECK(tensor({true, true, false}, d).sum().item<int64_t>() == 2);
    CHECK(bytes.sum(kUInt8).item<int64_t>() == 45);  // 301 mod 256
    CHECK(bytes.sum(kFloat32).dtype() == kFloat32);
    CHECK(bytes.sum(kBool).item<bool>());
    CHECK(bytes.prod().item<int64_t>() == 20000);
    CHECK(bytes.cumsum(0).dtype() == kInt64);
    check_values(bytes.cumsum(0), {3}, {200, 300, 301});
    const Tensor x = wave(d, {5}).to(kFloat32);
    CHECK(x.sum({0}, false, kFloat64).dtype() == kFloat64);
  });
}

TEST_CASE("reductions of no elements return the identity, NaN or an error") {
  for_each_device([](Device d) {
    const Tensor none = zeros({0, 3}, d);
    check_values(none.sum(), {}, {0});
    check_values(none.sum(0), {3}, {0, 0, 0});
    CHECK(none.sum(1).sizes() == IntArrayRef{0});
    check_values(none.prod(0), {3}, {1, 1, 1});
    check_values(none.mean(), {}, {kNan});
    check_values(none.var(), {}, {kNan});
    check_values(none.norm(), {}, {0});
    CHECK_THROWS_AS(none.norm(kInf), ShapeError);  // PyTorch 2.15: it has no identity
    check_values(none.logsumexp({0}), {3}, {-kInf, -kInf, -kInf});
    CHECK_FALSE(none.any().item<bool>());
    CHECK(none.all().item<bool>());
    CHECK(none.cumsum(0).sizes() == none.sizes());
    CHECK(std::get<0>(none.max(1)).sizes() == IntArrayRef{0});
    CHECK_THROWS_AS(none.max(), ShapeError);
    CHECK_THROWS_AS(none.min(0), ShapeError);
    CHECK_THROWS_AS(none.argmax(), ShapeError);
  });
}

TEST_CASE("prod, var and std agree with PyTorch") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3, 4});
    // x.prod(2); x.var((0, 2)); x.var(1, unbiased=False); x.std()
    check_values(x.prod(2), {2, 3},
                 {0, -0.100620165161, -0.00689078516311, 0.0879161486298, 0.0136263408827,
                  -0.0970283653652});
    check_values(x.var({0, 2}), {3}, {0.448471590801, 0.399362250018, 0.395664017065});
    check_values(x.var({1}, false), {2, 4},
                 {0.16048477158, 0.168754442331, 0.654770518624, 0.811714375655, 0.806809814843,
                  0.366525016021, 0.075674474081, 0.417089201654});
    check_values(x.std(), {}, {0.69515080328});
    check_values(ones({1}, d).var(), {}, {kNan});
    check_values(ones({1}, d).var(false), {}, {0});
    // The mean is 1e8 times the standard deviation: sum(x^2) - n mean^2 would have no correct
    // digit. With two passes in float64 the deviations are exact; the mean is rounded by 1e8 *
    // 2^-53 = 1e-8, which changes the variance by its square.
    check_values((tensor({1., 2., 3.}, d).to(kFloat64) + 1e8).var(), {}, {1}, 1e-12);
  });
}

TEST_CASE("max and min return values and the first of equal positions, and propagate NaN") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3, 4});
    // x.max(2); x.min(0, keepdim=True)
    const auto [value, index] = x.max(2);
    check_values(value, {2, 3},
                 {0.985449729988, 0.334988150156, 0.988168233877, 0.854598908088, 0.669569762197,
                  0.990607355695});
    check_values(index, {2, 3}, {2, 0, 3, 0, 3, 0});
    CHECK(index.dtype() == kInt64);
    check_values(std::get<1>(x.min(0, true)), {1, 3, 4}, {0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1});
    check_values(x.max(), {}, {0.990607355695});
    check_values(x.min(), {}, {-0.982452612624});

    const Tensor equal = tensor({{3, 7, 7}, {5, 5, 1}}, d);
    check_values(std::get<1>(equal.max(1)), {2}, {1, 0});
    check_values(equal.argmin(0), {3}, {0, 1, 1});
    const Tensor with_nan = tensor({1., kNan, 3., kNan}, d);
    check_values(with_nan.max(), {}, {kNan});
    check_values(with_nan.min(), {}, {kNan});
    CHECK(with_nan.argmax().item<int64_t>() == 1);
    CHECK(std::get<1>(tensor(3.0, d).max(0)).dim() == 0);
    CHECK(max(equal, tensor({{4}}, d)).sum().item<int64_t>() == 4 + 7 + 7 + 5 + 5 + 4);
  });
}

TEST_CASE("argmax without dim counts in row-major order, for any strides") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3, 4});
    CHECK(x.argmax().item<int64_t>() == 20);  // x.argmax()
    CHECK(x.transpose(0, 2).argmax().item<int64_t>() == 0 * 6 + 2 * 2 + 1);
    check_values(x.argmin(1), {2, 4}, {2, 1, 1, 1, 1, 1, 0, 0});  // x.argmin(1)
    CHECK(x.argmax({}, true).sizes() == IntArrayRef{1, 1, 1});
    CHECK(x.argmax(-1, true).sizes() == IntArrayRef{2, 3, 1});
  });
}

TEST_CASE("any and all treat nonzero elements as true, for every dtype") {
  for_each_device([](Device d) {
    const Tensor x = tensor({{0., 0.5}, {0., 0.}}, d);
    CHECK(x.any().item<bool>());
    CHECK_FALSE(x.all().item<bool>());
    check_values(x.any(1), {2}, {1, 0});
    check_values(x.all(0, true), {1, 2}, {0, 0});
    CHECK(x.any(1).dtype() == kBool);
    CHECK(tensor({256, 512}, d).to(kInt32).all().item<bool>());
  });
}

TEST_CASE("norm has every order") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3, 4});
    // x.norm(); x.norm(1, (0, 2)); x.norm(3, 1); x.norm(0.5, (1, 2)); x.norm(float('inf'), 2);
    // x.norm(float('-inf'), (0, 1))
    check_values(x.norm(), {}, {3.37096288972});
    check_values(x.norm(1, {0, 2}), {3}, {4.91274894354, 4.84030741369, 4.81477933172});
    check_values(x.norm(3, {1}), {2, 4},
                 {0.661262967034, 0.677174811021, 1.23913677154, 1.36733970307, 1.36352350596,
                  0.955966245344, 0.42563355461, 1.01209435128});
    check_values(x.norm(0.5, {1, 2}), {2}, {73.0861934796, 79.0967846472});
    check_values(x.norm(kInf, {2}), {2, 3},
                 {0.985449729988, 0.982452612624, 0.988168233877, 0.879695759972, 0.979177729151,
                  0.990607355695});
    check_values(x.norm(-kInf, {0, 1}), {4}, {0, 0.0168139004843, 0.0336230472211, 0.382071417184});
    check_values(x.norm(0, {1, 2}), {2}, {11, 12});
  });
}

TEST_CASE("logsumexp does not overflow, and is correct for infinities") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3, 4});
    // torch.logsumexp(x, (0, 2)); torch.logsumexp(x, 1, keepdim=True)
    check_values(x.logsumexp({0, 2}), {3}, {2.54855946177, 1.91646700335, 2.58197750304});
    check_values(x.logsumexp({1}, true), {2, 1, 4},
                 {1.07494830793, 1.28801674646, 1.61467997853, 1.69220763062, 1.68989667957,
                  1.44563609585, 1.12539702436, 1.1153881675});
    const Tensor extremes = tensor({{1e4, 1e4}, {-kInf, 2.}, {-kInf, -kInf}, {kInf, 1.}}, d);
    check_values(extremes.to(kFloat64).logsumexp({1}), {4}, {1e4 + std::log(2), 2, -kInf, kInf});
  });
}

TEST_CASE("logsumexp of integers and bool equals that of floats") {
  for_each_device([](Device d) {
    const Tensor x = tensor({{1, 2}, {3, 4}}, d);
    // torch.logsumexp(torch.tensor([[1, 2], [3, 4]]), 0); float32 has 7 digits
    CHECK(logsumexp(x, {0}).dtype() == kFloat32);
    check_values(logsumexp(x, {0}), {2}, {3.12692809, 4.12692809}, 1e-6);
    check_values(logsumexp(x > 1, {0}), {2}, {1.31326169, 1.69314718}, 1e-6);
  });
}

TEST_CASE("cumsum adds along its dim") {
  for_each_device([](Device d) {
    const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}, d);
    check_values(x.cumsum(1), {2, 3}, {1, 3, 6, 4, 9, 15});
    check_values(x.cumsum(-2), {2, 3}, {1, 2, 3, 5, 7, 9});
    check_values(x.t().cumsum(0), {3, 2}, {1, 4, 3, 9, 6, 15});
    check_values(tensor(3., d).cumsum(0), {}, {3});
  });
}

TEST_CASE("reductions refuse invalid dims and dtypes, and say why") {
  const Tensor x = ones({2, 3});
  CHECK_THROWS_AS(x.sum(2), IndexError);
  CHECK_THROWS_WITH_AS(x.sum({0, -2}), "sum: expected each dim once, got [0, -2]", ShapeError);
  CHECK_THROWS_WITH_AS(x.to(kInt64).mean(), "mean: expected a floating-point input, got int64",
                       DTypeError);
  CHECK_THROWS_WITH_AS(ones({2, 0}).max(1),
                       "max: expected elements to reduce, got a tensor of sizes [2, 0]",
                       ShapeError);
  CHECK_THROWS_AS(x.cumsum(2), IndexError);
  CHECK_THROWS_AS(x.to(kBool).norm(), DTypeError);
}

TEST_CASE("reductions on meta return shapes") {
  const Tensor x = empty({2, 3, 4}, TensorOptions(kFloat32).device(kMeta));
  CHECK(x.sum(1).sizes() == IntArrayRef{2, 4});
  CHECK(x.var({0}, true, true).sizes() == IntArrayRef{1, 3, 4});
  CHECK(std::get<1>(x.max(2)).dtype() == kInt64);
  CHECK(x.logsumexp({0, 1}).sizes() == IntArrayRef{4});
  CHECK(x.norm(3).dim() == 0);
}
