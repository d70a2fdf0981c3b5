// set_data() of tensors in a graph: gradients of a different size are refused before they reach a
// formula, and so are saved tensors that were replaced.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/devices.h"

using namespace ambit;

namespace {

struct Call {
  const char* name;
  std::function<Tensor(const Tensor& x)> run;  // x [2, 3, 8, 8]
};

std::vector<Call> calls() {
  const auto rows = [](const Tensor& x) { return x.reshape({6, 64}); };
  const auto numbers = [](Device d, std::vector<int64_t> v) { return tensor(v).to(d); };
  return {
      {"max_pool2d",
       [](const Tensor& x) {
         return max_pool2d(x, {.kernel = {2, 2}});
       }},
      {"avg_pool2d",
       [](const Tensor& x) {
         return avg_pool2d(x, {.kernel = {2, 2}});
       }},
      {"index_select",
       [=](const Tensor& x) {
         return x.index_select(3, numbers(x.device(), {1, 7, 7}));
       }},
      {"masked_select", [](const Tensor& x) { return x.masked_select(x > 0.5); }},
      {"flip", [](const Tensor& x) { return x.flip({2}); }},
      {"softmax", [](const Tensor& x) { return x.softmax(1); }},
      {"log_softmax", [](const Tensor& x) { return x.log_softmax(1); }},
      {"batch_norm",
       [](const Tensor& x) { return batch_norm(x, {}, {}, {}, {}, BatchNormParams()); }},
      {"layer_norm", [](const Tensor& x) { return layer_norm(x, {8}); }},
      {"conv2d",
       [](const Tensor& x) {
         return conv2d(x, ones({2, 3, 3, 3}, x.device()));
       }},
      {"cross_entropy",
       [=](const Tensor& x) {
         return cross_entropy(rows(x), numbers(x.device(), {0, 1, 2, 3, 4, 63}), {},
                              Reduction::none);
       }},
      {"gather",
       [=](const Tensor& x) {
         return rows(x).gather(1, numbers(x.device(), {5, 6, 7, 8, 9, 10}).reshape({6, 1}));
       }},
      {"cumsum", [](const Tensor& x) { return x.cumsum(2); }},
      {"max", [](const Tensor& x) { return std::get<0>(x.max(3)); }},
      {"matmul",
       [=](const Tensor& x) {
         return rows(x).matmul(ones({64, 5}, x.device()));
       }},
      {"mul", [](const Tensor& x) { return x * x; }},
      {"exp", [](const Tensor& x) { return x.exp(); }},
      {"cat",
       [](const Tensor& x) {
         return cat({x, x}, 1);
       }},
  };
}

}  // namespace

