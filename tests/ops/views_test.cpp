// Views other than those of shape_test.cpp: PyTorch's values, gradients, aliasing, in place,
// errors.
#include <ambit/ambit.h>

#include <limits>

#include "oracle_cases.h"

using namespace ambit;
using namespace oracle;

namespace {

// a = torch.arange(6.).view(2, 3); v = torch.arange(3.) + 10; s = torch.tensor(7.)
// c = torch.arange(24.).view(2, 3, 4)
std::vector<Tensor> inputs(Device device) {
  const TensorOptions o = TensorOptions(kFloat64).device(device);
  return {arange(6, o).view({2, 3}), arange(10, 13, o), tensor(7, o),
          arange(24, o).view({2, 3, 4})};
}

#define CASE(python, call, ...)                                             \
  Case {                                                                    \
    python,                                                                 \
        [](const std::vector<Tensor>& in) {                                 \
          const Tensor &a = in[0], &v = in[1], &s = in[2], &c = in[3];      \
          static_cast<void>(a), static_cast<void>(v), static_cast<void>(s); \
          static_cast<void>(c);                                             \
          return listed(call);                                              \
        },                                                                  \
        __VA_ARGS__                                                         \
  }

const std::vector<Case> kViews{
    CASE("torch.swapaxes(c, 0, -1)", swapaxes(c, 0, -1),
         {{{4, 3, 2}, {0, 12, 4, 16, 8,  20, 1, 13, 5, 17, 9,  21,
                       2, 14, 6, 18, 10, 22, 3, 15, 7, 19, 11, 23}}}),
    CASE("torch.swapdims(a, 0, 1)", swapdims(a, 0, 1), {{{3, 2}, {0, 3, 1, 4, 2, 5}}}),
    CASE("a.adjoint()", a.adjoint(), {{{3, 2}, {0, 3, 1, 4, 2, 5}}}),
    CASE("c.mT", c.mT(), {{{2, 4, 3}, {0,  4,  8,  1,  5,  9,  2,  6,  10, 3,  7,  11,
                                       12, 16, 20, 13, 17, 21, 14, 18, 22, 15, 19, 23}}}),
    CASE("s.mH", s.mH(), {{{}, {7}}}),
    CASE("a.H", a.matrix_H(), {{{3, 2}, {0, 3, 1, 4, 2, 5}}}),
    CASE("c.permute((2, 1, 0))", c.numpy_T(),
         {{{4, 3, 2}, {0, 12, 4, 16, 8,  20, 1, 13, 5, 17, 9,  21,
                       2, 14, 6, 18, 10, 22, 3, 15, 7, 19, 11, 23}}}),
    CASE("torch.movedim(c, 0, 2)", movedim(c, 0, 2),
         {{{3, 4, 2}, {0, 12, 1, 13, 2, 14, 3, 15, 4,  16, 5,  17,
                       6, 18, 7, 19, 8, 20, 9, 21, 10, 22, 11, 23}}}),
    CASE("torch.movedim(c, (0, 1), (1, 2))", movedim(c, {0, 1}, {1, 2}),
         {{{4, 2, 3}, {0, 4, 8,  12, 16, 20, 1, 5, 9,  13, 17, 21,
                       2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23}}}),
    CASE("torch.movedim(s, 0, 0)", movedim(s, 0, 0), {{{}, {7}}}),
    CASE("torch.moveaxis(c, -1, 0)", moveaxis(c, -1, 0),
         {{{4, 2, 3}, {0, 4, 8,  12, 16, 20, 1, 5, 9,  13, 17, 21,
                       2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23}}}),
    CASE("c.moveaxis((2,), (0,))", c.moveaxis(IntArrayRef{2}, IntArrayRef{0}),
         {{{4, 2, 3}, {0, 4, 8,  12, 16, 20, 1, 5, 9,  13, 17, 21,
                       2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23}}}),
    CASE("a.movedim((), ())", a.movedim(IntArrayRef{}, IntArrayRef{}),
         {{{2, 3}, {0, 1, 2, 3, 4, 5}}}),
    CASE("torch.atleast_1d(s)", atleast_1d(s), {{{1}, {7}}}),
    CASE("torch.atleast_2d(s)", atleast_2d(s), {{{1, 1}, {7}}}),
    CASE("torch.atleast_2d(v)", atleast_2d(v), {{{1, 3}, {10, 11, 12}}}),
    CASE("torch.atleast_3d(s)", atleast_3d(s), {{{1, 1, 1}, {7}}}),
    CASE("torch.atleast_3d(v)", atleast_3d(v), {{{1, 3, 1}, {10, 11, 12}}}),
    CASE("torch.atleast_3d(a)", atleast_3d(a), {{{2, 3, 1}, {0, 1, 2, 3, 4, 5}}}),
    CASE("torch.atleast_2d([s, v, a])", atleast_2d({s, v, a}),
         {{{1, 1}, {7}}, {{1, 3}, {10, 11, 12}}, {{2, 3}, {0, 1, 2, 3, 4, 5}}}),
    CASE("torch.broadcast_to(v, (2, 3))", broadcast_to(v, {2, 3}),
         {{{2, 3}, {10, 11, 12, 10, 11, 12}}}),
    CASE("torch.broadcast_tensors(v, a, s)", broadcast_tensors({v, a, s}),
         {{{2, 3}, {10, 11, 12, 10, 11, 12}},
          {{2, 3}, {0, 1, 2, 3, 4, 5}},
          {{2, 3}, {7, 7, 7, 7, 7, 7}}}),
    CASE("torch.meshgrid(v, s, indexing='ij')", meshgrid({v, s}, "ij"),
         {{{3, 1}, {10, 11, 12}}, {{3, 1}, {7, 7, 7}}}),
    CASE("torch.meshgrid(v, a[0], indexing='xy')", meshgrid({v, a[0]}, "xy"),
         {{{3, 3}, {10, 11, 12, 10, 11, 12, 10, 11, 12}}, {{3, 3}, {0, 0, 0, 1, 1, 1, 2, 2, 2}}}),
    CASE("torch.meshgrid(v, s, a[1], indexing='xy')", meshgrid({v, s, a[1]}, "xy"),
         {{{1, 3, 3}, {10, 10, 10, 11, 11, 11, 12, 12, 12}},
          {{1, 3, 3}, {7, 7, 7, 7, 7, 7, 7, 7, 7}},
          {{1, 3, 3}, {3, 4, 5, 3, 4, 5, 3, 4, 5}}}),
    CASE("torch.meshgrid(v, indexing='xy')", meshgrid({v}, "xy"), {{{3}, {10, 11, 12}}}),
    CASE("a.narrow(1, torch.tensor(1), 2)", a.narrow(1, tensor(1), 2), {{{2, 2}, {1, 2, 4, 5}}}),
    CASE("a.unfold(1, 2, 1)", a.unfold(1, 2, 1), {{{2, 2, 2}, {0, 1, 1, 2, 3, 4, 4, 5}}}),
    CASE(
        "c.unfold(-1, 3, 1)", c.unfold(-1, 3, 1),
        {{{2, 3, 2, 3}, {0,  1,  2,  1,  2,  3,  4,  5,  6,  5,  6,  7,  8,  9,  10, 9,  10, 11,
                         12, 13, 14, 13, 14, 15, 16, 17, 18, 17, 18, 19, 20, 21, 22, 21, 22, 23}}}),
    CASE("c.unfold(1, 2, 2)", c.unfold(1, 2, 2),
         {{{2, 1, 4, 2}, {0, 4, 1, 5, 2, 6, 3, 7, 12, 16, 13, 17, 14, 18, 15, 19}}}),
    CASE("s.unfold(0, 1, 1)", s.unfold(0, 1, 1), {{{1}, {7}}}),
    CASE("s.unfold(0, 0, 1)", s.unfold(0, 0, 1), {{{0}, {}}}),
    CASE("a.unfold(1, 0, 2)", a.unfold(1, 0, 2), {{{2, 2, 0}, {}}}),
    CASE("c.unfold(2, 2, 1).unfold(1, 2, 1)", c.unfold(2, 2, 1).unfold(1, 2, 1),
         {{{2, 2, 3, 2, 2}, {0,  4,  1,  5,  1,  5,  2,  6,  2,  6,  3,  7,  4,  8,  5,  9,
                             5,  9,  6,  10, 6,  10, 7,  11, 12, 16, 13, 17, 13, 17, 14, 18,
                             14, 18, 15, 19, 16, 20, 17, 21, 17, 21, 18, 22, 18, 22, 19, 23}}}),
    CASE("c[:0].unfold(1, 2, 1)", c.narrow(0, 0, 0).unfold(1, 2, 1), {{{0, 2, 4, 2}, {}}}),
    CASE("torch.diagonal(a)", diagonal(a), {{{2}, {0, 4}}}),
    CASE("torch.diagonal(a, 1)", diagonal(a, 1), {{{2}, {1, 5}}}),
    CASE("torch.diagonal(a, -1)", diagonal(a, -1), {{{1}, {3}}}),
    CASE("torch.diagonal(a, 5)", diagonal(a, 5), {{{0}, {}}}),
    CASE("torch.diagonal(c, 1, -1, 0)", diagonal(c, 1, -1, 0), {{{3, 1}, {12, 16, 20}}}),
    CASE("torch.diagonal(c, 0, 1, 2)", diagonal(c, 0, 1, 2), {{{2, 3}, {0, 5, 10, 12, 17, 22}}}),
    CASE("torch.linalg.diagonal(c, offset=-1)", linalg_diagonal(c, -1), {{{2, 2}, {4, 9, 16, 21}}}),
    CASE("torch.ravel(a.t())", ravel(a.t()), {{{6}, {0, 3, 1, 4, 2, 5}}}),
    CASE("torch.unflatten(c, 2, (2, 2))", unflatten(c, 2, {2, 2}),
         {{{2, 3, 2, 2}, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                          12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}}}),
    CASE("a.unflatten(-1, (3, -1))", a.unflatten(-1, {3, -1}), {{{2, 3, 1}, {0, 1, 2, 3, 4, 5}}}),
    CASE("c[:, :0].unflatten(1, (3, 0))", c.narrow(1, 0, 0).unflatten(1, {3, 0}),
         {{{2, 3, 0, 4}, {}}}),
    CASE("torch.split_with_sizes(a, (1, 2), 1)", split_with_sizes(a, {1, 2}, 1),
         {{{2, 1}, {0, 3}}, {{2, 2}, {1, 2, 4, 5}}}),
    CASE("a.unsafe_split(1)", a.unsafe_split(1), {{{1, 3}, {0, 1, 2}}, {{1, 3}, {3, 4, 5}}}),
    CASE("a.unsafe_split_with_sizes((2, 1), 1)", a.unsafe_split_with_sizes({2, 1}, 1),
         {{{2, 2}, {0, 1, 3, 4}}, {{2, 1}, {2, 5}}}),
    CASE("a.unsafe_chunk(2, 1)", a.unsafe_chunk(2, 1), {{{2, 2}, {0, 1, 3, 4}}, {{2, 1}, {2, 5}}}),
    CASE("torch.tensor_split(c, 3, 2)", tensor_split(c, 3, 2),
         {{{2, 3, 2}, {0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21}},
          {{2, 3, 1}, {2, 6, 10, 14, 18, 22}},
          {{2, 3, 1}, {3, 7, 11, 15, 19, 23}}}),
    CASE("torch.tensor_split(v, 5)", tensor_split(v, 5),
         {{{1}, {10}}, {{1}, {11}}, {{1}, {12}}, {{0}, {}}, {{0}, {}}}),
    CASE("torch.tensor_split(c, (1, 3), -1)", tensor_split(c, {1, 3}, -1),
         {{{2, 3, 1}, {0, 4, 8, 12, 16, 20}},
          {{2, 3, 2}, {1, 2, 5, 6, 9, 10, 13, 14, 17, 18, 21, 22}},
          {{2, 3, 1}, {3, 7, 11, 15, 19, 23}}}),
    CASE("torch.tensor_split(c, (-3, 9, 2), 2)", tensor_split(c, {-3, 9, 2}, 2),
         {{{2, 3, 1}, {0, 4, 8, 12, 16, 20}},
          {{2, 3, 3}, {1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23}},
          {{2, 3, 0}, {}},
          {{2, 3, 2}, {2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23}}}),
    CASE("torch.tensor_split(v, ())", tensor_split(v, IntArrayRef{}), {{{3}, {10, 11, 12}}}),
    CASE("torch.tensor_split(v, torch.tensor(2))", tensor_split(v, tensor(2)),
         {{{2}, {10, 11}}, {{1}, {12}}}),
    CASE("torch.tensor_split(v, torch.tensor([1, 2]))", tensor_split(v, tensor({1, 2})),
         {{{1}, {10}}, {{1}, {11}}, {{1}, {12}}}),
    CASE("torch.hsplit(v, 3)", hsplit(v, 3), {{{1}, {10}}, {{1}, {11}}, {{1}, {12}}}),
    CASE("torch.hsplit(a, (1, 2))", hsplit(a, {1, 2}),
         {{{2, 1}, {0, 3}}, {{2, 1}, {1, 4}}, {{2, 1}, {2, 5}}}),
    CASE("torch.hsplit(c, 3)", hsplit(c, 3),
         {{{2, 1, 4}, {0, 1, 2, 3, 12, 13, 14, 15}},
          {{2, 1, 4}, {4, 5, 6, 7, 16, 17, 18, 19}},
          {{2, 1, 4}, {8, 9, 10, 11, 20, 21, 22, 23}}}),
    CASE("torch.vsplit(a, 2)", vsplit(a, 2), {{{1, 3}, {0, 1, 2}}, {{1, 3}, {3, 4, 5}}}),
    CASE("torch.vsplit(a, (1,))", vsplit(a, IntArrayRef{1}),
         {{{1, 3}, {0, 1, 2}}, {{1, 3}, {3, 4, 5}}}),
    CASE("torch.dsplit(c, 2)", dsplit(c, 2),
         {{{2, 3, 2}, {0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21}},
          {{2, 3, 2}, {2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23}}}),
    CASE("torch.dsplit(c, (3,))", dsplit(c, IntArrayRef{3}),
         {{{2, 3, 3}, {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18, 20, 21, 22}},
          {{2, 3, 1}, {3, 7, 11, 15, 19, 23}}}),
    CASE("torch.concat([v, v])", concat({v, v}), {{{6}, {10, 11, 12, 10, 11, 12}}}),
    CASE("torch.concatenate([a, a], 1)", concatenate({a, a}, 1),
         {{{2, 6}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}}}),
};

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

