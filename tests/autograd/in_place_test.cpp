// In-place writes and writes through views in the graph: gradients, and tensors saved before.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include "gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

TEST_CASE("a saved tensor that was overwritten is detected, and the op named") {
  for_each_device([](Device device) {
    Tensor x = ones({2}, device).requires_grad_();
    Tensor w = ones({2}, device);
    const Tensor y = x * w;
    w.add_(1);
    CHECK_THROWS_WITH_AS(y.sum().backward(),
                         "mul: expected a tensor saved for backward unchanged, got one that has "
                         "since been written in place (version 0, now 1)",
                         AutogradError);
    CHECK_FALSE(x.grad().defined());
  });
}

TEST_CASE("a view of a saved tensor that was overwritten is detected") {
  Tensor x = ones({2, 2}).requires_grad_();
  const Tensor w = ones({2, 2}), y = x * w;
  w.select(0, 1).fill_(3);
  CHECK_THROWS_AS(y.sum().backward(), AutogradError);
}

// PyTorch 2.15 refuses the backward of each of these calls after such a write.
TEST_CASE("an index, target or pivot that was overwritten before backward is detected") {
  namespace F = nn::functional;
  for_each_device([](Device device) {
    const TensorOptions numbers = TensorOptions(kInt64).device(device);
    const auto refuses = [](const Tensor& y, const Tensor& written) {
      written.mul_(1);
      CHECK_THROWS_AS(y.sum().backward(), AutogradError);
    };
    const Tensor w = ones({4, 3}, device).requires_grad_();
    const auto rows = [&] { return arange(4, numbers); };
    const auto ends = [&] { return arange(0, 6, 2, numbers); };
    const Tensor factors = ones({4}, device).requires_grad_();
    for (const auto& mode :
         {nn::EmbeddingBagMode(kSum), nn::EmbeddingBagMode(kMean), nn::EmbeddingBagMode(kMax)}) {
      const auto bag = [&](const Tensor& index, const Tensor& offsets, const Tensor& of_rows = {}) {
        return F::embedding_bag(index, of_rows.defined() ? w.detach() : w,
                                F::EmbeddingBagFuncOptions()
                                    .mode(mode)
                                    .offsets(offsets)
                                    .include_last_offset(true)
                                    .per_sample_weights(of_rows));
      };
      Tensor index = rows(), offsets = ends();
      refuses(bag(index, offsets), index);
      index = rows();
      refuses(bag(index, offsets), offsets);
      if (mode.kind() != nn::EmbeddingBagMode::Kind::sum) continue;
      offsets = ends();
      refuses(bag(index, offsets, factors), index);
      index = rows();
      refuses(bag(index, offsets, factors), offsets);
    }
    Tensor index = rows();
    refuses(F::embedding(index, w), index);
    index = rows();
    refuses(index_select(w, 0, index), index);
    index = zeros({2, 3}, numbers);
    refuses(gather(w, 0, index), index);
    refuses(F::cross_entropy(w, index = zeros({4}, numbers)), index);
    index = ones({2, 3}, numbers);
    const Tensor x = zeros({5, 2, 4}, device).requires_grad_();
    refuses(F::ctc_loss(x, index, full({2}, 5, numbers), full({2}, 3, numbers)), index);

    const Tensor a = eye(3, TensorOptions(device)) * 2, b = ones({3, 2}, device).requires_grad_();
    auto [lu, pivots] = linalg_lu_factor(a);
    refuses(linalg_lu_solve(lu, pivots, b), lu);
    refuses(linalg_lu_solve(lu, pivots, b), pivots);
    std::tie(lu, pivots) = linalg_lu_factor(a.requires_grad_());
    refuses(lu, pivots);
  });
}

TEST_CASE("a leaf that requires grad refuses in-place writes with gradients enabled") {
  Tensor x = ones({2}).requires_grad_();
  CHECK_THROWS_AS(x.add_(1), AutogradError);
  CHECK_THROWS_AS(x.view({2, 1}).mul_(2), AutogradError);
  CHECK(x.equal(ones({2})));
  const NoGradGuard no_grad;
  x.add_(1);
  CHECK(x.equal(full({2}, 2.0)));
}

TEST_CASE("in-place ops are differentiated") {
  Tensor x = tensor({1.0, 2.0}).requires_grad_();
  Tensor y = x * 2;
  y.add_(x);
  y.mul_(y.detach() * 0 + 5);
  y.sum().backward();
  CHECK(x.grad().equal(full({2}, 15.0)));
}

TEST_CASE("a write to a view reaches its base, and the base's other views") {
  Tensor w = tensor({5.0, 7.0}, kFloat64).requires_grad_();
  const Tensor base = zeros({2, 2}, kFloat64), row = base[0], column = base.select(1, 0);
  row.copy_(w);
  CHECK(base.requires_grad());
  CHECK(column.requires_grad());
  (base * tensor({{1.0, 2.0}, {3.0, 4.0}}, kFloat64)).sum().backward({}, true);
  CHECK(w.grad().equal(tensor({1.0, 2.0}, kFloat64)));
  column.sum().backward();
  CHECK(w.grad().equal(tensor({2.0, 2.0}, kFloat64)));
}

TEST_CASE("writes through views pass gradcheck") {
  gradcheck(
      [](const std::vector<Tensor>& in) {
        const Tensor y = in[0] * 2;
        y.select(0, 1).mul_(in[1]);
        y.transpose(0, 1).select(0, 0).add_(in[1].select(0, 0));
        return y * y;
      },
      {randn({3, 2}, kFloat64), randn({2}, kFloat64)});
}

TEST_CASE("a tensor multiplied by itself in place has the gradient of its square") {
  const Tensor x = full({2}, 3.0).requires_grad_();
  const Tensor y = x * 1;
  y.mul_(y);
  y.sum().backward();
  CHECK(x.grad().equal(full({2}, 6.0)));
}

