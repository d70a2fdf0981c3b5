// Assignment to the result of a function writes through to the tensor, as in programs for libtorch.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <vector>

using namespace ambit;
using indexing::Slice;

TEST_CASE("assignment to an element, a row or a view writes into the tensor") {
  Tensor y = zeros({3, 4});
  const Tensor x = arange(4);
  y[2] = x * 5;
  y[0][1] = 7;
  y.index({Slice(), 3}) = tensor({1., 2., 3.});
  y.select(0, 1).slice(0, 0, 2) = -1;
  CHECK(y.equal(tensor({{0., 7., 0., 1.}, {-1., -1., 0., 2.}, {0., 5., 10., 3.}})));
  y.view({2, 6})[1] = ones({1});
  CHECK(y.equal(tensor({{0., 7., 0., 1.}, {-1., -1., 1., 1.}, {1., 1., 1., 1.}})));
}

TEST_CASE("assignment to a named tensor rebinds the handle, and moves") {
  Tensor a = ones({2}), b = zeros({2});
  Tensor c = a;
  c = b;
  CHECK(a.equal(ones({2})));
  CHECK(c.is_same(b));
  std::vector<Tensor> list(2);
  list[0] = a;
  CHECK(list[0].is_same(a));
  Tensor d = std::move(a);
  CHECK_FALSE(a.defined());
  d = {};
  CHECK_FALSE(d.defined());
}

TEST_CASE("gradients can be averaged through data()") {
  const Tensor p = tensor({1., 2.}, TensorOptions(kFloat32).requires_grad(true));
  (p * 4).sum().backward();
  p.grad().data() = p.grad() / 2;
  CHECK(p.grad().equal(tensor({2., 2.})));
}

TEST_CASE("writes through a result are recorded") {
  const Tensor x = tensor({2., 3.}, TensorOptions(kFloat64)).requires_grad_();
  const Tensor y = zeros({2, 2}, kFloat64);
  y[0] = x * x;
  y[1][0] = 5;
  y.index({1, 1}) = x[0];
  CHECK(y.requires_grad());
  y.sum().backward();
  CHECK(x.grad().equal(tensor({5., 6.}, kFloat64)));
}

TEST_CASE("values written through a result are converted and broadcast, or refused") {
  const Tensor y = zeros({2, 3}, kInt64);
  y[0] = tensor({1.9, -1.9, 2.});
  y[1] = full({1}, 4);
  CHECK(y.equal(tensor({{1, -1, 2}, {4, 4, 4}})));
  CHECK_THROWS_AS(y[0] = ones({2}), ShapeError);
  CHECK_THROWS_AS(y[0] = ones({2, 3}), ShapeError);
  CHECK_THROWS_AS(y[2] = 1, IndexError);
  CHECK_THROWS_AS(Tensor() = y, Error);
  const Tensor leaf = ones({2}).requires_grad_();
  CHECK_THROWS_AS(leaf[0] = 1, AutogradError);
}

TEST_CASE("assignment without an effect is refused") {
  const Tensor x = zeros({3});
  CHECK_THROWS_AS(x[x == 0] = 1, Error);
  CHECK_THROWS_AS(x.index({x == 0}) = ones({3}), Error);
  CHECK_THROWS_AS(x + 1 = x, Error);
  std::vector<float> memory(3);
  from_blob(memory.data(), {3}) = arange(3);
  CHECK(memory[2] == 2);
}

TEST_CASE("methods that write return the tensor, which may be written again") {
  Tensor x = zeros({2});
  Tensor& same = x.add_(1).mul_(3);
  CHECK(&same == &x);
  same.fill_(2).clamp_(0, 1).requires_grad_();
  CHECK(x.equal(ones({2})));
}

TEST_CASE("one number is accepted as a list of one") {
  CHECK(ones(3).sizes() == IntArrayRef({3}));
  CHECK(zeros({2, 3}).view(-1).sizes() == IntArrayRef({6}));
  CHECK(zeros({2, 3}).sum(1).sizes() == IntArrayRef({2}));
  CHECK(zeros(1).expand(4).sizes() == IntArrayRef({4}));
}