TEST_CASE("a gradient whose size is not that of the recorded output is refused") {
  for_each_device([](Device device) {
    manual_seed(1);
    const Tensor data = rand({2, 3, 8, 8}, device);
    for (const Call& call : calls()) {
      for (const int64_t n : {1, 1000, 100'000}) {
        INFO(call.name, " ", n);
        Tensor x = data.clone().requires_grad_();
        const Tensor y = call.run(x);
        y.set_data(ones({n}, device));
        CHECK_THROWS_AS(y.backward(ones({n}, device)), AutogradError);
        CHECK_FALSE(x.grad().defined());
        // The product is recorded after set_data(), so its gradient has the new size, which the
        // earlier op refuses.
        const Tensor later = call.run(x);
        later.set_data(ones({n}, device));
        CHECK_THROWS_AS((later * 2).sum().backward(), AutogradError);
        CHECK_FALSE(x.grad().defined());
      }
    }
  });
}

TEST_CASE("an op recorded before set_data() keeps its gradient") {
  for_each_device([](Device device) {
    for (const Call& call : calls()) {
      INFO(call.name);
      manual_seed(1);
      const Tensor data = rand({2, 3, 8, 8}, device);
      Tensor x = data.clone().requires_grad_(), same = data.clone().requires_grad_();
      const Tensor y = call.run(x), z = (y * 3).sum();
      y.set_data(ones({7}, device));
      z.backward();
      (call.run(same) * 3).sum().backward();
      CHECK(x.grad().cpu().equal(same.grad().cpu()));
    }
  });
}

TEST_CASE("the error says the size of the output, and that set_data() replaced it") {
  Tensor x = ones({2, 3}).requires_grad_();
  const Tensor y = x.exp();
  y.set_data(ones({4}, kFloat64));
  CHECK_THROWS_WITH_AS(
      y.backward(ones({4}, kFloat64)),
      "exp: expected a gradient float32[2, 3] on cpu, as its output was when it was recorded, got "
      "float64[4] on cpu; set_data() has replaced the output since",
      AutogradError);
  // With the old data, backward succeeds.
  y.set_data(ones({2, 3}));
  CHECK_NOTHROW(y.backward(ones({2, 3}), /*retain_graph=*/true));
  y.set_data(ones({3, 2}));
  CHECK_THROWS_AS(y.backward(ones({3, 2})), AutogradError);
}

TEST_CASE("a tensor replaced between two uses is refused, even if its gradients broadcast") {
  Tensor x = ones({3}).requires_grad_();
  const Tensor y = x * 2, first = y * 1;
  y.set_data(ones({1}));
  const Tensor second = y * 1;
  CHECK_THROWS_AS(autograd::backward({first.sum(), second.sum()}), AutogradError);
  CHECK_FALSE(x.grad().defined());

  Tensor leaf = ones({3}).requires_grad_();
  const Tensor before = leaf * 1;
  leaf.set_data(ones({1}));
  CHECK_THROWS_AS(autograd::backward({before.sum(), (leaf * 1).sum()}), AutogradError);
  CHECK_FALSE(leaf.grad().defined());
}

TEST_CASE("a saved parameter with replaced data is detected, also if the storage is the same") {
  Tensor w = arange(6, kFloat32).requires_grad_(), x = ones({6}).requires_grad_();
  SUBCASE("of another shape") {
    const Tensor y = w * x;
    w.set_data(w.detach().view({2, 3}));
    CHECK_THROWS_WITH_AS(y.sum().backward(),
                         "mul: expected a tensor saved for backward unchanged, got one that has "
                         "since been moved or replaced",
                         AutogradError);
  }
  SUBCASE("with other strides") {
    w.set_data(ones({2, 2}));
    const Tensor y = w.exp() * w;
    w.set_data(w.detach().t());
    CHECK_THROWS_AS(y.sum().backward(), AutogradError);
  }
  SUBCASE("in memory at the address of the old one") {
    for (int i = 0; i < 20; ++i) {
      const Tensor y = w * x;
      w.set_data(zeros({6}));  // the old storage may get the same address
      w.set_data(ones({6}));
      CHECK_THROWS_AS(y.sum().backward(), AutogradError);
    }
  }
}

TEST_CASE("saved results keep their values after set_data() of the tensor") {
  Tensor a = full({3}, 2.0).requires_grad_();
  const Tensor y = a * 1, z = (y * y).sum();
  y.set_data(ones({5}));
  z.backward();
  CHECK(a.grad().equal(full({3}, 4)));
}

TEST_CASE("set_data() of a view ends the view, and of a base ends its views") {
  const Tensor base = zeros({4});
  const Tensor view = base.slice(0, 0, 2);
  Tensor w = ones({3}).requires_grad_();
  SUBCASE("the view") {
    view.set_data(ones({3}));
    view.mul_(w);
    CHECK_FALSE(base.requires_grad());
    view.sum().backward();
    CHECK(w.grad().equal(ones({3})));
  }
  SUBCASE("the base") {
    base.set_data(zeros({3}));
    view.mul_(w.slice(0, 0, 2));
    CHECK_FALSE(base.requires_grad());
    view.sum().backward();
    CHECK(w.grad().equal(tensor({0.F, 0.F, 0.F})));
  }
  CHECK(base.equal(zeros_like(base)));
}

TEST_CASE("a .grad without the shape of its leaf is refused, and no leaf gets a gradient") {
  Tensor a = ones({3}).requires_grad_(), b = ones({3}).requires_grad_();
  b.mutable_grad() = ones({2, 3});
  CHECK_THROWS_WITH_AS((a * b).sum().backward(),
                       "backward: expected a .grad of sizes [3], got [2, 3]", ShapeError);
  CHECK_FALSE(a.grad().defined());
  CHECK(b.grad().equal(ones({2, 3})));
}
