// Sorting and related functions: values, gradients, the composites, bad calls.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>

#include <limits>

#include "composite.h"
#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;
using namespace composite_test;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TensorOptions f64(Device d) { return TensorOptions(kFloat64).device(d); }

// x = torch.tensor([[3., 1., nan, -2., 1.], [0., -0., 5., inf, -1.]]), float64
Tensor numbers(Device d) {
  return tensor({{3., 1., kNan, -2., 1.}, {0., -0., 5., kInf, -1.}}, f64(d));
}
// i = torch.tensor([[4, -1, 4, 2], [0, 7, 7, -9]])
Tensor integers(Device d) {
  return tensor({{4, -1, 4, 2}, {0, 7, 7, -9}}, TensorOptions(kInt64).device(d));
}

template <class... Result>
void check_both(const std::tuple<Result...>& got, IntArrayRef sizes,
                const std::vector<double>& values, const std::vector<double>& indices) {
  check_values(std::get<0>(got), sizes, values);
  check_values(std::get<1>(got), sizes, indices);
  CHECK(std::get<1>(got).dtype() == kInt64);
}

}  // namespace

TEST_CASE("sort keeps the order of equal elements and puts NaN last, as PyTorch's stable sort") {
  for_each_device([](Device d) {
    const Tensor x = numbers(d), i = integers(d);
    check_both(x.sort(), {2, 5}, {-2, 1, 1, 3, kNan, -1, 0, -0., 5, kInf},
               {3, 1, 4, 0, 2, 4, 0, 1, 2, 3});
    check_both(x.sort(true, 0, true), {2, 5}, {3, 1, kNan, kInf, 1, 0, -0., 5, -2, -1},
               {0, 0, 0, 1, 0, 1, 1, 1, 0, 1});
    check_both(sort(i, 1), {2, 4}, {-1, 2, 4, 4, -9, 0, 7, 7}, {1, 3, 0, 2, 3, 0, 1, 2});
    check_values(x.argsort(1, true), {2, 5}, {2, 0, 1, 4, 3, 3, 2, 0, 1, 4});
    check_values(argsort(i, /*stable=*/true, 0), {2, 4}, {1, 0, 0, 1, 0, 1, 1, 0});
    check_values(i.msort(), {2, 4}, {0, -1, 4, -9, 4, 7, 7, 2});
    check_both(tensor(2.5, f64(d)).sort(), {}, {2.5}, {0});
    CHECK(std::get<0>(empty({0, 3}, f64(d)).sort(0)).sizes() == IntArrayRef{0, 3});
    // Zeros keep their signs.
    const Tensor zeros = std::get<0>(tensor({0., -0., 0.}, f64(d)).sort()).cpu();
    CHECK_FALSE(std::signbit(zeros[0].item<double>()));
    CHECK(std::signbit(zeros[1].item<double>()));
  });
}

TEST_CASE("every dtype and length is sorted as by the standard library") {
  for_each_device([](Device d) {
    manual_seed(3);
    for (const DType dtype : dtypes::kEvery) {
      for (const int64_t n : {2, 63, 300, 20000}) {
        if (n > 1000 && !d.is_cpu()) continue;  // the composite and the comparison are slow
        const Tensor x = randint(0, 100, {2, n}, kInt64).to(dtype).to(d);
        for (const bool descending : {false, true}) {
          INFO(name(dtype), " ", n, " descending ", descending);
          const auto [values, indices] = x.sort(1, descending);
          const auto [expected, places] = x.to(Device("reference")).sort(1, descending);
          CHECK(values.cpu().equal(expected.cpu()));
          CHECK(indices.cpu().equal(places.cpu()));
          const auto [top, at] = x.topk(n / 20 + 1, 1, descending);
          CHECK(top.cpu().equal(expected.cpu().narrow(1, 0, n / 20 + 1)));
          CHECK(at.cpu().equal(places.cpu().narrow(1, 0, n / 20 + 1)));
        }
      }
    }
  });
}