bool aliases(const Tensor& a, const Tensor& b) { return a.storage().get() == b.storage().get(); }

}  // namespace

TEST_CASE("views have PyTorch's values") { check_cases(kViews, inputs); }

TEST_CASE("views have correct first and second gradients") {
  check_gradients(kViews, inputs(kCPU));
}

TEST_CASE("views alias their input, for any strides") {
  for_each_device([](Device d) {
    const Tensor x = arange(24, TensorOptions(kFloat64).device(d)).view({2, 3, 4});
    for (const Tensor& view :
         {movedim(x, 0, -1), x.unfold(2, 2, 2), diagonal(x, 1, 2, 0), unflatten(x.mT(), 1, {2, 2}),
          tensor_split(x, 2, 2)[1], hsplit(x, IntArrayRef{1})[1], atleast_3d(x[0]),
          meshgrid({x[0][0]})[0], broadcast_to(x, {5, 2, 3, 4}), adjoint(x), x.numpy_T()}) {
      CHECK(aliases(view, x));
    }
    x.unfold(2, 2, 2).select(3, 1).fill_(-1);
    diagonal(x, 0, 1, 2).mul_(10);
    check_values(x[1], {3, 4}, {120, -1, 14, -1, 16, -10, 18, -1, 20, -1, 220, -1});
    CHECK(diagonal(x, kLeast).sizes() == IntArrayRef{4, 0});
    CHECK(diagonal(x, std::numeric_limits<int64_t>::max(), 1, 2).sizes() == IntArrayRef{2, 0});
    // Windows and diagonals of a view.
    check_values(diagonal(x.mT()[0]), {3}, {0, -10, 100});
    check_values(x[0].t().unfold(0, 3, 1)[1][2], {3}, {-1, 100, -1});
  });
}

