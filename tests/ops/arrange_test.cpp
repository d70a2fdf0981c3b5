// Ops that copy elements to other positions: PyTorch's values, gradients, dtypes, errors.
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

#define CASE(python, call, ...)             \
  Case {                                    \
    python,                                 \
        [](const std::vector<Tensor>& in) { \
          const Tensor& a = in[0];          \
          const Tensor& v = in[1];          \
          const Tensor& s = in[2];          \
          const Tensor& c = in[3];          \
          static_cast<void>(a);             \
          static_cast<void>(v);             \
          static_cast<void>(s);             \
          static_cast<void>(c);             \
          return listed(call);              \
        },                                  \
        __VA_ARGS__                         \
  }

const std::vector<Case> kArranged{
    CASE("torch.roll(a, 1)", roll(a, 1), {{{2, 3}, {5, 0, 1, 2, 3, 4}}}),
    CASE("torch.roll(a, (1, 1), (0, 1))", roll(a, {1, 1}, {0, 1}), {{{2, 3}, {5, 3, 4, 2, 0, 1}}}),
    CASE("torch.roll(a, (1, 2), (1, 1))", roll(a, {1, 2}, {1, 1}), {{{2, 3}, {0, 1, 2, 3, 4, 5}}}),
    CASE("torch.roll(a, -5, 1)", roll(a, -5, 1), {{{2, 3}, {2, 0, 1, 5, 3, 4}}}),
    CASE("torch.roll(s, 3)", roll(s, 3), {{{}, {7}}}),
    CASE("torch.roll(c, (1, -1, 2), (0, 2, 1))", roll(c, {1, -1, 2}, {0, 2, 1}),
         {{{2, 3, 4}, {17, 18, 19, 16, 21, 22, 23, 20, 13, 14, 15, 12,
                       5,  6,  7,  4,  9,  10, 11, 8,  1,  2,  3,  0}}}),
    CASE("torch.roll(a[:0], 1, 0)", roll(a.narrow(0, 0, 0), 1, 0), {{{0, 3}, {}}}),
    CASE("torch.roll(c.transpose(0, 2), (3, 1), (0, -1))", roll(c.transpose(0, 2), {3, 1}, {0, -1}),
         {{{4, 3, 2}, {13, 1, 17, 5, 21, 9,  14, 2, 18, 6, 22, 10,
                       15, 3, 19, 7, 23, 11, 12, 0, 16, 4, 20, 8}}}),
    CASE("torch.rot90(a)", rot90(a), {{{3, 2}, {2, 5, 1, 4, 0, 3}}}),
    CASE("torch.rot90(a, 2)", rot90(a, 2), {{{2, 3}, {5, 4, 3, 2, 1, 0}}}),
    CASE("torch.rot90(a, -1, (1, 0))", rot90(a, -1, {1, 0}), {{{3, 2}, {2, 5, 1, 4, 0, 3}}}),
    CASE("torch.rot90(c, 3, (0, 2))", rot90(c, 3, {0, 2}),
         {{{4, 3, 2}, {12, 0, 16, 4, 20, 8,  13, 1, 17, 5, 21, 9,
                       14, 2, 18, 6, 22, 10, 15, 3, 19, 7, 23, 11}}}),
    CASE("torch.rot90(a, 4)", rot90(a, 4), {{{2, 3}, {0, 1, 2, 3, 4, 5}}}),
    CASE("torch.fliplr(a)", fliplr(a), {{{2, 3}, {2, 1, 0, 5, 4, 3}}}),
    CASE("torch.flipud(v)", flipud(v), {{{3}, {12, 11, 10}}}),
    CASE("a.repeat_interleave(2)", a.repeat_interleave(2),
         {{{12}, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}}}),
    CASE("a.repeat_interleave(torch.tensor([1, 2]), 0)",
         a.repeat_interleave(tensor({1, 2}, a.device()), 0),
         {{{3, 3}, {0, 1, 2, 3, 4, 5, 3, 4, 5}}}),
    CASE("a.repeat_interleave(torch.tensor([2]), 0)",
         a.repeat_interleave(tensor({2}, a.device()), 0),
         {{{4, 3}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}}}),
    CASE("a.repeat_interleave(torch.tensor(2), 1)", a.repeat_interleave(tensor(2, a.device()), 1),
         {{{2, 6}, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}}}),
    CASE("a.repeat_interleave(torch.tensor([0, 3, 1]), 1, output_size=4)",
         a.repeat_interleave(tensor({0, 3, 1}, a.device()), 1, 4),
         {{{2, 4}, {1, 1, 1, 2, 4, 4, 4, 5}}}),
    CASE("s.repeat_interleave(3)", s.repeat_interleave(3), {{{3}, {7, 7, 7}}}),
    CASE("a.repeat_interleave(2, 1)", a.repeat_interleave(2, 1),
         {{{2, 6}, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}}}),
    CASE("a.repeat_interleave(0, 0)", a.repeat_interleave(0, 0), {{{0, 3}, {}}}),
    CASE("a.t().repeat_interleave(2, 0, output_size=6)", a.t().repeat_interleave(2, 0, 6),
         {{{6, 2}, {0, 3, 0, 3, 1, 4, 1, 4, 2, 5, 2, 5}}}),
    CASE("a[:0].repeat_interleave(2, 0)", a.narrow(0, 0, 0).repeat_interleave(2, 0),
         {{{0, 3}, {}}}),
    CASE("torch.tile(a, (2,))", tile(a, 2), {{{2, 6}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}}}),
    CASE("torch.tile(a, (2, 1, 1))", tile(a, {2, 1, 1}),
         {{{2, 2, 3}, {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}}}),
    CASE("torch.tile(s, ())", tile(s, {}), {{{}, {7}}}),
    CASE("torch.tile(a, (0, 1))", tile(a, {0, 1}), {{{0, 3}, {}}}),
    CASE("torch.narrow_copy(a, 1, -2, 2)", narrow_copy(a, 1, -2, 2), {{{2, 2}, {1, 2, 4, 5}}}),
    CASE("torch.diag(v)", diag(v), {{{3, 3}, {10, 0, 0, 0, 11, 0, 0, 0, 12}}}),
    CASE("torch.diag(v, -1)", diag(v, -1),
         {{{4, 4}, {0, 0, 0, 0, 10, 0, 0, 0, 0, 11, 0, 0, 0, 0, 12, 0}}}),
    CASE("torch.diag(v, 2)", diag(v, 2), {{{5, 5}, {0, 0,  10, 0, 0, 0, 0, 0, 11, 0, 0, 0, 0,
                                                    0, 12, 0,  0, 0, 0, 0, 0, 0,  0, 0, 0}}}),
    CASE("torch.diag(a, 1)", diag(a, 1), {{{2}, {1, 5}}}),
    CASE("torch.diag(v[:0], 1)", diag(v.narrow(0, 0, 0), 1), {{{1, 1}, {0}}}),
    CASE("torch.diag(a[:0])", diag(a.narrow(0, 0, 0)), {{{0}, {}}}),
    CASE("torch.diag_embed(a)", diag_embed(a),
         {{{2, 3, 3}, {0, 0, 0, 0, 1, 0, 0, 0, 2, 3, 0, 0, 0, 4, 0, 0, 0, 5}}}),
    CASE("torch.diag_embed(v, 1, 0, 1)", diag_embed(v, 1, 0, 1),
         {{{4, 4}, {0, 10, 0, 0, 0, 0, 11, 0, 0, 0, 0, 12, 0, 0, 0, 0}}}),
    CASE("torch.diag_embed(a, -1, 0, 2)", diag_embed(a, -1, 0, 2),
         {{{4, 2, 4}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0,
                       0, 1, 0, 0, 0, 4, 0, 0, 0, 0, 2, 0, 0, 0, 5, 0}}}),
    CASE("torch.diag_embed(c, 0, -1, 1)", diag_embed(c, 0, -1, 1),
         {{{2, 4, 3, 4},
           {0,  0, 0,  0, 4,  0, 0,  0, 8,  0, 0,  0, 0, 1,  0, 0,  0, 5,  0, 0,  0, 9,  0, 0,
            0,  0, 2,  0, 0,  0, 6,  0, 0,  0, 10, 0, 0, 0,  0, 3,  0, 0,  0, 7,  0, 0,  0, 11,
            12, 0, 0,  0, 16, 0, 0,  0, 20, 0, 0,  0, 0, 13, 0, 0,  0, 17, 0, 0,  0, 21, 0, 0,
            0,  0, 14, 0, 0,  0, 18, 0, 0,  0, 22, 0, 0, 0,  0, 15, 0, 0,  0, 19, 0, 0,  0, 23}}}),
    CASE("torch.diagflat(a)", diagflat(a),
         {{{6, 6}, {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0,
                    0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 5}}}),
    CASE("torch.diagflat(s)", diagflat(s), {{{1, 1}, {7}}}),
    CASE("torch.diagflat(v, 1)", diagflat(v, 1),
         {{{4, 4}, {0, 10, 0, 0, 0, 0, 11, 0, 0, 0, 0, 12, 0, 0, 0, 0}}}),
    CASE("torch.tril(a)", tril(a), {{{2, 3}, {0, 0, 0, 3, 4, 0}}}),
    CASE("torch.tril(a, 1)", tril(a, 1), {{{2, 3}, {0, 1, 0, 3, 4, 5}}}),
    CASE("torch.tril(c, -1)", tril(c, -1), {{{2, 3, 4}, {0, 0, 0, 0, 4,  0, 0, 0, 8,  9,  0, 0,
                                                         0, 0, 0, 0, 16, 0, 0, 0, 20, 21, 0, 0}}}),
    CASE("torch.triu(a)", triu(a), {{{2, 3}, {0, 1, 2, 0, 4, 5}}}),
    CASE("torch.triu(a, 1)", triu(a, 1), {{{2, 3}, {0, 1, 2, 0, 0, 5}}}),
    CASE("torch.triu(c, -1)", triu(c, -1),
         {{{2, 3, 4},
           {0, 1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 0, 21, 22, 23}}}),
    CASE("torch.tril(a, -9)", tril(a, -9), {{{2, 3}, {0, 0, 0, 0, 0, 0}}}),
    CASE("torch.triu(a, -9)", triu(a, -9), {{{2, 3}, {0, 1, 2, 3, 4, 5}}}),
    CASE("torch.triu(a.t(), 0)", triu(a.t(), 0), {{{3, 2}, {0, 3, 0, 4, 0, 0}}}),
    CASE("torch.tril(c[:, :0])", tril(c.narrow(1, 0, 0)), {{{2, 0, 4}, {}}}),
    CASE("torch.hstack([s, v])", hstack({s, v}), {{{4}, {7, 10, 11, 12}}}),
    CASE("torch.hstack([a, a])", hstack({a, a}), {{{2, 6}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}}}),
    CASE("torch.vstack([v, a])", vstack({v, a}), {{{3, 3}, {10, 11, 12, 0, 1, 2, 3, 4, 5}}}),
    CASE("torch.vstack([s, s])", vstack({s, s}), {{{2, 1}, {7, 7}}}),
    CASE("torch.row_stack([a, v])", row_stack({a, v}), {{{3, 3}, {0, 1, 2, 3, 4, 5, 10, 11, 12}}}),
    CASE("torch.dstack([v, v])", dstack({v, v}), {{{1, 3, 2}, {10, 10, 11, 11, 12, 12}}}),
    CASE("torch.dstack([a, a])", dstack({a, a}),
         {{{2, 3, 2}, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}}}),
    CASE("torch.column_stack([v, a.t()])", column_stack({v, a.t()}),
         {{{3, 3}, {10, 0, 3, 11, 1, 4, 12, 2, 5}}}),
    CASE("torch.column_stack([s, s])", column_stack({s, s}), {{{1, 2}, {7, 7}}}),
    CASE("torch.block_diag(s, v, a)", block_diag({s, v, a}),
         {{{4, 7}, {7, 0, 0, 0, 0, 0, 0, 0, 10, 11, 12, 0, 0, 0,
                    0, 0, 0, 0, 0, 1, 2, 0, 0,  0,  0,  3, 4, 5}}}),
    CASE("torch.block_diag(v[:0], a[:, :0], v)",
         block_diag({v.narrow(0, 0, 0), a.narrow(1, 0, 0), v}),
         {{{4, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 11, 12}}}),
    CASE("torch.cartesian_prod(v, a[0])", cartesian_prod({v, a[0]}),
         {{{9, 2}, {10, 0, 10, 1, 10, 2, 11, 0, 11, 1, 11, 2, 12, 0, 12, 1, 12, 2}}}),
    CASE("torch.cartesian_prod(v)", cartesian_prod({v}), {{{3}, {10, 11, 12}}}),
    CASE("torch.cartesian_prod(a[0], v, a[1])", cartesian_prod({a[0], v, a[1]}),
         {{{27, 3}, {0, 10, 3, 0, 10, 4, 0, 10, 5, 0, 11, 3, 0, 11, 4, 0, 11, 5, 0, 12, 3,
                     0, 12, 4, 0, 12, 5, 1, 10, 3, 1, 10, 4, 1, 10, 5, 1, 11, 3, 1, 11, 4,
                     1, 11, 5, 1, 12, 3, 1, 12, 4, 1, 12, 5, 2, 10, 3, 2, 10, 4, 2, 10, 5,
                     2, 11, 3, 2, 11, 4, 2, 11, 5, 2, 12, 3, 2, 12, 4, 2, 12, 5}}}),
    CASE("torch.cartesian_prod(v, v[:0])", cartesian_prod({v, v.narrow(0, 0, 0)}), {{{0, 2}, {}}}),
    CASE("torch.combinations(v)", combinations(v), {{{3, 2}, {10, 11, 10, 12, 11, 12}}}),
    CASE("torch.combinations(v, 3)", combinations(v, 3), {{{1, 3}, {10, 11, 12}}}),
    CASE("torch.combinations(v, 4)", combinations(v, 4), {{{0, 4}, {}}}),
    CASE("torch.combinations(v, 0)", combinations(v, 0), {{{0}, {}}}),
    CASE("torch.combinations(v, 1)", combinations(v, 1), {{{3, 1}, {10, 11, 12}}}),
    CASE("torch.combinations(c[0, 0], 2)", combinations(c[0][0], 2),
         {{{6, 2}, {0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3}}}),
    CASE("torch.combinations(v, 2, True)", combinations(v, 2, true),
         {{{6, 2}, {10, 10, 10, 11, 10, 12, 11, 11, 11, 12, 12, 12}}}),
    CASE("torch.combinations(c[0, 0], 3)", combinations(c[0][0], 3),
         {{{4, 3}, {0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3}}}),
    CASE("torch.combinations(v, 4, True)", combinations(v, 4, true),
         {{{15, 4},
           {10, 10, 10, 10, 10, 10, 10, 11, 10, 10, 10, 12, 10, 10, 11, 11, 10, 10, 11, 12,
            10, 10, 12, 12, 10, 11, 11, 11, 10, 11, 11, 12, 10, 11, 12, 12, 10, 12, 12, 12,
            11, 11, 11, 11, 11, 11, 11, 12, 11, 11, 12, 12, 11, 12, 12, 12, 12, 12, 12, 12}}}),
    CASE("torch.combinations(v[:0], 2, True)", combinations(v.narrow(0, 0, 0), 2, true),
         {{{0, 2}, {}}}),
};

}  // namespace

