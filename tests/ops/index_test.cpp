// x[...] in all its forms, compared with shapes and values of PyTorch; reads and writes by index
// tensors.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
using indexing::Ellipsis;
using indexing::None;
using indexing::Slice;

namespace {

// torch.arange(60).view(3, 4, 5)
Tensor cube(Device d) { return arange(60, d).view({3, 4, 5}); }

}  // namespace

TEST_CASE("integers, slices, None and ellipsis give views") {
  for_each_device([](Device d) {
    const Tensor x = cube(d);
    check_values(x.index({1, 2}), {5}, {30, 31, 32, 33, 34});
    check_values(x.index({-1, Slice(), 0}), {4}, {40, 45, 50, 55});
    check_values(x.index({Ellipsis, 1}).index({0}), {4}, {1, 6, 11, 16});
    check_values(x.index({0, "...", Slice(None, None, 2)}).index({0}), {3}, {0, 2, 4});
    CHECK(x.index({None, Slice(1), None, Slice(-2, None)}).sizes() == IntArrayRef{1, 2, 1, 2, 5});
    CHECK(x.index({Slice(0, 100), Slice(3, 1)}).sizes() == IntArrayRef{3, 0, 5});
    x.index({0, 0}).fill_(-1);
    check_values(x[0][0], {5}, {-1, -1, -1, -1, -1});
    check_values(tensor(5, d).index({None, Ellipsis}), {1}, {5});
  });
}

// PyTorch 2.15: torch.ops.aten.index(x, []) and libtorch's x.index({}) throw.
TEST_CASE("an empty list of indices is refused") {
  for_each_device([](Device d) {
    const Tensor x = cube(d);
    const std::vector<indexing::TensorIndex> none;
    CHECK_THROWS_WITH_AS(x.index({}), "index: expected at least one index, got none", IndexError);
    CHECK_THROWS_AS(x.index(none), IndexError);
    CHECK_THROWS_AS(x.index(std::vector<std::optional<Tensor>>()), IndexError);
    CHECK_THROWS_WITH_AS(x.index_put_({}, 0), "index_put_: expected at least one index, got none",
                         IndexError);
    CHECK_THROWS_AS(x.index_put_(none, zeros({}, x.options())), IndexError);
    CHECK_THROWS_AS(index_put(x, {}, zeros({}, x.options())), IndexError);
    CHECK(x.equal(cube(d)));
  });
}

TEST_CASE("the shape of a result of index tensors is PyTorch's") {
  for_each_device([](Device d) {
    const Tensor x = cube(d), two = tensor({0, 1}, d);
    const auto shape = [&](std::initializer_list<indexing::TensorIndex> i) {
      return x.index(i).sizes().vec();
    };
    using V = std::vector<int64_t>;
    // X[...].shape of X = torch.arange(60).view(3, 4, 5), T = torch.tensor([0, 1])
    CHECK(shape({two}) == V{2, 4, 5});
    CHECK(shape({Slice(), two}) == V{3, 2, 5});
    CHECK(shape({Slice(), two, tensor({{1}, {2}}, d)}) == V{3, 2, 2});
    CHECK(shape({two, Slice(), tensor({1, 2}, d)}) == V{2, 4});  // separated: their dims are first
    CHECK(shape({0, Slice(), tensor({1, 2}, d)}) == V{4, 2});
    CHECK(shape({tensor(1, d), Slice(), tensor({1, 2}, d)}) == V{4, 2});
    CHECK(shape({Slice(), Slice(), tensor({{0, 1, 2}}, d)}) == V{3, 4, 1, 3});
    CHECK(shape({tensor({0}, d), None, tensor({1, 2}, d)}) == V{2, 1, 5});
    CHECK(shape({Ellipsis, tensor({1}, d), None}) == V{3, 4, 1, 1});
    CHECK(shape({None, tensor({1, 2}, d), Ellipsis, tensor({0, 3}, d)}) == V{2, 1, 4});
    CHECK(shape({true}) == V{1, 3, 4, 5});
    CHECK(shape({false}) == V{0, 3, 4, 5});
    CHECK(shape({tensor(true, d)}) == V{1, 3, 4, 5});
    CHECK(shape({true, two}) == V{2, 4, 5});
    CHECK(shape({Slice(), true, two}) == V{3, 2, 5});
    CHECK(shape({tensor({true, false, true}, d), 1}) == V{2, 5});
    CHECK(shape({zeros({0}, TensorOptions(kInt64).device(d))}) == V{0, 4, 5});
  });
}