TEST_CASE("writes through windows and diagonals are recorded") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {3, 4}).requires_grad_(), y = x.clone();
    y.diagonal(1).mul_(2);
    y.unfold(1, 2, 2).select(1, 0).fill_(0);
    y.sum().backward();
    // x.grad of the same in PyTorch
    check_values(x.grad(), {3, 4}, {0, 0, 1, 1, 0, 0, 2, 1, 0, 0, 1, 2});
  });
}

TEST_CASE("view of another dtype has the same bytes") {
  for_each_device([](Device d) {
    const Tensor x = tensor({{1.f, 2.f}, {0.5f, -0.f}}, d);
    const Tensor bits = x.view(kInt32);
    CHECK(aliases(bits, x));
    check_values(bits, {2, 2}, {0x3f800000, 0x40000000, 0x3f000000, -2147483648.});
    CHECK(x.view(kInt8).sizes() == IntArrayRef{2, 8});
    CHECK(x.view(kFloat64).sizes() == IntArrayRef{2, 1});
    CHECK(x.view(kUInt8).view(kFloat32).equal(x));
    CHECK(x.view(kUInt8).slice(1, 4).view(kFloat32).equal(x.slice(1, 1)));
    bits.select(1, 0).fill_(0x40400000);
    check_values(x.select(1, 0), {2}, {3, 3});
    CHECK(tensor(1.f, d).view(kInt32).item<int64_t>() == 0x3f800000);
    CHECK(zeros({0, 2}, d).view(kInt64).sizes() == IntArrayRef{0, 1});
    const Tensor leaf = ones({2}, d).requires_grad_();
    CHECK_FALSE(leaf.view(kInt32).requires_grad());
    CHECK_FALSE(leaf.view(kFloat32).requires_grad());
  });
  CHECK_THROWS_AS(ones({2, 3}).view(kInt64), ShapeError);
  CHECK_THROWS_AS(ones({2, 4}).slice(1, 1, 3).view(kFloat64), ShapeError);  // the offset
  CHECK_THROWS_AS(ones({2, 5}).slice(1, 0, 4).view(kFloat64), ShapeError);  // a stride
  CHECK_THROWS_AS(ones({2, 2}).t().view(kInt8), ShapeError);
  CHECK_THROWS_AS(tensor(1.f).view(kInt8), ShapeError);
}