TEST_CASE("an expanded view has the gradient of a base that was overwritten after it") {
  const Tensor x = ones({1, 4}).requires_grad_();
  const Tensor base = x * 1, view = base.expand({3, 4});
  base.mul_(2);
  view.sum().backward();
  CHECK(x.grad().equal(full({1, 4}, 6.0)));
}

TEST_CASE(
    "views that overlap themselves have the gradient of a base that was overwritten after them") {
  // PyTorch 1.13: x = arange(8.).view(2, 4); b = x * 1; v = f(b); b.mul_(x);
  // (v * arange(v.numel()).view_as(v)).sum().backward(); x.grad
  struct Case {
    const char* name;
    Tensor (*view)(const Tensor& base);
    std::vector<double> grad;
  };
  const Case cases[] = {
      {"unfold",
       [](const Tensor& b) { return b.unfold(1, 2, 1); },
       {0, 6, 28, 30, 48, 150, 228, 154}},
      {"as_strided",
       [](const Tensor& b) {
         return b.as_strided({3, 3}, {1, 2});
       },
       {0, 6, 28, 24, 72, 50, 96, 0}},
      {"expand and unfold",
       [](const Tensor& b) {
         return b.unsqueeze(0).expand({2, 2, 4}).unfold(2, 3, 1);
       },
       {0, 64, 144, 132, 192, 560, 720, 476}},
      {"unfold of stride 0",
       [](const Tensor& b) {
         return b.narrow(1, 0, 1).expand({2, 3}).unfold(1, 2, 1);
       },
       {0, 0, 0, 0, 176, 0, 0, 0}},
  };
  for_each_device([&](Device d) {
    for (const Case& c : cases) {
      INFO(std::string(c.name));
      const TensorOptions options = TensorOptions(kFloat64).device(d);
      const Tensor x = arange(8, options).reshape({2, 4}).requires_grad_();
      const Tensor base = x * 1, view = c.view(base);
      base.mul_(x);
      (view * arange(view.numel(), options).reshape(view.sizes())).sum().backward();
      check_values(x.grad(), {2, 4}, c.grad);
    }
  });
  const auto written = [&](size_t i) {
    return [&, i](const std::vector<Tensor>& in) {
      const Tensor base = in[0] * 1, view = cases[i].view(base);
      base.mul_(in[0]);
      return view * view;
    };
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    gradcheck(written(i), {randn({2, 4}, kFloat64)});
    gradgradcheck(written(i), {randn({2, 4}, kFloat64)});
  }
}

TEST_CASE("an empty view at the end has the gradient of a base that was overwritten after it") {
  const Tensor x = ones({4}).requires_grad_();
  const Tensor base = x * 1, part = base.slice(0, 2), empty_part = part.slice(0, 2, 0);
  base.mul_(2);
  (empty_part.sum() + base.sum()).backward();
  CHECK(x.grad().equal(full({4}, 2.0)));
}

// PyTorch 2.15
TEST_CASE("a view made without gradients requires grad if its base does") {
  const Tensor leaf = ones({2, 2}).requires_grad_(), result = leaf * 2;
  const Tensor plain = ones({2, 2});
  std::vector<Tensor> views;
  {
    const NoGradGuard no_grad;
    for (const Tensor& t : {leaf, result}) {
      for (const Tensor& view :
           {t.view({4}), t[0], t.slice(0, 0, 1), t.t(), t.expand({3, 2, 2}), t.unsqueeze(0),
            t.view({4}).view({2, 2}), t.index({indexing::Slice(0, 1)}), t.diagonal(),
            t.as_strided({1}, {1}), t.split(1)[0], t.unbind()[0], t.reshape({4})}) {
        CHECK(view.requires_grad());
        CHECK(view.is_leaf());
        views.push_back(view);
      }
      for (const Tensor& other : {t * 2, t.clone(), t.to(kFloat64), t.detach(), t.data(),
                                  t.index({tensor({0})}), t.view(kInt32)}) {
        CHECK_FALSE(other.requires_grad());
      }
    }
    CHECK_FALSE(plain.view({4}).requires_grad());
    CHECK_FALSE(leaf.detach().view({4}).requires_grad());
  }
  // No gradient reaches such a view, nor its base through it.
  for (const Tensor& view : views) {
    const Tensor y = view * view.detach() + view * view;
    CHECK(y.requires_grad());
    y.sum().backward();
    CHECK_FALSE(view.grad().defined());
    CHECK_THROWS_AS(view.detach_(), AutogradError);
  }
  CHECK_FALSE(leaf.grad().defined());
  // The view is an operand together with a tensor that a gradient reaches.
  (views[0] * leaf.view({4})).sum().backward();
  CHECK(leaf.grad().equal(ones({2, 2})));
  // The view may become a leaf, and get other memory.
  views[1].requires_grad_();
  (views[1] * 3).sum().backward();
  CHECK(views[1].grad().equal(full({2}, 3.)));
  views[2].set_data(ones({2}));
  CHECK_FALSE(views[2].requires_grad());
}

TEST_CASE("a write to a view made without gradients is not recorded") {
  const Tensor leaf = ones({2}).requires_grad_(), base = leaf * 2;
  for (const Tensor& t : {leaf, base}) {
    Tensor view;
    {
      const NoGradGuard no_grad;
      view = t.select(0, 0);
    }
    CHECK_THROWS_AS(view.mul_(3), AutogradError);
    CHECK_THROWS_AS(view.mul_(ones({}).requires_grad_()), AutogradError);
  }
  CHECK(leaf.is_leaf());
  CHECK(leaf.equal(ones({2})));
}