TEST_CASE("index tensors select, negative values count from the end, several are broadcast") {
  for_each_device([](Device d) {
    const Tensor x = cube(d);
    check_values(x.index({tensor({-1, 0}, d), 3, 4}), {2}, {59, 19});
    check_values(x.index({tensor({0, 2}, d), tensor({1, -1}, d)}).select(1, 0), {2}, {5, 55});
    check_values(x.index({tensor({{0}, {2}}, d), tensor({0, 3}, d), 0}), {2, 2}, {0, 15, 40, 55});
    check_values(x.index({tensor({0, 1}, d), Slice(0, 2), tensor({3, 4}, d)}), {2, 2},
                 {3, 8, 24, 29});
    check_values(x.permute({2, 0, 1}).index({tensor({4}, d), Slice(), tensor({0}, d)}), {1, 3},
                 {4, 24, 44});
    check_values(x[tensor({2}, d)].index({0, 0}), {5}, {40, 41, 42, 43, 44});
    const Tensor row = tensor({5., -1., 7.}, d);
    check_values(row.index({row > 0}), {2}, {5, 7});
    check_values(x.index({x > 57}), {2}, {58, 59});
    check_values(x.index({Slice(0, 1), tensor({false, true, false, true}, d), 0}), {1, 2}, {5, 15});
  });
}

TEST_CASE("index tensors may be on cpu, whatever the device") {
  for_each_device([](Device d) {
    const Tensor x = cube(d), i = tensor({2, 0});
    check_values(x.index({i, 0, 0}), {2}, {40, 0});
    check_values(x.index({tensor({true, false, false}), 0, i.to(d)}), {2}, {2, 0});
    x.index_put_({i, tensor({true, false, false, false})}, 0);
    CHECK(x.index({i, 0}).equal(zeros({2, 5}, TensorOptions(kInt64).device(d))));
  });
}

TEST_CASE("the error of an invalid index has the range and the position") {
  for_each_device([](Device d) {
    const Tensor x = cube(d);
    CHECK_THROWS_WITH_AS(x.index({tensor({0, 5})}),
                         "index: expected an index in [-3, 3) for dim 0, got 5", IndexError);
    CHECK_THROWS_WITH_AS(x.index({0, Slice(), tensor({-6})}),
                         "index: expected an index in [-5, 5) for dim 2, got -6", IndexError);
    CHECK_THROWS_WITH_AS(x.index({None, 3}), "index: expected an index in [-3, 3) for dim 0, got 3",
                         IndexError);
    // This also holds on devices where only the kernel reads the value; no other element is read.
    CHECK_THROWS_AS(x.index({tensor({5}, d)}).cpu(), IndexError);
    CHECK_THROWS_AS(x.index({tensor({0}, d), tensor({4}, d)}).cpu(), IndexError);
    CHECK_THROWS_AS(x.index({0, 0, 0, 0}), IndexError);
    CHECK_THROWS_AS(x.index({Ellipsis, Ellipsis}), IndexError);
    CHECK_THROWS_AS(x.index({tensor({true, false}, d)}), IndexError);
    CHECK_THROWS_AS(x.index({tensor({1.}, d)}), DTypeError);
    CHECK_THROWS_AS(x.index({tensor({0, 1}, d), tensor({0, 1, 2}, d)}), ShapeError);
    CHECK_THROWS_AS(x.index({Slice(None, None, 0)}), Error);
    CHECK_THROWS_AS(x.index({"dots"}), Error);
  });
}

TEST_CASE("index_put_ writes through views, copies and masks") {
  for_each_device([](Device d) {
    const auto fresh = [d] { return zeros({2, 3}, d); };
    const Tensor a = fresh();
    a.index_put_({1}, tensor({1., 2., 3.}, d));
    check_values(a, {2, 3}, {0, 0, 0, 1, 2, 3});
    a.index_put_({Ellipsis, Slice(None, None, 2)}, 9);
    check_values(a, {2, 3}, {9, 0, 9, 9, 2, 9});
    const Tensor b = fresh();
    b.index_put_({Slice(), tensor({2, 0}, d)}, tensor({{1., 2.}, {3., 4.}}, d));
    check_values(b, {2, 3}, {2, 0, 1, 4, 0, 3});
    const Tensor c = fresh();
    index_put_(c, {tensor({0, 1, 0}, d), tensor({0, -1, 0}, d)}, tensor({1., 2., 4.}, d), true);
    check_values(c, {2, 3}, {5, 0, 0, 0, 0, 2});
    const Tensor e = arange(6, TensorOptions(kFloat32).device(d)).view({2, 3});
    e.index_put_({e > 3}, -1);
    check_values(e, {2, 3}, {0, 1, 2, 3, -1, -1});
    index_put_(e, {0}, tensor({1., 1., 1.}, d), true);
    check_values(e, {2, 3}, {1, 2, 3, 3, -1, -1});
    // Indexed dims that cannot be merged into one view
    const Tensor f = zeros({2, 3}, d);
    f.t().index_put_({tensor({0, 2}, d), tensor({1, 0}, d)}, tensor({7., 8.}, d));
    check_values(f, {2, 3}, {0, 0, 8, 7, 0, 0});
    const Tensor g = zeros({2, 2, 3}, d);  // separated, too
    g.index_put_({tensor({0, 1}, d), Slice(), tensor({0, 2}, d)}, tensor({{1.}, {2.}}, d));
    check_values(g, {2, 2, 3}, {1, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 2});
  });
}