TEST_CASE("topk, kthvalue, medians and mode have PyTorch's values") {
  for_each_device([](Device d) {
    const Tensor x = numbers(d), i = integers(d);
    check_both(x.topk(2, 1), {2, 2}, {kNan, 3, kInf, 5}, {2, 0, 3, 2});
    check_both(topk(x, 2, -1, false), {2, 2}, {-2, 1, -1, 0}, {3, 1, 4, 0});
    check_both(topk(x, 0, 0), {0, 5}, {}, {});
    check_both(topk(tensor(2., f64(d)), 1), {}, {2}, {0});
    check_both(x.kthvalue(2), {2}, {1, 0}, {1, 0});
    check_both(x.kthvalue(5, 1, true), {2, 1}, {kNan, kInf}, {2, 3});
    check_both(x.median(1), {2}, {kNan, 0}, {2, 1});
    check_both(x.nanmedian(1), {2}, {1, 0}, {1, 1});
    check_both(i.median(1, true), {2, 1}, {2, 0}, {3, 0});
    check_values(x.median(), {}, {kNan});
    check_values(x.nanmedian(), {}, {1});
    check_values(i.median(), {}, {2});
    const Tensor nothing = empty({0}, f64(d)).requires_grad_();
    check_values(median(nothing), {}, {kNan});
    median(nothing).backward();
    CHECK(nothing.grad().sizes() == IntArrayRef{0});
    check_both(nanmedian(tensor({kNan, kNan}, f64(d)), 0), {}, {kNan}, {0});
    check_both(i.mode(), {2}, {4, 7}, {2, 2});
    check_both(mode(tensor({1., 2., 2., 1., 3.}, f64(d)), 0, true), {1}, {1}, {3});
    // All NaN count as equal, with the position of the first. PyTorch 2.15 returns (nan, 0) for the
    // first two; its order of several NaN has no rule.
    check_both(mode(tensor({kNan, kNan, 1.}, f64(d))), {}, {kNan}, {0});
    check_both(mode(tensor({kNan, 1., kNan, 0.}, f64(d))), {}, {kNan}, {0});
    check_both(mode(tensor({1., kNan, 2., kNan}, f64(d))), {}, {kNan}, {1});
    check_both(mode(tensor({kNan, 1., 1.}, f64(d))), {}, {1}, {2});
  });
}

TEST_CASE("unique and unique_consecutive have PyTorch's values") {
  for_each_device([](Device d) {
    const TensorOptions int64 = TensorOptions(kInt64).device(d);
    const auto [values, inverse, counts] =
        _unique2(tensor({{3, 1, 3}, {2, 1, 1}}, int64), true, true, true);
    check_values(values, {3}, {1, 2, 3});
    check_values(inverse, {2, 3}, {2, 0, 2, 1, 0, 0});
    check_values(counts, {3}, {3, 1, 2});
    CHECK(std::get<1>(_unique(tensor({3, 1}, int64))).sizes() == IntArrayRef{0});
    // torch.unique(torch.tensor([[2, 1], [0, 1], [2, 1], [0, 0]]), dim=0, ...)
    const Tensor rows = tensor({{2, 1}, {0, 1}, {2, 1}, {0, 0}}, int64);
    const auto [kept, row, times] = unique_dim(rows, 0);
    check_values(kept, {3, 2}, {0, 0, 0, 1, 2, 1});
    check_values(row, {4}, {2, 1, 2, 0});
    check_values(times, {3}, {1, 1, 2});
    check_values(std::get<0>(unique_dim(rows.t(), -1)), {2, 3}, {0, 0, 2, 0, 1, 1});
    // The other dims keep their order: torch.unique(x, dim=2) of slices (5, 1, 0, 0), (5, 0, 1, 0).
    check_values(
        std::get<0>(unique_dim(tensor({5, 5, 1, 0, 0, 1, 0, 0}, int64).view({2, 2, 2}), 2)),
        {2, 2, 2}, {5, 5, 0, 1, 1, 0, 0, 0});
    const auto [run, of, lengths] =
        unique_consecutive(tensor({{1, 1, 2}, {2, 1, 1}}, int64), true, true);
    check_values(run, {3}, {1, 2, 1});
    check_values(of, {2, 3}, {0, 0, 1, 1, 2, 2});
    check_values(lengths, {3}, {2, 2, 2});
    const auto [columns, column, width] =
        unique_consecutive(tensor({{1, 1, 2}, {1, 1, 2}, {0, 0, 2}}, int64), true, true, 1);
    check_values(columns, {3, 2}, {1, 2, 1, 2, 0, 2});
    check_values(column, {3}, {0, 0, 1});
    check_values(width, {2}, {2, 1});
    CHECK(std::get<2>(unique_dim_consecutive(rows, 0)).numel() == 4);
    // Each NaN counts as a different number.
    check_values(std::get<2>(_unique2(tensor({kNan, 1., kNan}, f64(d)), true, false, true)), {3},
                 {1, 1, 1});
    const auto [none, nowhere, never] = _unique2(empty({0, 3}, f64(d)), true, true, true);
    CHECK(none.sizes() == IntArrayRef{0});
    CHECK(nowhere.sizes() == IntArrayRef{0, 3});
    CHECK(never.sizes() == IntArrayRef{0});
  });
}