TEST_CASE("in-place view functions change the tensor's geometry") {
  for_each_device([](Device d) {
    const Tensor x = arange(6, TensorOptions(kFloat64).device(d)).view({1, 2, 3}).clone();
    const Tensor handle = x, row = x[0][1];
    const void* bytes = x.data_ptr();
    CHECK(&x.transpose_(1, 2) == &x);
    CHECK(handle.sizes() == IntArrayRef{1, 3, 2});
    CHECK_FALSE(x.is_contiguous());
    check_values(x.squeeze_(), {3, 2}, {0, 3, 1, 4, 2, 5});
    check_values(x.t_(), {2, 3}, {0, 1, 2, 3, 4, 5});
    CHECK(x.is_contiguous());
    check_values(x.unsqueeze_(-1).swapaxes_(0, 2), {1, 3, 2}, {0, 3, 1, 4, 2, 5});
    check_values(x.squeeze_(0).swapdims_(0, 1), {2, 3}, {0, 1, 2, 3, 4, 5});
    CHECK(x.data_ptr() == bytes);
    row.fill_(9);
    check_values(x, {2, 3}, {0, 1, 2, 9, 9, 9});
    const Tensor repeated = ones({1, 3}, d).expand({2, 3});
    CHECK(repeated.t_().sizes() == IntArrayRef{3, 2});
  });
}