TEST_CASE("index_put_ that fails changes nothing") {
  for_each_device([](Device d) {
    const Tensor x = ones({2, 3}, d);
    const auto version = x.version();
    CHECK_THROWS_AS(x.index_put_({tensor({0, 2})}, 5), IndexError);
    CHECK_THROWS_AS(x.index_put_({tensor({0, 1}, d)}, ones({4}, d)), ShapeError);
    CHECK_THROWS_AS(x.index_put_({0}, ones({4}, d)), ShapeError);
    CHECK_THROWS_AS(x.index_put_({tensor({0}, d)}, tensor({1}, d)), DTypeError);
    CHECK_THROWS_AS(x.index_put_({tensor({0}, d)}, zeros({3}, kMeta)), DeviceMismatchError);
    check_values(x, {2, 3}, {1, 1, 1, 1, 1, 1});
    CHECK(x.version() == version);
  });
}

TEST_CASE("gather reads along a dim; index may be smaller than self") {
  for_each_device([](Device d) {
    const Tensor x = arange(6, d).view({2, 3});
    check_values(gather(x, 1, tensor({{2, 0}, {1, 1}}, d)), {2, 2}, {2, 0, 4, 4});
    check_values(gather(x, 0, tensor({{1, 0, 1}}, d)), {1, 3}, {3, 1, 5});
    check_values(gather(x.t(), -1, tensor({{1}, {0}}, d)), {2, 1}, {3, 1});
    check_values(gather(tensor(5, d), 0, tensor({0, 0}, d)), {2}, {5, 5});
    check_values(gather(tensor({5, 6}, d), 0, tensor(1, d)), {}, {6});
    CHECK(gather(x, 0, zeros({0}, TensorOptions(kInt64).device(d))).sizes() == IntArrayRef{0});
    CHECK_THROWS_AS(gather(x, 0, tensor({{2, 0, 0}}, d)).cpu(), IndexError);
    CHECK_THROWS_AS(gather(x, 1, tensor({{-1}}, d)).cpu(), IndexError);
    CHECK_THROWS_AS(gather(x, 0, tensor({{0, 0, 0, 0}}, d)), ShapeError);
    CHECK_THROWS_AS(gather(x, 0, tensor({0}, d)), ShapeError);
    CHECK_THROWS_AS(gather(x, 0, tensor({{0.}}, d)), DTypeError);
  });
}

TEST_CASE("scatter writes and scatter_add adds along a dim; src may be larger than index") {
  for_each_device([](Device d) {
    const Tensor x = zeros({2, 3}, d), src = tensor({{1., 2., 3.}, {4., 5., 6.}}, d);
    const Tensor i = tensor({{2, 0}, {0, 0}}, d);
    check_values(scatter(x, 1, tensor({{2, 0}, {0, 1}}, d), src), {2, 3}, {2, 0, 1, 4, 5, 0});
    check_values(scatter_add(x, 1, i, src), {2, 3}, {2, 0, 1, 9, 0, 0});
    check_values(x, {2, 3}, {0, 0, 0, 0, 0, 0});
    x.scatter_add_(1, i, src).scatter_(0, tensor({{1, 0, 0}}, d), src);
    check_values(x, {2, 3}, {2, 2, 3, 1, 0, 0});
    const Tensor y = zeros({3, 2}, d);
    y.t().scatter_(1, tensor({{2}, {1}}, d), src);
    check_values(y, {3, 2}, {0, 0, 0, 4, 1, 0});
    check_values(scatter(tensor(5., d), 0, tensor({0}, d), tensor({7.}, d)), {}, {7});
    CHECK_THROWS_AS(scatter(x, 1, i, src.slice(0, 0, 1)), ShapeError);
    CHECK_THROWS_AS(scatter(x, 1, i, src.to(kInt64)), DTypeError);
  });
  const Tensor x = ones({2, 2});
  CHECK_THROWS_WITH_AS(x.scatter_(0, tensor({{0, 1}, {2, 0}}), zeros({2, 2})),
                       "scatter_: expected an index in [0, 2) for dim 0, got 2", IndexError);
  check_values(x, {2, 2}, {1, 1, 1, 1});
}

