// Scans: values, gradients, the composite, bad calls.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>

#include <limits>

#include "composite.h"
#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;
using namespace composite_test;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TensorOptions f64(Device d) { return TensorOptions(kFloat64).device(d); }

}  // namespace

TEST_CASE("scans have PyTorch's values") {
  for_each_device([](Device d) {
    // c = torch.tensor([[2., -1., 0., 4.], [nan, 3., 3., -inf]])
    const Tensor c = tensor({{2., -1., 0., 4.}, {kNan, 3., 3., -kInf}}, f64(d));
    check_values(c.cumprod(1), {2, 4}, {2, -2, 0, 0, kNan, kNan, kNan, kNan});
    check_values(
        c.logcumsumexp(-1), {2, 4},
        {2, 2.048587351573742, 2.1698460195562856, 4.1487551809444, kNan, kNan, kNan, kNan});
    check_values(tensor({-kInf, -kInf, 0., kInf, 1.}, f64(d)).logcumsumexp(0), {5},
                 {-kInf, -kInf, 0, kInf, kInf});
    const auto [most, at] = c.cummax(1);
    check_values(most, {2, 4}, {2, 2, 2, 4, kNan, kNan, kNan, kNan});
    check_values(at, {2, 4}, {0, 0, 0, 3, 0, 0, 0, 0});
    const auto [least, where_least] = cummin(c, 1);
    check_values(least, {2, 4}, {2, -1, -1, -1, kNan, kNan, kNan, kNan});
    check_values(where_least, {2, 4}, {0, 1, 1, 1, 0, 0, 0, 0});
    // The last of equal elements: torch.tensor([[1, 5], [1, 3], [4, 5]]).cummax(0)
    const auto [columns, rows] =
        cummax(tensor({{1, 5}, {1, 3}, {4, 5}}, TensorOptions(kInt64).device(d)), 0);
    check_values(columns, {3, 2}, {1, 5, 1, 5, 4, 5});
    check_values(rows, {3, 2}, {0, 0, 1, 0, 2, 2});
    check_values(std::get<1>(cummax(tensor(2., f64(d)), 0)), {}, {0});
    CHECK(std::get<0>(cummax(empty({0, 2}, f64(d)), 0)).sizes() == IntArrayRef{0, 2});
  });
}

TEST_CASE("scans accept a dtype, and in place keep self's") {
  for_each_device([](Device d) {
    const Tensor bytes = tensor({100, 100}, TensorOptions(kInt8).device(d));
    CHECK(bytes.cumsum(0).dtype() == kInt64);
    check_values(bytes.cumprod(0, kInt8), {2}, {100, 16});
    check_values(bytes.cumsum_(0), {2}, {100, -56});
    check_values(tensor({1.5, 2.5}, f64(d)).cumsum(0, kInt32), {2}, {1, 3});
    check_values(tensor({true, true}, d).cumprod(0), {2}, {1, 1});
    const Tensor x = tensor({{1., 2.}, {3., 4.}}, f64(d)).requires_grad_(), y = x * 1;
    y[1].cumsum_(0).cumprod_(0);
    check_values(y.detach(), {2, 2}, {1, 2, 3, 21});
    y.sum().backward();
    check_values(x.grad(), {2, 2}, {1, 1, 1 + 2 * 3 + 4, 3});
    CHECK_THROWS_AS(y.cumsum_(0, kFloat32), DTypeError);
    CHECK_THROWS_AS(x.cumsum_(0), AutogradError);
  });
}

TEST_CASE("scans have PyTorch's gradients, at zeros and infinities too, and second ones") {
  for_each_device([](Device d) {
    const Tensor x = tensor({{2., 0., 3.}, {0., 0., 5.}, {1., 2., 4.}}, f64(d)).requires_grad_();
    const Tensor g = tensor({{1., 2., -1.}, {0.5, 3., 2.}, {4., -2., 0.25}}, f64(d));
    x.cumprod(1).backward(g);
    check_values(x.grad(), {3, 3}, {1, -2, 0, 0.5, 0, 0, 2, -1, 0.5});
    x.mutable_grad().reset();
    x.logcumsumexp(0).backward(g);
    check_values(x.grad(), {3, 3},
                 {4.101362362088, 3.286986042162, -0.739086512663, 0.419723753693, 1.286986042162,
                  1.927904394899, 0.978913884219, -1.573972084323, 0.061182117764});
    x.mutable_grad().reset();
    std::get<0>(x.cummax(1)).backward(g);
    check_values(x.grad(), {3, 3}, {3, 0, -1, 0.5, 3, 2, 4, -2, 0.25});
    const Tensor low = tensor({-kInf, -kInf, 0.}, f64(d)).requires_grad_();
    low.logcumsumexp(0).sum().backward();
    check_values(low.grad(), {3}, {0, 0, 1});

    const auto both = [&](TensorFnRef f) {
      gradcheck(f, {x});
      gradgradcheck(f, {x});
    };
    using In = const std::vector<Tensor>&;
    both([](In v) { return v[0].cumsum(0) * v[0]; });
    both([](In v) { return v[0].cumprod(1); });
    both([](In v) { return v[0].logcumsumexp(1); });
    const Tensor apart = tensor({{1., 3., 2.}, {4., -1., 5.}}, f64(d));
    const auto picks = [](In v) {
      return std::get<0>((v[0] * v[0]).cummax(1)) * std::get<0>(v[0].sin().cummin(0));
    };
    gradcheck(picks, {apart});
    gradgradcheck(picks, {apart});
    gradcheck([](In v) { return v[0].cumprod(0) + v[0].logcumsumexp(-1); }, {tensor(1.5, f64(d))});
  });
}