TEST_CASE("in-place view functions keep the history, also of views and their bases") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3}).requires_grad_(), w = wave(d, {3, 2}, 0.3);
    const Tensor y = x * x, row = y[1];
    y.t_();
    (y * w).sum().backward({}, /*retain_graph=*/true);
    CHECK(x.grad().allclose((x * 2 * w.t()).detach(), 1e-14));
    // Writes through an older view and through the tensor are both in its gradient.
    const Tensor z = x * x, old = z[1];
    z.t_();
    old.mul_(3);
    z.select(0, 0).zero_();
    CHECK(old[0].item<double>() == 0);
    x.mutable_grad().reset();
    (z * w).sum().backward();
    const Tensor scale = tensor({{0., 1., 1.}, {0., 3., 3.}}, w.options());
    CHECK(x.grad().allclose((x * 2 * scale * w.t()).detach(), 1e-14));
    // A view of a base that is written afterwards.
    const Tensor base = x * 1, view = base.narrow(1, 0, 2);
    view.t_();
    base.mul_(2);
    x.mutable_grad().reset();
    (view * w.narrow(0, 0, 2)).sum().backward();
    CHECK(x.grad().narrow(1, 0, 2).allclose((w.narrow(0, 0, 2).t() * 2), 1e-14));
    CHECK(x.grad().select(1, 2).equal(zeros({2}, w.options())));
    // Nothing is recorded here, but the gradient must reach the base.
    const Tensor quiet = x * 1;
    {
      const NoGradGuard no_grad;
      quiet.unsqueeze_(0).transpose_(1, 2);
    }
    x.mutable_grad().reset();
    (quiet[0] * w).sum().backward();
    CHECK(x.grad().equal(w.t()));
  });
}

TEST_CASE(
    "in-place view functions refuse leaves that require grad, and changes of saved tensors are "
    "detected") {
  const Tensor x = ones({2, 3}).requires_grad_();
  CHECK_THROWS_WITH_AS(x.t_(),
                       "t_: expected a tensor that may be overwritten, got a leaf that requires "
                       "grad; use NoGradGuard or detach()",
                       AutogradError);
  CHECK_THROWS_AS(x.narrow(0, 0, 1).unsqueeze_(0), AutogradError);
  CHECK_THROWS_AS((x * 1).transpose_(0, 2), IndexError);
  CHECK(x.sizes() == IntArrayRef{2, 3});
  const Tensor product = x.mm(ones({3, 2}).requires_grad_());
  {
    const NoGradGuard no_grad;
    x.t_();
  }
  CHECK(x.sizes() == IntArrayRef{3, 2});
  CHECK_THROWS_AS(product.sum().backward(), AutogradError);
}
