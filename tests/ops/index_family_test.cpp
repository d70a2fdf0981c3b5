// Functions that read and write by index, other than gather and scatter: values, gradients.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>

#include "composite.h"
#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
using namespace ambit::indexing;
using namespace composite_test;

namespace {

TensorOptions f64(Device d) { return TensorOptions(kFloat64).device(d); }

// s = torch.arange(12.).reshape(3, 4); i = torch.tensor([[0, 1, 2, 0], [0, 2, 0, 1]])
// src = torch.tensor([[10., 20., 30., 40.], [50., 60., 70., 80.]]), float64
struct Inputs {
  explicit Inputs(Device d)
      : s(arange(12, f64(d)).reshape({3, 4})),
        i(tensor({{0, 1, 2, 0}, {0, 2, 0, 1}}, TensorOptions(kInt64).device(d))),
        src(tensor({{10., 20., 30., 40.}, {50., 60., 70., 80.}}, f64(d))) {}
  Tensor s, i, src;
};

Tensor indices(const std::vector<int64_t>& places, Device d, DType dtype = kInt64) {
  Tensor t = empty({static_cast<int64_t>(places.size())}, kInt64);
  for (size_t k = 0; k < places.size(); ++k) t[static_cast<int64_t>(k)].fill_(places[k]);
  return t.to(d, dtype);
}

}  // namespace