TEST_CASE("searchsorted, bucketize, bincount and histc have PyTorch's values") {
  for_each_device([](Device d) {
    const TensorOptions int64 = TensorOptions(kInt64).device(d);
    const Tensor s = tensor({1., 3., 3., 5.}, f64(d));
    const Tensor v = tensor({{0., 3., 6.}, {kNan, 1., 4.}}, f64(d));
    check_values(searchsorted(s, v), {2, 3}, {0, 1, 4, 4, 0, 3});
    check_values(searchsorted(s, v, false, true), {2, 3}, {0, 3, 4, 4, 1, 3});
    check_values(searchsorted(s, v, false, false, "right"), {2, 3}, {0, 3, 4, 4, 1, 3});
    check_values(searchsorted(stack({s, s + 1}), v), {2, 3}, {0, 1, 4, 4, 0, 1});
    check_values(searchsorted(tensor({1, 3, 5}, int64), 2.5), {}, {1});
    CHECK(searchsorted(s, tensor(3., f64(d)), true).dtype() == kInt32);
    const Tensor mixed = tensor({3., 1., 2.}, f64(d)), sorter = tensor({1, 2, 0}, int64);
    check_values(searchsorted(mixed, v, false, false, {}, sorter), {2, 3}, {0, 2, 3, 3, 0, 3});
    // NaN is first: the results depend on the elements that bisection compares with it.
    const Tensor holes = tensor({1., 3., kNan, 5., kNan, kNan}, f64(d));
    check_values(searchsorted(holes, v), {2, 3}, {0, 1, 6, 6, 0, 3});
    check_values(searchsorted(holes, v, false, true), {2, 3}, {0, 3, 6, 6, 1, 3});
    check_values(searchsorted(empty({0}, f64(d)), v), {2, 3}, {0, 0, 0, 0, 0, 0});
    check_values(searchsorted(empty({2, 0}, f64(d)), v), {2, 3}, {0, 0, 0, 0, 0, 0});
    check_values(bucketize(3, tensor({1, 3, 5}, int64), false, true), {}, {2});
    check_values(bucketize(v, s, true), {2, 3}, {0, 1, 4, 4, 0, 3});

    check_values(tensor({1, 3, 1, 0}, int64).bincount(), {4}, {1, 2, 0, 1});
    check_values(bincount(tensor({1, 3, 1}, int64), tensor({0.5, 2., 0.25}, f64(d)), 6), {6},
                 {0, 0.75, 0, 2, 0, 0});
    check_values(bincount(empty({0}, int64), {}, 2), {2}, {0, 0});

    const Tensor h = tensor({1., 2., 1., 4., kNan, 7., 2.5}, f64(d));
    check_values(h.narrow(0, 0, 4).histc(3), {3}, {2, 1, 1});
    check_values(h.histc(4, 1, 4), {4},
                 {2, 1, 1, 1});  // NaN is not counted; PyTorch 1.13 counts it in the first bin
    check_values(histc(tensor({2., 2.}, f64(d)), 4), {4}, {0, 0, 2, 0});
    check_values(histc(empty({0}, f64(d)), 3), {3}, {0, 0, 0});
  });
}