TEST_CASE("scans of lines of any length start at either end, with or without the current element") {
  for_each_device([](Device d) {
    // The cases are contiguous lines, interleaved lines, many short lines, and long lines, which
    // are split into chunks.
    for (const Dims& sizes : {Dims{3, 1}, Dims{5, 40}, Dims{9001, 2}, Dims{2, 9001}, Dims{0, 3}}) {
      for (const DType dtype : {kInt8, kInt64, kFloat32, kBFloat16}) {
        const Tensor x = randint(-3, 4, sizes, kInt64).to(dtype).to(d);
        for (const int64_t dim : {0, 1}) {
          CAPTURE(sizes[0]);
          CAPTURE(std::string(name(dtype)));
          CAPTURE(dim);
          const auto run = [&](bool reverse, bool exclusive) {
            Tensor y = full(sizes, 77, x.options());
            kernels::scan(y, x.t().contiguous().t(), {dim, reverse, exclusive}, ScanOp::sum);
            return y;
          };
          // Sums of so few integers are exact; bfloat16 rounds each once, in any order.
          const Tensor sums = x.cumsum(dim, dtype), back = x.flip(dim).cumsum(dim, dtype).flip(dim);
          CHECK(equal(run(false, false), sums));
          CHECK(equal(run(true, false), back));
          const int64_t n = sizes[static_cast<size_t>(dim)];
          if (n == 0) continue;
          const Tensor none = zeros_like(x.narrow(dim, 0, 1));
          CHECK(equal(run(false, true), cat({none, sums.narrow(dim, 0, n - 1)}, dim)));
          CHECK(equal(run(true, true), cat({back.narrow(dim, 1, n - 1), none}, dim)));
        }
      }
    }
    Tensor y = full({3}, 77., f64(d));
    kernels::scan(y, tensor({1., kInf, 2.}, f64(d)), {.reverse = true, .exclusive = true},
                  ScanOp::logsumexp);
    check_values(y, {3}, {kInf, 2, -kInf});
  });
}

TEST_CASE("the composite of cum_extremum agrees with the reference") {
  for (const int64_t n : {1, 2, 7, 16, 33}) {
    const Tensor few = randint(0, 6, {2, n, 3}, kInt64).to(kFloat64);
    const Tensor x = where(few == 5, kNan, few).to("reference");
    for (const Tensor& values : {few.to("reference"), x}) {
      for (const bool largest : {false, true}) {
        const Tensor index = full({2, n, 3}, -1, TensorOptions(kInt64).device("reference"));
        check_composite(
            kernels::cum_extremum, {unwritten({2, n, 3}), index}, {values},
            [&](auto&& f, Tensors& o, const Tensors& in) { f(o[0], o[1], in[0], 1, largest); });
      }
    }
  }
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      DTYPE(cumsum, m23(), 0, kBool),     INDEX(cumsum_, m23(), 2),
      DTYPE(cumsum_, i23(), 0, kFloat32), VALUE(cumsum_, none(), 0),
      INDEX(cumprod, m23(), 2),           VALUE(cumprod, none(), 0),
      DTYPE(cumprod, m23(), 0, kBool),    INDEX(cumprod_, m23(), -3),
      DTYPE(cumprod_, b23(), 0),          VALUE(cumprod_, none(), 0),
      INDEX(logcumsumexp, m23(), 2),      DTYPE(logcumsumexp, i23(), 0),
      VALUE(logcumsumexp, none(), 0),     INDEX(cummax, m23(), 2),
      VALUE(cummax, none(), 0),           INDEX(cummin, m23(), 2),
      VALUE(cummin, none(), 0),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  return {
      RESULT(cumprod, cumprod(o.unit, 0), cumprod(o.n, -1)),
      IN_PLACE(cumsum_, o.a, 0),
      IN_PLACE(cumprod_, o.unit, -1),
      RESULT(logcumsumexp, logcumsumexp(o.a, 0), logcumsumexp(o.a, -1)),
      RESULT(cummax, std::get<0>(cummax(o.a, 0)), std::get<1>(cummax(o.n, -1))),
      RESULT(cummin, std::get<0>(cummin(o.a, -1)), std::get<1>(cummin(o.n, 0))),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