TEST_CASE("ops that rearrange have PyTorch's values") { check_cases(kArranged, inputs); }

TEST_CASE("ops that rearrange have correct first and second gradients") {
  check_gradients(kArranged, inputs(kCPU));
}

TEST_CASE("ops that rearrange keep dtypes, promote those of several operands, and copy") {
  for_each_device([](Device d) {
    const Tensor x = arange(6, TensorOptions(kInt32).device(d)).view({2, 3}), b = x > 2;
    for (const Tensor& out : {roll(x, 1), tril(x), x.rot90(), tile(x, 2), x.repeat_interleave(2, 1),
                              diagflat(x), combinations(x[0], 2), combinations(x[0], 0)}) {
      CHECK(out.dtype() == kInt32);
    }
    CHECK(triu(b).dtype() == kBool);
    check_values(triu(b), {2, 3}, {0, 0, 0, 0, 1, 1});
    CHECK(block_diag({x, b}).dtype() == kInt32);
    CHECK(hstack({x, ones({2, 1}, d)}).dtype() == kFloat32);
    CHECK(block_diag({}).sizes() == IntArrayRef{1, 0});
    for (const Tensor& out :
         {roll(x, 0, 0), rot90(x, 4), x.narrow_copy(0, 0, 2), diag(x), tril(x)}) {
      CHECK(out.storage().get() != x.storage().get());
    }
    check_values(repeat_interleave(tensor({1, 0, 2}, d)), {3}, {0, 2, 2});
    check_values(repeat_interleave(tensor({1, 0, 2}, d), std::optional<int64_t>(3)), {3},
                 {0, 2, 2});
    CHECK(repeat_interleave(tensor({1, 2}, d).to(kInt32)).dtype() == kInt32);
    CHECK(repeat_interleave(zeros({0}, TensorOptions(kInt64).device(d))).numel() == 0);
  });
}