TEST_CASE("functions that sort have the gradients of the selected elements, first and second") {
  manual_seed(1);
  for_each_device([](Device d) {
    const auto both = [d](TensorFnRef f) {
      // Differences exceed the steps of the numeric gradient.
      const Tensor x = (randperm(15) * 0.37 - 2.).to(kFloat64).reshape({3, 5}).to(d);
      gradcheck(f, {x});
      gradgradcheck(f, {x});
    };
    using In = const std::vector<Tensor>&;
    both([](In x) { return std::get<0>((x[0] * x[0]).sort(1)); });
    both([](In x) { return msort(x[0].sin()); });
    both([](In x) { return std::get<0>((x[0] * x[0]).topk(2, 0, false)); });
    both([](In x) { return std::get<0>(x[0].sin().kthvalue(2, 1)); });
    both([](In x) { return std::get<0>(x[0].sin().median(0)) * x[0].sin().median(); });
    both([](In x) { return std::get<0>(x[0].sin().nanmedian(1)) * x[0].sin().nanmedian(); });
    both([](In x) { return std::get<0>(x[0].sin().mode(1)); });
  });
  // Without dim equal elements share the gradient; NaN that is not selected has none.
  const Tensor x = tensor({1., kNan, 1., 1., 5.}).requires_grad_();
  x.nanmedian().backward();
  check_values(x.grad(), {5}, {1 / 3., 0, 1 / 3., 1 / 3., 0}, 1e-7);  // float32: 2^-24
}

TEST_CASE("the composites of sort, topk and searchsorted agree with the reference") {
  for (const int64_t n : {1, 2, 3, 5, 8, 13, 32, 33}) {
    const Tensor many = randint(0, 6, {2, n, 3}, kInt64).to(kFloat64);
    const Tensor x = where(many == 5, kNan, many).to("reference");
    const Tensor index = full({2, n, 3}, -1, TensorOptions(kInt64).device("reference"));
    for (const bool down : {false, true}) {
      check_composite(
          kernels::sort, {unwritten({2, n, 3}), index}, {x},
          [&](auto&& f, Tensors& o, const Tensors& in) { f(o[0], o[1], in[0], 1, down); });
      check_composite(
          kernels::topk, {unwritten({2, 1, 3}), index.narrow(1, 0, 1)}, {x},
          [&](auto&& f, Tensors& o, const Tensors& in) { f(o[0], o[1], in[0], 1, down); });
    }
    const Tensor rows = std::get<0>(x.select(0, 0).t().sort(1)), v = x.reshape({3, 2 * n});
    const Tensor places = full({3, 2 * n}, -1, index.options());
    for (const bool right : {false, true}) {
      for (const Tensor& sorted : {rows, rows.narrow(0, 1, 1), x.select(0, 0).t().contiguous()}) {
        check_composite(
            kernels::searchsorted, {places}, {sorted, v},
            [&](auto&& f, Tensors& o, const Tensors& in) { f(o[0], in[0], in[1], right); });
      }
    }
  }
}

