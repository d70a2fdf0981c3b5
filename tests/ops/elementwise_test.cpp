// Elementwise ops compared with PyTorch's numbers, in every layout, in place, and for special
// values.
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/nn/functional/activation.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>

#include <limits>
#include <set>
#include <string>

#include "tests/devices.h"
#include "tests/expected.h"
#include "unary_maps.h"

using namespace ambit;

namespace {

TensorOptions f64(Device d) { return TensorOptions(kFloat64).device(d); }

const double kInf = INFINITY;
const std::vector<double> kInput{-2.5, -0.5, 0, 0.25, 1, 3.5};

}  // namespace

TEST_CASE("unary functions have PyTorch's values, in float64 and float32, strided and in place") {
  for_each_device([](Device d) {
    const Tensor x = tensor(kInput, f64(d));
    for (const UnaryMap& c : unary_maps()) {
      INFO(c.name);
      check_values(c.map(x), {6}, c.values);
      // float32: a rounded input and result, eps = 6e-8 each, plus a few ulp of libm.
      check_values(c.map(x.to(kFloat32)), {6}, c.values, 2e-6);
      const Tensor every_second = x.view({6, 1}).expand({6, 2}).contiguous().select(1, 1);
      check_values(c.map(every_second), {6}, c.values);
      const Tensor y = x.clone();
      const auto version = y.version();
      CHECK(c.in_place(y).is_same(y));
      CHECK(y.version() > version);
      check_values(y, {6}, c.values);
    }
    // torch.nn.functional.gelu of the same
    check_values(
        gelu(x), {6},
        {-0.01552416331444, -0.154268769363, 0, 0.1496765814207, 0.8413447460685, 3.499185798223});
  });
}