TEST_CASE("diagonals outside of the matrix, even beyond int64, are empty") {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const Tensor x = ones({2, 3});
  CHECK(tril(x, kMost).equal(x));
  CHECK(tril(x, kLeast).equal(zeros({2, 3})));
  CHECK(triu(x, kLeast).equal(x));
  CHECK(triu(x, kMost).equal(zeros({2, 3})));
  CHECK(diag(x, kLeast).numel() == 0);
  CHECK(tril_indices(2, 3, kLeast).sizes() == IntArrayRef{2, 0});
  CHECK(triu_indices(2, 3, kLeast).sizes() == IntArrayRef{2, 6});
  CHECK_THROWS_AS(diag(ones(3), kLeast), ShapeError);
  CHECK_THROWS_AS(diag(ones(3), kMost), ShapeError);
  // NaN outside of the triangle becomes 0; multiplication by a mask would keep it.
  CHECK(tril(full({2, 2}, NAN))[0][1].item<double>() == 0);
}

TEST_CASE("in-place triangles are recorded, and refuse tensors that must not be overwritten") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3, 3}).requires_grad_(), y = x * x;
    CHECK(&y.tril_(1) == &y);
    y.select(0, 1).triu_();
    y.sum().backward();
    const Tensor mask =
        stack({tril(ones({3, 3}, x.options()), 1), triu(tril(ones({3, 3}, x.options()), 1))});
    CHECK(x.grad().equal((2 * x * mask).detach()));
    CHECK_THROWS_AS(x.tril_(), AutogradError);
    CHECK_THROWS_AS(ones({1, 3}, d).expand({3, 3}).triu_(), Error);
  });
}