// PyTorch 2.15: x = torch.arange(6.).view(2, 3); i = torch.tensor([[0, 1, 1], [1, 0, 0]]).int();
// torch.gather(x, 1, i), torch.zeros(2, 3).scatter(1, i, x), .scatter(1, i, 2.5),
// .scatter_add(1, i, x), .scatter_reduce(1, i, x, 'mean'); gradients of the square sums.
TEST_CASE("gather and the scatters accept an int32 index") {
  for_each_device([](Device d) {
    const Tensor x = arange(6, TensorOptions(kFloat64).device(d)).view({2, 3});
    const Tensor none = zeros_like(x), i = tensor({{0, 1, 1}, {1, 0, 0}}, d).to(kInt32);
    check_values(gather(x, 1, i), {2, 3}, {0, 1, 1, 4, 3, 3});
    // Any of several writes to one element may be the last: write equal numbers.
    check_values(scatter(none, 1, i, ones_like(x)), {2, 3}, {1, 1, 0, 1, 1, 0});
    check_values(scatter(none, 1, i, 2.5), {2, 3}, {2.5, 2.5, 0, 2.5, 2.5, 0});
    check_values(scatter(none, 1, i, x, "add"), {2, 3}, {0, 3, 0, 9, 3, 0});
    check_values(scatter(ones_like(x), 1, i, 2.5, "multiply"), {2, 3},
                 {2.5, 6.25, 1, 6.25, 2.5, 1});
    check_values(scatter_add(none, 1, i, x), {2, 3}, {0, 3, 0, 9, 3, 0});
    check_values(scatter_reduce(none, 1, i, x, "mean"), {2, 3}, {0, 1, 0, 3, 1.5, 0});
    check_values(none.clone().scatter_add_(1, i, x), {2, 3}, {0, 3, 0, 9, 3, 0});
    check_values(none.clone().scatter_(1, i, 2.5), {2, 3}, {2.5, 2.5, 0, 2.5, 2.5, 0});
    check_values(none.clone().scatter_reduce_(1, i, x, "mean"), {2, 3}, {0, 1, 0, 3, 1.5, 0});
    CHECK_THROWS_AS(gather(x, 1, tensor({{3}}, d).to(kInt32)).cpu(), IndexError);

    const Tensor self = x.clone().requires_grad_(), src = x.clone().requires_grad_();
    gather(self, 1, i).pow(2).sum().backward();
    check_values(self.grad(), {2, 3}, {0, 4, 0, 12, 8, 0});
    self.mutable_grad() = Tensor();
    scatter_reduce(self, 1, i, src, "prod").pow(2).sum().backward();
    check_values(self.grad(), {2, 3}, {0, 8, 4, 2400, 72, 10});
    check_values(src.grad(), {2, 3}, {0, 8, 4, 96, 1800, 1440});
  });
  for (const DType dtype : {kUInt8, kInt16, kBool}) {
    const Tensor x = ones({2}), i = zeros({2}, dtype);
    CHECK_THROWS_AS(gather(x, 0, i), DTypeError);
    CHECK_THROWS_AS(scatter(x, 0, i, x), DTypeError);
    CHECK_THROWS_AS(scatter_reduce(x, 0, i, x, "sum"), DTypeError);
  }
}

TEST_CASE("scattering with an empty index has gradients: zeros for src") {
  for_each_device([](Device d) {
    const Tensor nowhere = zeros({0}, TensorOptions(kInt64).device(d));
    const Tensor x = ones({3}, d).set_requires_grad(true),
                 src = ones({2}, d).set_requires_grad(true);
    (scatter_add(x, 0, nowhere, src) * 2).sum().backward();
    check_values(x.grad(), {3}, {2, 2, 2});
    check_values(src.grad(), {2}, {0, 0});
    const Tensor y = zeros({3}, d);
    y.scatter_(0, nowhere, src).sum().backward();
    check_values(src.grad(), {2}, {0, 0});
  });
}