TEST_CASE("every unary function of floats has a row with PyTorch's values") {
  std::set<std::string> known;
  for (const UnaryMap& map : unary_maps()) known.insert(map.name);
#define MAP(f, ...)                                                                           \
  if (row_of(UnaryOp::f).dtypes.contains(kFloat64)) {                                         \
    INFO("without a row in unary_maps.h: " #f);                                               \
    CHECK((known.contains(#f) || row_of(UnaryOp::f).result == FunctionRow::Result::boolean)); \
  }
  AMBIT_UNARY_MAPS(MAP)
#undef MAP
}

TEST_CASE("binary ops have PyTorch's values, including division by zero") {
  for_each_device([](Device d) {
    // a, b = (torch.tensor(v, dtype=torch.float64) for v in ([...], [...])); torch.<name>(a, b)
    const Tensor a = tensor({-7., 7., -7., 7., 0.}, f64(d)),
                 b = tensor({3., -3., -2.5, 0., 0.}, f64(d));
    const Dims n{5};
    check_values(a + b, n, {-4, 4, -9.5, 7, 0});
    check_values(a - b, n, {-10, 10, -4.5, 7, 0});
    check_values(a * b, n, {-21, -21, 17.5, 0, 0});
    check_values(a / b, n, {-2.333333333333, -2.333333333333, 2.8, kInf, NAN});
    check_values(floor_divide(a, b), n, {-3, -3, 2, kInf, NAN});
    check_values(div(a, b, "floor"), n, {-3, -3, 2, kInf, NAN});
    check_values(div(a, b, "trunc"), n, {-2, -2, 2, kInf, NAN});
    check_values(a % b, n, {2, -2, -2, NAN, NAN});
    check_values(fmod(a, b), n, {-1, 1, -2, NAN, NAN});
    check_values(pow(a, b), n, {-343, 0.002915451895044, NAN, 1, 1});
    check_values(maximum(a, b), n, {3, 7, -2.5, 7, 0});
    check_values(minimum(a, b), n, {-7, -3, -7, 0, 0});
    check_values(atan2(a, b), n,
                 {-1.16590454051, 1.97568811308, -1.913820267216, 1.570796326795, 0});
    check_values(2 - a, n, {9, -5, 9, -5, 2});
    check_values(1 / b, n, {0.3333333333333, -0.3333333333333, -0.4, kInf, kInf});
  });
}

TEST_CASE("integers divide, overflow and have remainders as in PyTorch") {
  for_each_device([](Device d) {
    for (const DType t : {kInt8, kInt16, kInt32, kInt64}) {
      const TensorOptions o = TensorOptions(t).device(d);
      const Tensor a = tensor({-7, 7, -7}, o), b = tensor({3, -3, -3}, o);
      INFO(name(t));
      check_values(floor_divide(a, b), {3}, {-3, -3, 2});
      check_values(div(a, b, "trunc"), {3}, {-2, -2, 2});
      check_values(a % b, {3}, {2, -2, -1});
      check_values(fmod(a, b), {3}, {-1, 1, -1});
      // torch.pow(torch.tensor([-7, 7, -7]), torch.tensor([3, -3, -3]))
      check_values(pow(tensor({2, 1, -1}, o), tensor({-1, -2, -3}, o)), {3}, {0, 1, -1});
      CHECK_THROWS_AS((floor_divide(a, 0), synchronize(d)), Error);
      CHECK_THROWS_AS((a % tensor({1, 0, 1}, o), synchronize(d)), Error);
      CHECK_THROWS_AS((fmod(a, 0), synchronize(d)), Error);
      CHECK_THROWS_AS((div(a, tensor({1, 0, 1}, o), "trunc"), synchronize(d)), Error);
    }
    check_values(tensor({127}, TensorOptions(kInt8).device(d)) + 1, {1}, {-128});
    check_values(-tensor({1}, TensorOptions(kUInt8).device(d)), {1}, {255});
    CHECK_THROWS_AS(pow(tensor({1, 2}, d), -1), Error);
    check_values(pow(tensor({1, 2}, d), -1.0), {2}, {1, 0.5});
  });
}

TEST_CASE("an in-place integer division by zero leaves self unchanged") {
  for_each_device([](Device d) {
    const Tensor x = tensor({8, 8, 8}, d);
    // On other devices the error is thrown when the host next waits, and the elements with errors
    // are not written.
    if (!d.is_cpu() && d.type() != "reference") {
      CHECK_THROWS_AS((x.floor_divide_(tensor({2, 0, 2}, d)), synchronize(d)), Error);
      CHECK_THROWS_AS((x.floor_divide_(0), synchronize(d)), Error);
      CHECK(x[1].item<int64_t>() == 8);
      return;
    }
    const auto version = x.version();
    CHECK_THROWS_AS(x.floor_divide_(tensor({2, 0, 2}, d)), Error);
    CHECK_THROWS_AS(x.remainder_(tensor({3, 0, 3}, d)), Error);
    check_values(x, {3}, {8, 8, 8});
    CHECK(x.version() == version);
  });
}

TEST_CASE("special exponents are exact and agree with the general power") {
  for_each_device([](Device d) {
    const Tensor x = tensor({0.25, 4., 9.}, f64(d));
    check_values(pow(x, 2), {3}, {0.0625, 16, 81});
    check_values(pow(x, 0.5), {3}, {0.5, 2, 3});
    check_values(pow(x, -0.5), {3}, {2, 0.5, 1. / 3});
    check_values(pow(x, -1), {3}, {4, 0.25, 1. / 9});
    check_values(pow(x, 0), {3}, {1, 1, 1});
    check_values(pow(x, 1.5), {3}, {0.125, 8, 27});
    check_values(pow(2, x), {3}, {std::pow(2, 0.25), 16, 512});
    const Tensor y = x.clone();
    y.pow_(2).pow_(tensor({0.5, 0.5, 1.}, f64(d)));
    check_values(y, {3}, {0.25, 4, 81});
  });
}

TEST_CASE("operands broadcast, in every layout") {
  for_each_device([](Device d) {
    const Tensor column = tensor({{1.}, {2.}}, d), row = tensor({10., 20., 30.}, d);
    check_values(column + row, {2, 3}, {11, 21, 31, 12, 22, 32});
    check_values(row - column, {2, 3}, {9, 19, 29, 8, 18, 28});
    check_values(column.t() * column, {2, 2}, {1, 2, 2, 4});
    check_values(ones({2, 0}, d) + column, {2, 0}, {});
    check_values(tensor(5., d) + tensor(6., d), {}, {11});
    const Tensor x = arange(6, f64(d)).view({2, 3});
    check_values(x + x.t().contiguous().t(), {2, 3}, {0, 2, 4, 6, 8, 10});
    x.add_(row);
    check_values(x, {2, 3}, {10, 21, 32, 13, 24, 35});
    x.t().mul_(tensor({1., 2.}, d));
    check_values(x, {2, 3}, {10, 21, 32, 26, 48, 70});
    CHECK_THROWS_WITH_AS(row.add_(x), "add_: expected a shape that broadcasts to [3], got [2, 3]",
                         ShapeError);
    CHECK_THROWS_AS(x + ones({4}, d), ShapeError);
  });
}

TEST_CASE("an in-place op refuses an operand that partly shares its memory") {
  const Tensor x = arange(6, kFloat32);
  CHECK_THROWS_AS(x.slice(0, 1).add_(x.slice(0, 0, 5)), Error);
  CHECK_THROWS_AS(x.expand({2, 6}).add_(1), Error);
  x.add_(x);  // the same elements in the same order
  check_values(x, {6}, {0, 2, 4, 6, 8, 10});
}

TEST_CASE("comparisons and logic give bool, NaN compares false") {
  for_each_device([](Device d) {
    const Tensor a = tensor({1., 2., NAN}, d), b = tensor({2., 2., NAN}, d);
    check_values(a == b, {3}, {0, 1, 0});
    check_values(a != b, {3}, {1, 0, 1});
    check_values(a < b, {3}, {1, 0, 0});
    check_values(a <= b, {3}, {1, 1, 0});
    check_values(a > b, {3}, {0, 0, 0});
    check_values(a >= 2, {3}, {0, 1, 0});
    CHECK((a < b).dtype() == kBool);
    const Tensor p = tensor({0., 0.5, NAN, 0.}, d), q = tensor({0, 1, 0, 2}, d);
    check_values(logical_and(p, q), {4}, {0, 1, 0, 0});
    check_values(logical_or(p, q), {4}, {0, 1, 1, 1});
    check_values(logical_xor(p, q), {4}, {0, 0, 1, 1});
    check_values(logical_not(p), {4}, {1, 0, 0, 1});
  });
}

TEST_CASE("bitwise ops work on bool and integers") {
  for_each_device([](Device d) {
    const Tensor a = tensor({12, 5}, d), b = tensor({10, 6}, d), t = tensor({true, false}, d);
    check_values(a & b, {2}, {8, 4});
    check_values(a | b, {2}, {14, 7});
    check_values(a ^ b, {2}, {6, 3});
    check_values(~a, {2}, {-13, -6});
    check_values(~t, {2}, {0, 1});
    check_values(t & true, {2}, {1, 0});
    check_values(a & t, {2}, {0, 0});
    a.bitwise_or_(1);
    check_values(a, {2}, {13, 5});
  });
}

// Gradients of the sum by x (and y), PyTorch 2.15:
//   x = torch.tensor([nan, 1, 2, 3, 4, 0]), torch.clamp(x, 1, 3) and so on
//   x = torch.tensor([nan, 1, nan, 2, 3, 2]), y = torch.tensor([1, nan, nan, 2, 1, 4])
TEST_CASE("gradients at NaN, at bounds and of equal elements are PyTorch's") {
  for_each_device([](Device device) {
    const auto gradients = [](const Tensor& out, const std::vector<Tensor>& of) {
      return autograd::grad({out.sum()}, of);
    };
    const auto input = [&](const TensorData& data) {
      return tensor(data, TensorOptions(device).dtype(kFloat64)).requires_grad_();
    };
    const Tensor x = input({NAN, 1, 2, 3, 4, 0});
    check_values(gradients(clamp(x, 1, 3), {x})[0], {6}, {0, 0, 1, 0, 0, 0});
    check_values(gradients(clamp(x, 1), {x})[0], {6}, {0, 0, 1, 1, 1, 0});
    check_values(gradients(clamp(x, std::nullopt, 3), {x})[0], {6}, {0, 1, 1, 0, 0, 1});
    check_values(gradients(clamp(x, 3, 1), {x})[0], {6}, {0, 0, 0, 0, 0, 0});
    const Tensor in_place = x * 1;
    in_place.clamp_(1, 3);
    check_values(gradients(in_place, {x})[0], {6}, {0, 0, 1, 0, 0, 0});

    const Tensor a = input({NAN, 1, NAN, 2, 3, 2}), b = input({1, NAN, NAN, 2, 1, 4});
    auto g = gradients(maximum(a, b), {a, b});
    check_values(g[0], {6}, {1, 1, 1, 0.5, 1, 0});
    check_values(g[1], {6}, {1, 1, 1, 0.5, 0, 1});
    g = gradients(minimum(a, b), {a, b});
    check_values(g[0], {6}, {1, 1, 1, 0.5, 0, 1});
    check_values(g[1], {6}, {1, 1, 1, 0.5, 1, 0});
    g = gradients(where(gt(a, b), a, b), {a, b});
    check_values(g[0], {6}, {0, 0, 0, 0, 1, 0});
    check_values(g[1], {6}, {1, 1, 1, 1, 0, 1});

    const Tensor m = input({1, 3, 3, 2}), n = input({1, NAN, 3, NAN});
    check_values(gradients(max(m), {m})[0], {4}, {0, 0.5, 0.5, 0});
    check_values(gradients(min(n), {n})[0], {4}, {0, 0.5, 0, 0.5});
    check_values(gradients(std::get<0>(max(m, 0)), {m})[0], {4}, {0, 1, 0, 0});
    check_values(gradients(std::get<0>(max(n, 0)), {n})[0], {4}, {0, 1, 0, 0});
  });
}

TEST_CASE("maximum, minimum and clamp propagate NaN, and isnan() and similar functions find it") {
  for_each_device([](Device d) {
    const Tensor x = tensor({NAN, -kInf, kInf, 1.}, d);
    check_values(maximum(x, tensor(2., d)), {4}, {NAN, 2, kInf, 2});
    check_values(minimum(x, tensor(2., d)), {4}, {NAN, -kInf, 2, 1});
    check_values(clamp(x, -1, 0.5), {4}, {NAN, -1, 0.5, 0.5});
    check_values(clamp(x, std::nullopt, 0), {4}, {NAN, -kInf, 0, 0});
    check_values(x.clamp_min(0), {4}, {NAN, 0, kInf, 1});
    check_values(clamp(x, 3, 2), {4}, {NAN, 2, 2, 2});  // min > max: max, as in PyTorch
    check_values(isnan(x), {4}, {1, 0, 0, 0});
    check_values(isinf(x), {4}, {0, 1, 1, 0});
    check_values(isfinite(x), {4}, {0, 0, 0, 1});
    check_values(isnan(tensor({1, 2}, d)), {2}, {0, 0});
    check_values(isfinite(tensor({1, 2}, d)), {2}, {1, 1});
    const Tensor y = tensor({-3., 0.5, 3.}, d);
    y.clamp_(-1, 1);
    check_values(y, {3}, {-1, 0.5, 1});
    const Tensor i = tensor({-5, 5}, d);
    i.clamp_(0);
    check_values(i, {2}, {0, 5});
  });
}

// Exact; PyTorch 2.15 converts the number modulo 256: 255 == -1 is true there.
// PyTorch 2.15: torch.clamp(torch.tensor([0, 100, 200], dtype=torch.uint8), -1) and so on.
TEST_CASE("bounds outside the range of small integers do not wrap") {
  for_each_device([](Device d) {
    const Tensor u = tensor({0, 100, 200}, d).to(kUInt8), i = tensor({-100, 0, 100}, d).to(kInt8);
    const auto check = [](const Tensor& got, DType dtype, const std::vector<double>& values) {
      CHECK(got.dtype() == dtype);
      check_values(got, {3}, values);
    };
    check(clamp(u, -1), kUInt8, {0, 100, 200});
    check(clamp(u, std::nullopt, 300), kUInt8, {0, 100, 200});
    check(clamp(u, -1, 300), kUInt8, {0, 100, 200});
    check(clamp(u, -1, 150), kUInt8, {0, 100, 150});
    check(clamp(i, -1, 300), kInt8, {-1, 0, 100});
    check(clamp(i, -1000, -1), kInt8, {-100, -1, -1});
    check(clamp(u, 1.5), kFloat32, {1.5, 100, 200});
    check(u.clone().clamp_(-1, 300), kUInt8, {0, 100, 200});
    check(clamp_min(u, -1), kUInt8, {0, 100, 200});
    check(clamp_max(u, 300), kUInt8, {0, 100, 200});
    check(nn::functional::hardtanh(u, -1, 1), kUInt8, {0, 1, 1});
    check(nn::functional::hardtanh(i, -200, 20), kInt8, {-100, 0, 20});
    check(clamp(i.to(kInt32), int64_t{-1} << 40, int64_t{1} << 31), kInt32, {-100, 0, 100});
    CHECK_THROWS_WITH_AS(clamp(u, std::nullopt, -1),
                         "clamp: expected a max in the range of uint8, got -1", DTypeError);
    CHECK_THROWS_AS(clamp(u, 300), DTypeError);
    CHECK_THROWS_AS(clamp(i, 300), DTypeError);
    CHECK_THROWS_AS(u.clamp_(std::nullopt, -1), DTypeError);
  });
}

TEST_CASE("uint8 is compared with numbers out of its range") {
  for_each_device([](Device d) {
    const Tensor x = tensor({255, 1}, TensorOptions(kUInt8).device(d));
    check_values(x == -1, {2}, {0, 0});
    check_values(x != -1, {2}, {1, 1});
    check_values(x > -1, {2}, {1, 1});
    check_values(x < -1, {2}, {0, 0});
    check_values(x == 257, {2}, {0, 0});
    check_values(x < 257, {2}, {1, 1});
    check_values(x == 255, {2}, {1, 0});
  });
}

TEST_CASE("where and masked_fill select, broadcast and promote") {
  for_each_device([](Device d) {
    const Tensor c = tensor({{true}, {false}}, d), a = tensor({1, 2}, d), b = tensor({0.5, 1.5}, d);
    check_values(where(c, a, b), {2, 2}, {1, 2, 0.5, 1.5});
    check_values(where(c, a, 9), {2, 2}, {1, 2, 9, 9});
    check_values(where(c, 0.25, a), {2, 2}, {0.25, 0.25, 1, 2});
    CHECK(where(c, a, 9).dtype() == kInt64);
    // PyTorch 2.15: torch.tensor([1, 2]).where(c, .5)
    check_values(a.where(c, 0.5), {2, 2}, {1, 2, 0.5, 0.5});
    CHECK(a.where(c, 0.5).dtype() == kFloat32);
    CHECK(a.where(c, 9).dtype() == kInt64);
    check_values(a.masked_fill(c, 7), {2, 2}, {7, 7, 1, 2});
    const Tensor x = zeros({2, 2}, d);
    x.masked_fill_(c, 3);
    check_values(x, {2, 2}, {3, 3, 0, 0});
    CHECK_THROWS_AS(a.masked_fill_(c, 1), ShapeError);
    CHECK_THROWS_AS(x.masked_fill_(a, 1), DTypeError);
    CHECK_THROWS_AS(tensor({1}, kUInt8).masked_fill(tensor({true}), 300), DTypeError);
    check_values(a.masked_fill(tensor({true, false}, d), 1.9), {2}, {1, 2});
  });
}

TEST_CASE("equal, isclose and allclose have PyTorch's results") {
  for_each_device([](Device d) {
    const Tensor a = tensor({1., kInf, NAN}, f64(d)), b = tensor({1. + 1e-9, kInf, NAN}, f64(d));
    check_values(isclose(a, b), {3}, {1, 1, 0});
    check_values(isclose(a, b, 0, 0), {3}, {0, 1, 0});
    check_values(isclose(a, b, 1e-5, 1e-8, true), {3}, {1, 1, 1});
    CHECK_FALSE(allclose(a, b));
    CHECK(allclose(a, b, 1e-5, 1e-8, true));
    CHECK(allclose(tensor({100, 7}, d), tensor({101, 7}, d), 0.01));
    CHECK_FALSE(allclose(tensor({100, 7}, d), tensor({102, 7}, d), 0.01));
    CHECK(allclose(tensor({0}, TensorOptions(kUInt8).device(d)),
                   tensor({255}, TensorOptions(kUInt8).device(d)), 1));
    CHECK(equal(tensor({1, 2}, d), tensor({1., 2.}, d)));
    CHECK_FALSE(equal(tensor({1, 2}, d), tensor({{1, 2}}, d)));
    CHECK_FALSE(equal(tensor({NAN}, d), tensor({NAN}, d)));
    CHECK(equal(zeros({0}, d), zeros({0}, d)));
  });
}

TEST_CASE("elementwise ops infer shapes on meta, including 0-dim cpu operands") {
  const Tensor x = zeros({2, 1}, kMeta), y = zeros({3}, kMeta);
  const Tensor z = (x + y) * tensor(2.0) - 1;
  CHECK(z.sizes() == IntArrayRef{2, 3});
  CHECK(z.is_meta());
  CHECK(where(x < 0, x, y).sizes() == IntArrayRef{2, 3});
  CHECK(exp(x).clamp(0, 1).sizes() == IntArrayRef{2, 1});
  CHECK_THROWS_AS(x + zeros({3}), DeviceMismatchError);
}