TEST_CASE("scatters with a reduction have PyTorch's values") {
  struct Case {
    const char* reduce;
    std::vector<double> with_self, alone;
  };
  const Case cases[] = {
      {"sum",
       {60, 1, 72, 43, 4, 25, 6, 87, 8, 69, 40, 11},
       {60, 1, 70, 40, 4, 20, 6, 80, 8, 60, 30, 11}},
      {"prod",
       {0, 1, 140, 120, 4, 100, 6, 560, 8, 540, 300, 11},
       {500, 1, 70, 40, 4, 20, 6, 80, 8, 60, 30, 11}},
      {"mean",
       {20, 1, 36, 21.5, 4, 12.5, 6, 43.5, 8, 34.5, 20, 11},
       {30, 1, 70, 40, 4, 20, 6, 80, 8, 60, 30, 11}},
      {"amax",
       {50, 1, 70, 40, 4, 20, 6, 80, 8, 60, 30, 11},
       {50, 1, 70, 40, 4, 20, 6, 80, 8, 60, 30, 11}},
      {"amin",
       {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
       {10, 1, 70, 40, 4, 20, 6, 80, 8, 60, 30, 11}},
  };
  for_each_device([&](Device d) {
    const Inputs o(d);
    for (const Case& c : cases) {
      INFO(c.reduce);
      check_values(o.s.scatter_reduce(0, o.i, o.src, c.reduce), {3, 4}, c.with_self);
      check_values(o.s.clone().scatter_reduce_(-2, o.i, o.src, c.reduce, false), {3, 4}, c.alone);
    }
    const Tensor whole = indices({1, -7, 3}, d);
    check_values(whole.scatter_reduce(0, indices({1, 1}, d), indices({2, -3}, d), "mean"), {3},
                 {1, -3, 3});
    CHECK((whole > 0)
              .scatter_reduce(0, indices({1, 1}, d), whole.narrow(0, 0, 2) > 0, "mean")
              .dtype() == kBool);
    check_values(
        tensor(2., f64(d)).scatter_reduce(0, indices({0}, d)[0], tensor(5., f64(d)), "prod"), {},
        {10});
    check_values(o.s.scatter(0, o.i, 1.5), {3, 4},
                 {1.5, 1, 1.5, 1.5, 4, 1.5, 6, 1.5, 8, 1.5, 1.5, 11});
    check_values(o.s.scatter(0, o.i, o.src, "add"), {3, 4}, cases[0].with_self);
    check_values(o.s.clone().scatter_(0, o.i, 2., "multiply"), {3, 4},
                 {0, 1, 4, 6, 4, 10, 6, 14, 8, 18, 20, 11});
    check_values(o.s.clone().scatter_(0, o.i, 7), {3, 4}, {7, 1, 7, 7, 4, 7, 6, 7, 8, 7, 7, 11});
    check_values(o.s.clone().scatter_(0, o.i, o.src, "add"), {3, 4}, cases[0].with_self);
    check_values(o.s.gather(-1, o.i.narrow(0, 0, 2)), {2, 4}, {0, 1, 2, 0, 4, 6, 4, 5});
  });
}

TEST_CASE("scatters without a reduction have gradients, too") {
  for_each_device([](Device d) {
    const TensorOptions options = TensorOptions(kFloat64).device(d);
    const Tensor nowhere = empty({0}, options.dtype(kInt64));
    for (const char* reduce : {"sum", "prod", "mean", "amax", "amin"}) {
      INFO(std::string(reduce));
      const Tensor x = ones({3}, options).requires_grad_(),
                   src = ones({2}, options).requires_grad_();
      scatter_reduce(x, 0, nowhere, src, reduce).sum().backward();
      check_values(x.grad(), {3}, {1, 1, 1});
      check_values(src.grad(), {2}, {0, 0});
    }
  });
}

// PyTorch 2.15: an element that is filled twice counts once.
TEST_CASE("index_fill passes the gradient of each filled element once to its value") {
  for_each_device([](Device d) {
    const Tensor x = ones({5, 5}, f64(d)).requires_grad_();
    const Tensor value = ones({}, f64(d)).requires_grad_();
    const Tensor g = wave(d, {5, 5});
    for (const auto& [index, sum] :
         {std::pair(indices({2, 2}, d), 5.), std::pair(indices({1, -4, 0}, d), 10.),
          std::pair(indices({}, d), 0.)}) {
      for (const int64_t dim : {0, 1}) {
        const Tensor in_place = x * 1;
        in_place.index_fill_(dim, index, value);
        for (const Tensor& y : {index_fill(x, dim, index, value), in_place}) {
          const auto ones = autograd::grad({y.sum()}, {x, value}, {}, true);
          CHECK(ones[1].item<double>() == sum);
          CHECK(ones[0].sum().item<double>() == 25 - sum);
          const auto grads = autograd::grad({y}, {x, value}, {g});
          CHECK(grads[0].equal(index_fill(g, dim, index, 0)));
          // The bound is for sums of at most 10 numbers below 1, in another order.
          check_values(grads[1], {}, {(g - grads[0]).sum().item<double>()}, 10 * 0x1p-52);
        }
      }
    }
    const Tensor number = ones({}, f64(d)).requires_grad_();
    const auto grads =
        autograd::grad({index_fill(number, 0, indices({0}, d), value)}, {number, value});
    CHECK(grads[0].item<double>() == 0);
    CHECK(grads[1].item<double>() == 1);
  });
}

TEST_CASE("reads and writes of slices by index have PyTorch's values") {
  struct Case {
    const char* reduce;
    std::vector<double> with_self, alone;  // expected values of row 0; the other rows do not change
  };
  const Case cases[] = {{"prod", {0, 1200, 4200, 9600}, {500, 1200, 2100, 3200}},
                        {"mean", {20, 27, 34, 41}, {30, 40, 50, 60}},
                        {"amax", {50, 60, 70, 80}, {50, 60, 70, 80}},
                        {"amin", {0, 1, 2, 3}, {10, 20, 30, 40}}};
  for_each_device([&](Device d) {
    const Inputs o(d);
    const Tensor twice = indices({0, 0}, d, kInt32);
    for (const Case& c : cases) {
      INFO(c.reduce);
      const Tensor got = o.s.index_reduce(0, twice, o.src, c.reduce);
      check_values(got[0], {4}, c.with_self);
      CHECK(got.narrow(0, 1, 2).equal(o.s.narrow(0, 1, 2)));
      check_values(o.s.clone().index_reduce_(0, twice, o.src, c.reduce, false)[0], {4}, c.alone);
    }
    const Tensor added = o.s.index_add(1, indices({3, 0, 3}, d), ones({3, 3}, f64(d)), 2);
    check_values(added, {3, 4}, {2, 1, 2, 7, 6, 5, 6, 11, 10, 9, 10, 15});
    CHECK(o.s.clone()
              .index_add_(1, indices({3, 0, 3}, d, kInt32), full({3, 3}, 2, f64(d)))
              .equal(added));
    check_values(o.s.index_copy(0, indices({2, 0}, d), o.src), {3, 4},
                 {50, 60, 70, 80, 4, 5, 6, 7, 10, 20, 30, 40});
    check_values(o.s.clone().index_copy_(-2, indices({2, 0}, d), o.src)[2], {4}, {10, 20, 30, 40});
    const std::vector<double> filled = {0, 9, 2, 9, 4, 9, 6, 9, 8, 9, 10, 9};
    check_values(o.s.index_fill(1, indices({-1, 1}, d), 9.), {3, 4}, filled);
    check_values(o.s.clone().index_fill_(1, indices({3, 1}, d), tensor(9, f64(d))), {3, 4}, filled);
    check_values(o.s.index_fill(1, indices({3, 1}, d), tensor(9, f64(d))), {3, 4}, filled);
    check_values(o.s.clone().index_fill_(1, indices({3, 1}, d), 9), {3, 4}, filled);
    const Tensor number = tensor(1., f64(d));
    check_values(number.index_add(0, indices({0}, d), tensor({2.}, f64(d))), {}, {3});
    check_values(number.index_copy(0, indices({0}, d), tensor({2.}, f64(d))), {}, {2});
  });
}

TEST_CASE("take, put, masks and writes to slices have PyTorch's values") {
  for_each_device([](Device d) {
    const Inputs o(d);
    const TensorOptions int64 = TensorOptions(kInt64).device(d);
    check_values(o.s.take(tensor({{-1, 0}, {5, 5}}, int64)), {2, 2}, {11, 0, 5, 5});
    const Tensor three = tensor({1., 2., 3.}, f64(d));
    const std::vector<double> put_there = {5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12};
    check_values(o.s.put(indices({-1, 0, 0}, d), three, true), {3, 4}, put_there);
    check_values(o.s.clone().put_(indices({-1, 0, 0}, d), three, true), {3, 4}, put_there);
    const Tensor turned = o.s.t().clone().t();  // not contiguous
    check_values(turned.put_(indices({1, 4}, d), three.narrow(0, 1, 2)), {3, 4},
                 {0, 2, 2, 3, 3, 5, 6, 7, 8, 9, 10, 11});
    check_values(put(o.s.t(), indices({1}, d), three.narrow(0, 2, 1))[0], {3}, {0, 3, 8});
    check_values(o.s.take_along_dim(tensor({{1}, {0}, {3}}, int64), 1), {3, 1}, {1, 4, 11});
    check_values(take_along_dim(o.s, tensor({{1, 5}}, int64)), {2}, {1, 5});
    check_values(take_along_dim(o.s, tensor({{0, 1, 2, 0}}, int64), 0), {1, 4}, {0, 5, 10, 3});
    check_values(take_along_dim(o.s, tensor({{-1}, {0}, {-4}}, int64), 1), {3, 1}, {3, 4, 8});
    const Tensor mask = tensor({{true}, {false}, {true}}, d);
    const std::vector<double> scattered = {20, 21, 22, 23, 4, 5, 6, 7, 24, 25, 26, 27};
    check_values(o.s.masked_scatter(mask, o.s + 20), {3, 4}, scattered);
    check_values(o.s.clone().masked_scatter_(mask.to(kUInt8), o.s + 20), {3, 4}, scattered);
    check_values(o.s.masked_select(mask.to(kUInt8)), {8}, {0, 1, 2, 3, 8, 9, 10, 11});

    check_values(zeros({7, 3}, f64(d)).fill_diagonal_(1., true), {7, 3},
                 {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1});
    check_values(zeros({2, 4}, f64(d)).t().fill_diagonal_(1., true), {4, 2},
                 {1, 0, 0, 1, 0, 0, 1, 0});
    check_values(zeros({2, 2, 2}, f64(d)).fill_diagonal_(3), {2, 2, 2}, {3, 0, 0, 0, 0, 0, 0, 3});
    const Tensor one = ones({}, f64(d));
    check_values(o.s.select_scatter(one.expand({3}), 1, -1), {3, 4},
                 {0, 1, 2, 1, 4, 5, 6, 1, 8, 9, 10, 1});
    check_values(o.s.slice_scatter(one.expand({2, 4}), 0, 1), {3, 4},
                 {0, 1, 2, 3, 1, 1, 1, 1, 1, 1, 1, 1});
    check_values(o.s.diagonal_scatter(one.expand({2}), -1), {3, 4},
                 {0, 1, 2, 3, 1, 5, 6, 7, 8, 1, 10, 11});
    check_values(o.s.as_strided_scatter(one.expand({2, 2}), {2, 2}, {5, 1}, 1), {3, 4},
                 {0, 1, 1, 3, 4, 5, 1, 1, 8, 9, 10, 11});
    // PyTorch 2.15: as_strided counts from the beginning of the storage, also in views.
    const Tensor two = tensor({100., 200.}, f64(d)), own = o.s.clone();
    check_values(own[1].as_strided_scatter(two, {2}, {2}), {4}, {100, 5, 200, 7});
    check_values(own[1].as_strided_scatter(two, {2}, {2}, 1), {4}, {4, 5, 6, 7});
    check_values(own[1].as_strided_scatter(two, {2}, {2}, 5), {4}, {4, 100, 6, 200});
    check_values(own.narrow(0, 1, 2).t().as_strided_scatter(two, {2}, {2}, 5), {4, 2},
                 {4, 8, 100, 9, 6, 10, 200, 11});
    check_values(own[0].expand({2, 4}).as_strided_scatter(two, {2}, {2}, 5), {2, 4},
                 {0, 1, 2, 3, 0, 100, 2, 200});
    check_values(own[0].unfold(0, 3, 1).as_strided_scatter(two, {2}, {1}, 1), {2, 3},
                 {0, 100, 200, 100, 200, 3});
    CHECK(own.equal(o.s));
    const Tensor sparse = tensor({{1, 0}, {0, 2}}, int64);
    const std::vector<Tensor> places = sparse.nonzero_numpy();
    REQUIRE(places.size() == 2);
    check_values(places[1], {2}, {0, 1});
    check_values(sparse.argwhere(), {2, 2}, {0, 0, 1, 1});
    check_values(where(tensor(3., f64(d)))[0], {1}, {0});
    CHECK(argwhere(tensor(3., f64(d))).sizes() == IntArrayRef{1, 0});
  });
}

TEST_CASE("index accepts libtorch's indices: int32, uint8 masks, lists; \"...\" is a view") {
  for_each_device([](Device d) {
    const Inputs o(d);
    check_values(o.s.index({indices({2, -1}, d, kInt32), 0}), {2}, {8, 8});
    check_values(o.s[indices({1, 0, 1}, d, kUInt8)], {2, 4}, {0, 1, 2, 3, 8, 9, 10, 11});
    const Tensor all = o.s.index({"..."});
    CHECK(!all.is_same(o.s));
    CHECK(all.storage().get() == o.s.storage().get());
    const Tensor leaf = zeros({2}, f64(d)).requires_grad_();
    CHECK(!leaf.index({"..."}).is_leaf());
    using Lists = std::vector<std::optional<Tensor>>;
    const Lists columns{std::nullopt, indices({1, 3}, d)};
    check_values(o.s.index(columns), {3, 2}, {1, 3, 5, 7, 9, 11});
    check_values(o.s.index(std::vector<TensorIndex>{1, Slice(1, 3)}), {2}, {5, 6});

    Tensor x = zeros({2, 3}, f64(d));
    x.index_put_({0}, ones({1, 1, 3}, f64(d)));  // leading dims of size 1 are dropped
    x.index_put_({indices({1, 1}, d)}, full({1, 1, 2, 3}, 2., f64(d)));  // also with an index
    check_values(x, {2, 3}, {1, 1, 1, 2, 2, 2});
    x.index_put_({indices({1, 1, 0}, d), indices({0, 0, 2}, d)}, tensor(3.),
                 true);  // a 0-dim tensor on the cpu
    check_values(x, {2, 3}, {1, 1, 4, 8, 2, 2});
    x.index_put_(Lists{indices({0}, d), indices({0}, d)}, tensor({7.}, f64(d)));
    x.index_put_(std::vector<TensorIndex>{1, 1}, 5.);
    x.index_put_(std::vector<TensorIndex>{1, 2}, tensor(6., f64(d)), true);
    check_values(x, {2, 3}, {7, 1, 4, 8, 5, 8});
    check_values(x.index_put({indices({0, 0}, d)}, ones({2, 3}, f64(d)), true), {2, 3},
                 {9, 3, 6, 8, 5, 8});
    check_values(x, {2, 3}, {7, 1, 4, 8, 5, 8});
  });
}

TEST_CASE("indexed writes have first and second gradients") {
  manual_seed(2);
  for_each_device([](Device d) {
    const Inputs o(d);
    const Tensor s = randn({3, 4}, f64(d)), src = randn({2, 4}, f64(d)), i = o.i;
    const Tensor twice = indices({0, 0}, d), rows = indices({2, 0}, d);
    const auto both = [](TensorFnRef f, const std::vector<Tensor>& inputs) {
      gradcheck(f, inputs);
      gradgradcheck(f, inputs);
    };
    using In = const std::vector<Tensor>&;
    for (const char* reduce : {"sum", "prod", "mean", "amax", "amin"}) {
      for (const bool self : {true, false}) {
        INFO(reduce, " ", self);
        both([&](In x) { return x[0].scatter_reduce(0, i, x[1], reduce, self) * 2; }, {s, src});
      }
    }
    // A product has a gradient at zeros.
    const Tensor zeros_too = tensor({{0., 2., 0., 3.}, {4., 1., 0., 2.}}, f64(d));
    both([&](In x) { return x[0].scatter_reduce(0, i, x[1], "prod"); }, {o.s, zeros_too});
    both([&](In x) { return (x[0] * 1).index_reduce_(0, twice, x[1], "prod"); }, {s, src});
    both(
        [&](In x) {
          return (x[0] * 1).index_add_(0, twice, x[1], 3) * x[0].index_add(0, rows, x[1]);
        },
        {s, src});
    both([&](In x) { return x[0].index_copy(0, rows, x[1] * x[1]); }, {s, src});
    both([&](In x) { return x[0].index_fill(1, rows, x[1][0][0]); }, {s, src});
    both(
        [&](In x) {
          return x[0].take(i) + (x[0] * 1).put_(rows, x[1][0].narrow(0, 0, 2), true)[1];
        },
        {s, src});
    both([&](In x) { return x[0].t().put(rows, x[1][0].narrow(0, 0, 2)); }, {s, src});
    both([&](In x) { return x[0].take_along_dim(i, 0) * x[1]; }, {s, src});
    both([&](In x) { return x[0].masked_scatter(x[0] > 0, x[1].repeat({2, 1})); }, {s, src});
    both([&](In x) { return x[0].index_put({twice}, x[1], true) * x[0]; }, {s, src});
    both([&](In x) { return x[0].select_scatter(x[1][0], 0, 1).slice_scatter(x[1], 0, 1) * 2; },
         {s, src});
    both([&](In x) { return x[0].diagonal_scatter(x[1][0].narrow(0, 0, 3)) * x[0]; }, {s, src});
    both([&](In x) { return x[0].as_strided_scatter(x[1], {2, 4}, {4, 1}); }, {s, src});
    both(
        [&](In x) {
          return x[0].clone().t().as_strided_scatter(x[1], {2, 4}, {4, 1}, 3);
        },
        {s, src});
    both([&](In x) { return x[0].clone()[1].as_strided_scatter(x[1][0], {4}, {1}, 2); }, {s, src});
    both([&](In x) { return (x[0] * 2).fill_diagonal_(1.) * x[0]; }, {s});
    both(
        [&](In x) {
          return x[0].scatter(0, i, 2.) +
                 (x[0] * 1).scatter_(0, i, x[0].narrow(0, 0, 2) * 1, "multiply");
        },
        {s});
  });
}

TEST_CASE("an invalid write is refused before anything changes") {
  const Inputs o{Device()};
  const Tensor x = o.s.clone(), leaf = o.s.clone().requires_grad_();
  const auto refused = [&](auto f) {
    CHECK_THROWS_AS(f(x), Error);
    CHECK(x.equal(o.s));
    CHECK_THROWS_AS(f(leaf), Error);
  };
  refused([&](const Tensor& t) { t.index_add_(0, indices({3}, kCPU), ones({1, 4}, kFloat64)); });
  refused([&](const Tensor& t) { t.index_fill_(0, indices({-4}, kCPU), 1.); });
  refused([&](const Tensor& t) { t.scatter_reduce_(0, o.i + 2, o.src, "amax"); });
  refused([&](const Tensor& t) { t.index_add_(0, indices({0, 1, 2}, kCPU), t); });
  refused([&](const Tensor& t) { t.put_(indices({12}, kCPU), ones({1}, kFloat64)); });
  refused([&](const Tensor& t) { t.masked_scatter_(t >= 0, ones({3}, kFloat64)); });
  CHECK_THROWS_AS(leaf.fill_diagonal_(1), AutogradError);
  CHECK_THROWS_AS(leaf.scatter_reduce_(0, o.i, o.src, "sum"), AutogradError);
}

TEST_CASE("the composite of scatter_reduce agrees with the reference") {
  const Device reference("reference");
  for (const int64_t n : {1, 2, 5, 16, 33}) {
    const Tensor index = randint(0, 4, {2, n, 3}, kInt64).to(reference);
    const Tensor src = normal({2, n, 3}), y = normal({3, 4, 3});
    for (const ScatterOp op : functions<ScatterOp>()) {
      INFO(name(op));
      check_composite(
          kernels::scatter_reduce, {y}, {index, src},
          [&](auto&& f, Tensors& o, const Tensors& in) { f(o[0], in[0], in[1], 1, op); });
    }
  }
}