TEST_CASE("index_select and embedding select slices, for int64 and int32 indices") {
  for_each_device([](Device d) {
    const Tensor x = arange(6, TensorOptions(kFloat32).device(d)).view({2, 3});
    check_values(index_select(x, 1, tensor({2, 2, 0}, d)), {2, 3}, {2, 2, 0, 5, 5, 3});
    check_values(index_select(x.t(), 0, tensor({1}, TensorOptions(kInt32).device(d))), {1, 2},
                 {1, 4});
    check_values(index_select(x, 0, tensor(1, d)), {1, 3}, {3, 4, 5});
    check_values(index_select(tensor(5, d), 0, tensor({0}, d)), {}, {5});
    CHECK_THROWS_AS(index_select(x, 0, tensor({2}, d)).cpu(), IndexError);
    CHECK_THROWS_AS(index_select(x, 0, tensor({{0}}, d)), ShapeError);
    CHECK_THROWS_AS(index_select(x, 0, tensor({0.}, d)), DTypeError);
    check_values(embedding(x, tensor({{1, 0}, {0, 0}}, d)).select(2, 1), {2, 2}, {4, 1, 1, 1});
    CHECK(embedding(x, tensor(1, d)).sizes() == IntArrayRef{3});
    CHECK_THROWS_AS(embedding(x, tensor({2}, d)).cpu(), IndexError);
  });
  CHECK_THROWS_WITH_AS(embedding(ones({2, 3}), tensor({0, 7})),
                       "embedding: expected an index in [0, 2) for dim 0, got 7", IndexError);
}

TEST_CASE("nonzero, masked_select and one_hot find their positions") {
  for_each_device([](Device d) {
    check_values(nonzero(tensor({{0, 3}, {4, 0}}, d)), {2, 2}, {0, 1, 1, 0});
    check_values(nonzero(tensor({0., NAN, -0.}, d)), {1, 1}, {1});
    CHECK(nonzero(tensor(5, d)).sizes() == IntArrayRef{1, 0});
    CHECK(nonzero(zeros({2, 2}, d)).sizes() == IntArrayRef{0, 2});
    const Tensor x = arange(6, d).view({2, 3});
    check_values(masked_select(x, tensor({true, false, true}, d)), {4}, {0, 2, 3, 5});
    check_values(masked_select(x.t(), tensor({false, true}, d)), {3}, {3, 4, 5});
    check_values(masked_select(tensor(5, d), tensor({true, true}, d)), {2}, {5, 5});
    check_values(one_hot(tensor({0, 2}, d)), {2, 3}, {1, 0, 0, 0, 0, 1});
    CHECK(one_hot(tensor({{0}}, d), 4).sizes() == IntArrayRef{1, 1, 4});
    CHECK_THROWS_AS(masked_select(x, x), DTypeError);
  });
  CHECK_THROWS_AS(one_hot(tensor({0, 2}), 2), IndexError);
  CHECK_THROWS_AS(one_hot(tensor({-1, 2})), IndexError);
}

TEST_CASE("meta infers shapes of indexing, and refuses functions whose shape depends on data") {
  const Tensor x = zeros({3, 4}, kMeta), i = zeros({2}, dtype(kInt64).device(kMeta));
  CHECK(x.index({i, Slice(1)}).sizes() == IntArrayRef{2, 3});
  CHECK(x.index({tensor({0, 2})}).sizes() == IntArrayRef{2, 4});
  CHECK(x.index({zeros({}, dtype(kInt64).device(kMeta))}).sizes() == IntArrayRef{4});
  CHECK(gather(x, 0, zeros({1, 4}, dtype(kInt64).device(kMeta))).sizes() == IntArrayRef{1, 4});
  CHECK_THROWS_AS(x.index({x > 0}), NotImplementedError);
  CHECK_THROWS_AS(nonzero(x), NotImplementedError);
  CHECK_THROWS_AS(masked_select(x, x > 0), NotImplementedError);
}

TEST_CASE("scatter_ and index_put_ refuse an output that overlaps an operand") {
  for_each_device([](Device d) {
    const Tensor x = tensor({1, 0}, d);
    CHECK_THROWS_AS(x.scatter_(0, tensor({1, 0}, d), x), Error);
    CHECK_THROWS_AS(x.scatter_(0, x, tensor({5, 6}, d)), Error);
    CHECK_THROWS_AS(x.index_put_({tensor({1, 0})}, x), Error);
    check_values(x, {2}, {1, 0});
  });
}

TEST_CASE("index_put_ may write to its index, whose change is an error in backward") {
  for_each_device([](Device d) {
    const Tensor self = tensor({2, 0, 1, 1}, d);
    self.index_put_({self.slice(0, 0, 3)}, tensor({7, 8, 9}, d));
    check_values(self, {4}, {8, 9, 7, 1});
  });
  const Tensor x = arange(4.0).requires_grad_(), index = tensor({3, 1});
  const Tensor y = x.index({index});
  index.fill_(0);
  CHECK_THROWS_AS(y.sum().backward(), Error);
}