TEST_CASE("logspace, range and the indices of triangles have PyTorch's values") {
  for_each_device([](Device d) {
    const TensorOptions f64 = TensorOptions(kFloat64).device(d),
                        i64 = TensorOptions(kInt64).device(d);
    // torch.logspace(-1, 2, 4), (0, 3, 4, base=2), (3, 0, 4, dtype=torch.int64), (5, 9, 1)
    check_values(logspace(-1, 2, 4, 10, f64), {4}, {.1, 1, 10, 100});
    check_values(logspace(0, 3, 4, 2, f64), {4}, {1, 2, 4, 8});
    check_values(logspace(3, 0, 4, 10, i64), {4}, {1000, 100, 10, 1});
    check_values(logspace(5, 9, 1, 10, f64), {1}, {100000});
    CHECK(logspace(0, 1, 0).numel() == 0);
    CHECK(logspace(0, 1, 2).dtype() == kFloat32);
    // torch.range(1, 4), (0, 1, .3), (3, -1, -2, dtype=torch.int64), (2, 2)
    check_values(range(1, 4, f64), {4}, {1, 2, 3, 4});
    check_values(range(0, 1, 0.3, f64), {4}, {0, .3, .6, .9});
    check_values(range(3, -1, -2, i64), {3}, {3, 1, -1});
    check_values(range(2, 2), {1}, {2});
    CHECK(range(2, 2).dtype() == kFloat32);
    // torch.tril_indices(3, 4, -1), (2, 2, 5), torch.triu_indices(3, 2, 1), (0, 4)
    check_values(tril_indices(3, 4, -1, i64), {2, 3}, {1, 2, 2, 0, 0, 1});
    check_values(tril_indices(2, 2, 5, i64), {2, 4}, {0, 0, 1, 1, 0, 1, 0, 1});
    check_values(triu_indices(3, 2, 1, i64), {2, 1}, {0, 1});
    CHECK(triu_indices(0, 4).sizes() == IntArrayRef{2, 0});
    CHECK(tril_indices(3, 3, 0, kInt32).dtype() == kInt32);
    CHECK(logspace(0, 1, 2, 10, f64.requires_grad(true)).requires_grad());
  });
}