TEST_CASE("multinomial draws with the weights' probabilities, and never a weight of 0") {
  for_each_device([](Device d) {
    manual_seed(7);
    const Tensor w = tensor({{0., 1., 3.}, {2., 0., 2.}}, f64(d));
    const int64_t n = 4000;
    const Tensor drawn = w.multinomial(n, true).cpu();
    REQUIRE(drawn.sizes() == IntArrayRef{2, n});
    const Tensor first = drawn[0].bincount({}, 3), second = drawn[1].bincount({}, 3);
    // A count with probability p in n draws has a standard deviation of sqrt(n p (1 - p)) < 32; the
    // tolerance is 5 standard deviations.
    CHECK(first[0].item<int64_t>() == 0);
    CHECK(std::abs(first[1].item<int64_t>() - n / 4) < 160);
    CHECK(second[1].item<int64_t>() == 0);
    CHECK(std::abs(second[0].item<int64_t>() - n / 2) < 160);
    // Without replacement both elements are drawn, each once; the larger one is first in 3 of 4
    // cases.
    const Tensor many = w[0].unsqueeze(0).expand({n, 3}).multinomial(2, false).cpu();
    CHECK((many == 0).sum().item<int64_t>() == 0);
    CHECK(many.sum(1).eq(3).all().item<bool>());
    CHECK(std::abs(many.select(1, 0).eq(2).sum().item<int64_t>() - 3 * n / 4) < 160);
    const Tensor one = multinomial(w.to(kFloat32)[1], 1);
    CHECK(one.sizes() == IntArrayRef{1});
    CHECK(one.item<int64_t>() % 2 == 0);
  });
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      INDEX(sort, m23(), 2),
      VALUE(sort, none()),
      INDEX(argsort, m23(), -3),
      VALUE(argsort, none()),
      VALUE(msort, none()),
      INDEX(topk, m23(), 4),
      INDEX(topk, m23(), -1),
      INDEX(topk, m23(), 1, 2),
      VALUE(topk, none(), 1),
      INDEX(kthvalue, m23(), 0),
      INDEX(kthvalue, m23(), 4),
      INDEX(kthvalue, ones({0}), 1),
      VALUE(kthvalue, none(), 1),
      DTYPE(median, empty({0}, kInt64)),
      INDEX(median, ones({2, 0}), 1),
      INDEX(median, m23(), 2),
      VALUE(median, none()),
      INDEX(nanmedian, ones({2, 0}), 1),
      VALUE(nanmedian, none()),
      INDEX(mode, ones({2, 0}), 1),
      VALUE(mode, none()),
      VALUE(_unique2, none()),
      BAD(NotImplementedError, _unique2, ones({4}, "meta")),
      BAD(NotImplementedError, _unique, ones({4}, "meta")),
      VALUE(unique_dim, none(), 0),
      INDEX(unique_dim, m23(), 2),
      SHAPE(unique_dim, ones({2, 0}), 0),
      VALUE(unique_consecutive, none()),
      BAD(NotImplementedError, unique_consecutive, ones({4}, "meta")),
      VALUE(unique_dim_consecutive, none(), 0),
      INDEX(unique_dim_consecutive, m23(), 2),
      VALUE(searchsorted, none(), m23()),
      VALUE(searchsorted, m23(), none()),
      SHAPE(searchsorted, ones({}), m23()),
      SHAPE(searchsorted, m45(), m23()),
      DTYPE(searchsorted, b23(), b23()),
      DEVICE(searchsorted, m23(), there()),
      VALUE(searchsorted, m23(), m23(), false, true, "left"),
      VALUE(searchsorted, m23(), m23(), false, false, "middle"),
      DTYPE(searchsorted, m23(), m23(), false, false, std::nullopt, m23()),
      SHAPE(searchsorted, m23(), m23(), false, false, std::nullopt, list(0)),
      SHAPE(bucketize, m23(), m23()),
      DTYPE(bucketize, b23(), ones({1}, kBool)),
      DEVICE(bucketize, m23(), ones({2}, "reference")),
      VALUE(bucketize, none(), ones({2})),
      DTYPE(bincount, ones({2})),
      SHAPE(bincount, i23()),
      SHAPE(bincount, list(1), ones({3})),
      VALUE(bincount, list(-1)),
      VALUE(bincount, list(1), Tensor(), -1),
      DEVICE(bincount, list(1), ones({2}, "reference")),
      BAD(NotImplementedError, bincount, list(1).to("meta")),
      DTYPE(histc, i23()),
      VALUE(histc, m23(), 0),
      VALUE(histc, m23(), 3, 2, 1),
      VALUE(histc, full({2}, kNan)),
      VALUE(histc, none()),
      DTYPE(multinomial, i23(), 1),
      SHAPE(multinomial, ones({2, 2, 2}), 1),
      SHAPE(multinomial, m23(), 4),
      SHAPE(multinomial, m23(), 0, true),
      VALUE(multinomial, zeros({2, 3}), 1),
      VALUE(multinomial, m23() * -1, 1),
      VALUE(multinomial, none(), 1),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {
      CALL(searchsorted, strict, given(f({2}), f({2}), places({2})), t[0], t[1], false, false,
           std::nullopt, t[2]),
      named(CALL(searchsorted, strict, given(f({2}), places({2})), t[0], 1.5, false, false,
                 std::nullopt, t[1]),
            list("sorted_sequence", "sorter")),
      CALL(bucketize, strict, given(f(), f({2})), t[0], t[1]),
      BOTH(bincount, strict, given(places({3}), f({3})), t[1]),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  return {
      RESULT(sort, std::get<0>(sort(o.a)), std::get<1>(sort(o.n, 0, true)),
             std::get<1>(sort(o.yes, -1))),
      RESULT(argsort, argsort(o.a), argsort(o.n, 0, true)),
      with_dims(RESULT(msort, msort(o.a))),
      not_empty(RESULT(topk, std::get<0>(topk(o.a, 1)), std::get<1>(topk(o.n, 1, 0, false)))),
      not_empty(RESULT(kthvalue, std::get<0>(kthvalue(o.a, 1)), std::get<1>(kthvalue(o.n, 1, 0)))),
      not_empty(RESULT(median, median(o.a), median(o.n), std::get<1>(median(o.a, 0)))),
      not_empty(RESULT(nanmedian, nanmedian(o.a), std::get<1>(nanmedian(o.n, -1)))),
      not_empty(RESULT(mode, std::get<0>(mode(o.n)), std::get<1>(mode(o.n, 0)))),
      RESULT(_unique2, std::get<0>(_unique2(o.n)), std::get<1>(_unique2(o.n, true, true)),
             std::get<2>(_unique2(o.n, true, false, true))),
      RESULT(_unique, std::get<0>(_unique(o.a)), std::get<1>(_unique(o.n, true, true))),
      full_only(
          RESULT(unique_dim, std::get<0>(unique_dim(o.n, 0)), std::get<1>(unique_dim(o.n, 1)))),
      RESULT(unique_consecutive, std::get<0>(unique_consecutive(o.yes)),
             std::get<2>(unique_consecutive(o.yes, false, true))),
      full_only(RESULT(unique_dim_consecutive, std::get<0>(unique_dim_consecutive(o.n, 0)))),
      full_only(RESULT(searchsorted, searchsorted(MADE(std::get<0>(sort(o.a))), o.unit),
                       searchsorted(MADE(std::get<0>(sort(o.n))), o.n, true, true))),
      with_dims(RESULT(bucketize, bucketize(o.a, MADE(arange(5, o.a.options()))),
                       bucketize(1.5, MADE(arange(5, o.a.options()))))),
      RESULT(bincount, bincount(MADE(o.n.abs().reshape({-1}))),
             bincount(MADE(o.n.abs().reshape({-1})), o.unit.reshape({-1}), 20)),
      RESULT(histc, histc(o.unit, 5, 0, 1), histc(o.a, 7, -2, 2)),
      // Cases without randomness, because devices draw different numbers.
      full_only(RESULT(multinomial, multinomial(MADE(ones({3, 1}, o.a.options())), 1),
                       multinomial(MADE(ones({1}, o.a.options())), 4, true))),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
