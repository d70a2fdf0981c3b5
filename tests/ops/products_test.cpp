// Products, and sums with products in place; of integers, of large and of non-finite matrices.
#include <ambit/ambit.h>

#include <cmath>

#include "oracle_cases.h"
#include "products_inputs.h"

using namespace ambit;
using namespace oracle;
using products_test::inputs;

TEST_CASE("in-place sums with a product are recorded") {
  for_each_device([](Device d) {
    const std::vector<Tensor> in = inputs(d);
    const Tensor &a = in[0], &b = in[1], &v = in[2], &w = in[3], &p = in[5], &q = in[6];
    const Tensor square = wave(d, {2, 2}, 0.2);
    const auto check = [](const Tensor& self, auto&& out_of_place, auto&& in_place) {
      const Tensor x = self.clone().requires_grad_(), y = self.clone().requires_grad_();
      const Tensor start = x * 1, expected = out_of_place(y * 1);
      CHECK(&in_place(start) == &start);
      CHECK(start.allclose(expected, 1e-14));
      (start * start).sum().backward();
      (expected * expected).sum().backward();
      CHECK(x.grad().allclose(y.grad(), 1e-13, 1e-14));
    };
#define SUM(f, self, ...)                                      \
  check(                                                       \
      self, [&](const Tensor& t) { return t.f(__VA_ARGS__); }, \
      [&](const Tensor& t) -> Tensor& { return t.f##_(__VA_ARGS__); })
    SUM(addmm, square, a, b);
    SUM(addmm, square, a, b, 0.5, -2);
    SUM(addmm, square, a, b, 0, 2);
    SUM(addmv, w, a, v, 2, 0.5);
    SUM(addr, a, w, v, -1, 3);
    SUM(addr, a, w, v, 0);
    SUM(baddbmm, p.narrow(2, 0, 2), p, q, 0.5, 2);
    SUM(addbmm, square, p, q, 2, 3);
#undef SUM
    // A factor that shares memory with self is read before self is written.
    const Tensor x = square.clone(), before = x.clone();
    x.addmm_(x, x.t());
    CHECK(x.allclose(before + before.mm(before.t()), 1e-14));
  });
}

TEST_CASE("with beta 0 self is not read") {
  for_each_device([](Device d) {
    const Tensor nan = full({2, 2}, NAN, TensorOptions(kFloat64).device(d)).requires_grad_();
    const std::vector<Tensor> in = inputs(d);
    const Tensor &a = in[0], &b = in[1], &v = in[2], &w = in[3], &p = in[5], &q = in[6];
    const Tensor sum = addmm(nan, a, b, 0) + addbmm(nan, p, q, 0) + baddbmm(nan, p, q, 0)[0] +
                       addr(nan, w, w, 0) + addmv(nan[0], a, v, 0);
    CHECK(sum.isfinite().all().item<bool>());
    sum.sum().backward();
    CHECK(nan.grad().equal(zeros_like(nan)));
    const Tensor y = nan.detach().clone();
    CHECK(y.addmm_(a, b, 0).isfinite().all().item<bool>());
    check_values(addmv(full({2}, NAN, d), ones({2, 0}, d), ones(0, d), 0), {2}, {0, 0});
  });
}

// With alpha 0, PyTorch 2.15 ignores NaN among the factors of addmm, addmv and addbmm, but not of
// baddbmm and addr. Its gradients of the factors are NaN; ambit's are 0.
TEST_CASE("with alpha 0 NaN among the factors is ignored") {
  for_each_device([](Device d) {
    for (const DType dtype : {kFloat64, kFloat32, kBFloat16}) {
      const TensorOptions options = TensorOptions(dtype).device(d);
      const auto nan = [&](IntArrayRef sizes) {
        return full(sizes, NAN, options).set_requires_grad(true);
      };
      const Tensor m = nan({2, 2}), v = nan({2}), batch = nan({3, 2, 2});
      const Tensor x = ones({2, 2}, options).requires_grad_(), row = ones({2}, options);
      const std::vector<Tensor> sums{addmm(x, m, m, 2, 0), addbmm(x, batch, batch, 2, 0),
                                     addmm(row, m, m, 2, 0), addmm(x, m, m, 0, 0) + 2};
      for (const Tensor& y : sums) CHECK(y.equal(full({2, 2}, 2, options)));
      for (const Tensor& y : sums) y.sum().backward();
      check_values(x.grad(), {2, 2}, {4, 4, 4, 4});
      addmv(x[0], m, v, 2, 0).sum().backward();
      check_values(x.grad(), {2, 2}, {6, 6, 4, 4});
      CHECK(addmv(row, m, v, 2, 0).equal(full({2}, 2, options)));
      for (const Tensor& factor : {m, v, batch}) CHECK(factor.grad().equal(zeros_like(factor)));
      const NoGradGuard no_grad;
      check_values(x.clone().addmm_(m, m, 3, 0), {2, 2}, {3, 3, 3, 3});
      check_values(row.clone().addmv_(m, v, 3, 0), {2}, {3, 3});
      check_values(x.clone().addbmm_(batch, batch, 3, 0), {2, 2}, {3, 3, 3, 3});
      check_values(baddbmm(batch * 0 + 1, batch, batch, 1, 0)[0], {2, 2}, {NAN, NAN, NAN, NAN});
      check_values(addr(x, v, v, 1, 0), {2, 2}, {NAN, NAN, NAN, NAN});
    }
    CHECK(addmm(ones({2, 2}, TensorOptions(kInt64).device(d)),
                ones({2, 2}, TensorOptions(kInt64).device(d)),
                ones({2, 2}, TensorOptions(kInt64).device(d)), 3, 0)
              .equal(full({2, 2}, 3, TensorOptions(kInt64).device(d))));
    CHECK_THROWS_AS(addmm(ones({2, 2}, d), ones({2, 3}, d), ones({2, 2}, d), 1, 0), ShapeError);
  });
}

TEST_CASE("products of integers and bool are PyTorch's") {
  for_each_device([](Device d) {
    const TensorOptions i64 = TensorOptions(kInt64).device(d);
    const Tensor n = arange(6, i64).view({2, 3}), k = arange(3, i64), yes = k > 0;
    check_values(einsum("ij,kj->ik", {n, n}), {2, 2}, {5, 14, 14, 50});
    check_values(einsum("ij,j->", {n.to(kInt32), k.to(kInt32)}), {}, {19});
    CHECK(einsum("ij,j->", {n.to(kInt32), k.to(kInt32)}).dtype() == kInt32);
    CHECK(einsum("ij->i", {n.to(kInt32)}).dtype() == kInt64);
    check_values(einsum("ij->i", {n > 2}), {2}, {0, 3});
    check_values(addbmm(ones({2, 2}, i64), n.view({1, 2, 3}), n.view({1, 3, 2}), 2, 3), {2, 2},
                 {32, 41, 86, 122});
    check_values(addmv(ones({2}, i64), n, k), {2}, {6, 15});
    check_values(addr(zeros({3, 3}, i64), k, k.to(kFloat32)), {3, 3}, {0, 0, 0, 0, 1, 2, 0, 2, 4});
    CHECK(addr(zeros({3, 3}, i64), k, k.to(kFloat32)).dtype() == kFloat32);
    check_values(addr(~yes, yes, yes), {3, 3}, {1, 0, 0, 1, 1, 1, 1, 1, 1});
    check_values(addr(~yes, yes, yes, false, true), {3, 3}, {0, 0, 0, 0, 1, 1, 0, 1, 1});
    const Tensor kept = (~yes).expand({3, 3}).clone();
    check_values(kept.addr_(yes, yes, true, false), {3, 3}, {1, 0, 0, 1, 0, 0, 1, 0, 0});
    check_values(outer(yes, yes), {3, 3}, {0, 0, 0, 0, 1, 1, 0, 1, 1});
    check_values(inner(n, n), {2, 2}, {5, 14, 14, 50});
    check_values(kron(k, yes), {9}, {0, 0, 0, 0, 1, 1, 0, 2, 2});
    check_values(cross(k, k + 1), {3}, {-1, 2, -1});
    check_values(matrix_power(n.mm(n.t()), 3), {2, 2}, {11885, 41594, 41594, 145580});
    CHECK(matrix_power(n.mm(n.t()), 0).dtype() == kInt64);
    CHECK(trace(n.to(kInt32)).dtype() == kInt64);
    check_values(tensordot(n, n, {0, 1}, {0, 1}), {}, {55});
  });
}

// PyTorch 2.15: m = torch.arange(4).view(2, 2).to(dtype); torch.addmm(m, m, m, beta=0.5) and so on.
TEST_CASE("factors of integer products are truncated") {
  for_each_device([](Device d) {
    for (const DType dtype : {kUInt8, kInt32, kInt64}) {
      const Tensor m = arange(4, TensorOptions(kInt64).device(d)).view({2, 2}).to(dtype);
      const Tensor batch = m.unsqueeze(0), row = m.select(0, 0);
      CHECK(addmm(m, m, m, 0.5).dtype() == dtype);
      check_values(addmm(m, m, m, 0.5), {2, 2}, {2, 3, 6, 11});
      check_values(addmm(m, m, m, 2.7), {2, 2}, {2, 5, 10, 17});
      check_values(addmm(m, m, m, 1, 1.5), {2, 2}, {2, 4, 8, 14});
      check_values(addmm(m, m, m, 0.5, 0.5), {2, 2}, {0, 0, 0, 0});
      if (dtype == kUInt8) {
        CHECK_THROWS_AS(addmm(m, m, m, -1.9), DTypeError);
        check_values(addmm(m, m, m, -1), {2, 2}, {2, 2, 4, 8});
      } else {
        check_values(addmm(m, m, m, -1.9), {2, 2}, {2, 2, 4, 8});
      }
      check_values(m.clone().addmm_(m, m, 0.5), {2, 2}, {2, 3, 6, 11});
      check_values(addmv(row, m, row, 2.7), {2}, {1, 5});
      check_values(addbmm(m, batch, batch, 2.7), {2, 2}, {2, 5, 10, 17});
      check_values(baddbmm(batch, batch, batch, 2.7), {1, 2, 2}, {2, 5, 10, 17});
      CHECK_THROWS_AS(addmm(m, m, m, NAN), DTypeError);
      CHECK_THROWS_AS(addmm(m, m, m, 1e30), DTypeError);
      CHECK_THROWS_AS(addr(m, row, row, 0.5), DTypeError);
    }
  });
}

TEST_CASE("einsum accepts any path, and returns the dims in the requested order") {
  for_each_device([](Device d) {
    const Tensor a = wave(d, {2, 3}), b = wave(d, {3, 4}), c = wave(d, {4, 2}), e = wave(d, {5});
    const Tensor expected = einsum("ab,bc,ca,e->eca", {a, b, c, e});
    for (const std::vector<int64_t>& path : std::vector<std::vector<int64_t>>{
             {0, 1, 0, 2, 1, 0}, {3, 0, 2, 1, 0, 1}, {1, 2, 1, 2, 0, 1}}) {
      CHECK(einsum("ab,bc,ca,e->eca", {a, b, c, e}, path).allclose(expected, 1e-14, 1e-15));
    }
    const Tensor same = a.unsqueeze(1).unsqueeze(3) * e.view({5, 1, 1});
    CHECK(einsum("...a,e...b->...eab", {a.t(), wave(d, {5, 1, 2})}).sizes() ==
          IntArrayRef{3, 5, 2, 2});
    CHECK(einsum("ab,e->aeb", {a, e}).allclose(same.squeeze(), 1e-15));
    CHECK(einsum("ii->i", {b.narrow(1, 0, 3)}).storage().get() == b.storage().get());
    // Hundreds of dims exceed the letters; 20 exceed the inline capacity of Dims.
    const Tensor many = ones(std::vector<int64_t>(20, 1), e.options());
    CHECK(einsum("...,a->...a", {many, e}).dim() == 21);
    CHECK(einsum("abcdefghijklmnopqrst,z->z", {many, e}).equal(e));
  });
}

TEST_CASE("chain_matmul multiplies in the cheapest order") {
  // (a (b c)) needs 200,000 times fewer multiplications than ((a b) c), which would need 32 GiB.
  const Tensor a = ones({90000, 1}), b = ones({1, 90000}), c = ones({90000, 1});
  CHECK(chain_matmul({a, b, c}).sizes() == IntArrayRef{90000, 1});
  CHECK(linalg_multi_dot({a, b, c})[7].item<double>() == 90000);
  CHECK(linalg::multi_dot({b, a, ones(1)}).item<double>() == 90000);
}

TEST_CASE(
    "matrix_exp is correct for large, small and non-finite matrices, separately for each of a "
    "batch") {
  for_each_device([](Device d) {
    const TensorOptions f64 = TensorOptions(kFloat64).device(d);
    const Tensor turn = tensor({{0., -20.}, {20., 0.}}, f64), small = eye(2, f64) * 1e-9;
    const Tensor both = matrix_exp(stack({turn, small, full({2, 2}, NAN, f64)}));
    // After 7 squarings an error of 1e-16 has grown to about 1e-14.
    check_values(both[0], {2, 2}, {std::cos(20.), -std::sin(20.), std::sin(20.), std::cos(20.)},
                 1e-13);
    check_values(both[1], {2, 2}, {1 + 1e-9, 0, 0, 1 + 1e-9}, 1e-15);
    CHECK(both[2].isnan().all().item<bool>());
    CHECK(linalg::matrix_exp(zeros({0, 0}, d)).sizes() == IntArrayRef{0, 0});
    CHECK(matrix_exp(ones({3, 3}, d)).dtype() == kFloat32);
  });
}

TEST_CASE("cdist multiplies matrices for many points, and has no gradient between equal ones") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {30, 4}).requires_grad_(), y = wave(d, {3, 4}, 0.9);
    const Tensor fast = cdist(x, y), slow = cdist(x, y, 2, 2);
    CHECK(fast.allclose(slow, 1e-12, 1e-12));
    const Tensor g = autograd::grad({cdist(x, x).sum()}, {x})[0];
    CHECK(g.isfinite().all().item<bool>());
    // The computed distance of a point to itself may be the square root of a rounding error, 1e-8;
    // its weight of 1e8 then adds an error of 1e-8 to each of 30 terms.
    CHECK(g.allclose(autograd::grad({cdist(x, x, 2, 2).sum()}, {x})[0], 1e-6, 1e-6));
    check_values(cdist(x.detach(), x.detach(), 0)[0].narrow(0, 0, 2), {2}, {0, 4});
    CHECK(cdist(zeros({2, 0}, d), zeros({3, 0}, d)).equal(zeros({2, 3}, d)));
    CHECK(cdist(zeros({0, 4}, d), zeros({3, 4}, d)).sizes() == IntArrayRef{0, 3});
    CHECK(pdist(zeros({1, 4}, d)).sizes() == IntArrayRef{0});
  });
}
