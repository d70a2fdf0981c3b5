// complex64 and complex128 as dtypes: creation, moves, parts, comparisons, printing.
#include "complex_cases.h"

using namespace ambit;
using namespace complex_cases;

TEST_CASE("names, sizes and categories of complex dtypes are PyTorch's") {
  CHECK(std::string(name(kComplexFloat)) == "complex64");
  CHECK(std::string(name(kComplexDouble)) == "complex128");
  CHECK(element_size(kComplexFloat) == 8);
  CHECK(element_size(kComplexDouble) == 16);
  CHECK(dtype_of<std::complex<float>> == kComplexFloat);
  CHECK(dtype_of<Complex> == kComplexDouble);
  for (const DType d : dtypes::kComplex) {
    CHECK(is_complex(d));
    CHECK(is_signed(d));
    CHECK_FALSE(is_floating_point(d));
    CHECK_FALSE(is_integral(d));
    CHECK_FALSE(is_wide_unsigned(d));
    CHECK_THROWS_AS(set_default_dtype(d), DTypeError);
    const Tensor z = zeros({2}, d);
    CHECK(z.is_complex());
    CHECK(is_complex(z));
    CHECK_FALSE(z.conj().is_conj());
    CHECK(complex_dtype(real_dtype(d)) == d);
  }
  for (const DType d : dtypes::kEvery) CHECK_FALSE(is_complex(d));
}

TEST_CASE("complex dtypes promote as in PyTorch") {
  for (const DType c : dtypes::kComplex) {
    for (const DType d : dtypes::kStored) {
      INFO(name(c), " with ", name(d));
      CHECK(can_cast(c, d) == is_complex(d));
      CHECK(can_cast(d, c));
      const Tensor z = ones({2}, c), x = ones({2}, d);
      CHECK(result_type(z, ones({}, d)) == c);
      const bool has_own = is_floating_point(d) || is_complex(d);
      CHECK(result_type(ones({}, c), x) == (has_own ? complex_dtype(d) : c));
      if (is_wide_unsigned(d)) {
        CHECK_THROWS_AS(promote_types(c, d), DTypeError);
        continue;
      }
      const bool is_double = d == kFloat64 || d == kComplexDouble;
      CHECK(promote_types(c, d) == (is_double ? kComplexDouble : c));
      CHECK(promote_types(d, c) == promote_types(c, d));
      CHECK((z * x).dtype() == promote_types(c, d));
      CHECK(cat({x, z}).dtype() == promote_types(c, d));
    }
    CHECK(result_type(ones({2}, c), 1.5) == c);
    CHECK(result_type(ones({}, c), 1) == c);
    CHECK_THROWS_AS(ones({2}).mul_(ones({2}, c)), DTypeError);
  }
}

TEST_CASE("complex tensors are created, filled and converted") {
  for_each_dtype_and_device([](DType d, Device device) {
    const TensorOptions options = TensorOptions(d).device(device);
    check_equal(zeros({2}, options), d, {0, 0});
    check_equal(ones({2}, options), d, {1, 1});
    check_equal(full({2}, 2.5, options), d, {2.5, 2.5});
    check_equal(full({2}, Complex(1, 2), options), d, {{1, 2}, {1, 2}});
    check_equal(eye(2, options), d, {1, 0, 0, 1});
    check_equal(arange(3, options), d, {0, 1, 2});
    check_equal(tensor({Complex(1, 2), Complex(0, -1)}, options), d, {{1, 2}, {0, -1}});
    check_equal(tensor({1., 2.}, options), d, {1, 2});
    check_equal(zeros_like(make(kA, d, device)), d, {0, 0, 0, 0});
    const Tensor z = make(kA, d, device);
    check_equal(z, d, kA);
    for (const DType other : dtypes::kComplex) {
      check_equal(z.to(other), other, kA);
      check_equal(z.view({2, 2}).t().to(other), other, {kA[0], kA[2], kA[1], kA[3]});
    }
    check_equal(z.to(kFloat32), kFloat32, {1, -0.5, 0.25, 2});
    check_equal(z.to(kInt64), kInt64, {1, 0, 0, 2});
    check_equal(z.to(kBool), kBool, {1, 1, 1, 1});
    check_equal(zeros({2}, options).to(kBool), kBool, {0, 0});
    check_equal(tensor({1, 2, 3}, device).to(d), d, {1, 2, 3});
    check_equal(tensor({true, false}, device).to(d), d, {1, 0});
    check_equal(tensor({1.5, 2.}, device).to(kFloat16).to(d), d, {1.5, 2});
    CHECK(z[0].item<Complex>() == Complex(1, 2));
    CHECK(z[0].item<std::complex<float>>() == std::complex<float>(1, 2));
    CHECK(real(z)[0].item<double>() == 1);
    CHECK(ones({}, options).item<double>() == 1);
    CHECK_THROWS_AS(z[0].item(), DTypeError);
    const Tensor r = randn({1000}, options);
    // The standard deviation of the mean of 1,000 numbers of variance 1 is 0.03.
    CHECK(std::abs(abs(r).square().mean().item<double>() - 1) < 0.2);
    CHECK(rand({2}, options).dtype() == d);
  });
}

TEST_CASE("parts are views, and writes through them have gradients") {
  for_each_dtype_and_device([](DType d, Device device) {
    const DType part = real_dtype(d);
    const Tensor z = make(kA, d, device);
    CHECK(view_as_real(z).sizes() == IntArrayRef{4, 2});
    check_equal(view_as_real(z).reshape({-1}), part, {1, 2, -0.5, 0.25, 0.25, -1.5, 2, 0.125});
    check_equal(real(z), part, {1, -0.5, 0.25, 2});
    check_equal(imag(z), part, {2, 0.25, -1.5, 0.125});
    check_equal(view_as_complex(view_as_real(z)), d, kA);
    CHECK(view_as_real(z).is_alias_of(z));
    real(z).fill_(3);
    imag(z)[1] = 7;
    view_as_real(z)[3].fill_(9);
    check_equal(z, d, {{3, 2}, {3, 7}, {3, -1.5}, {9, 9}});

    // z = zeros(2, requires_grad=True); y = z * 2; y.real[0] = x; y.imag.mul_(3)
    const Tensor leaf = make({{1, 2}, {3, 4}}, d, device).requires_grad_();
    const Tensor x = tensor(5., TensorOptions(part).device(device)).requires_grad_();
    const Tensor y = leaf * 2;
    real(y)[0].copy_(x);
    imag(y).mul_(3);
    check_equal(y, d, {{5, 12}, {6, 24}});
    loss(y).backward();
    check_near(leaf.grad(), {{0, -12}, {-2, -3}});
    check_near(x.grad(), {1});

    // A view of a real base as complex numbers.
    const Tensor base = ones({2, 2}, TensorOptions(part).device(device)).requires_grad_();
    const Tensor pairs = base * 1;
    view_as_complex(pairs).mul_(make({{0, 1}, {2, 0}}, d, device));
    check_near(pairs, {-1, 1, 2, 2});
    (pairs * pairs).sum().backward();
    check_near(base.grad(), {2, 2, 8, 8});
  });
  CHECK_THROWS_WITH_AS(view_as_real(ones({2})),
                       "view_as_real: expected complex64 or complex128, got float32", DTypeError);
  CHECK_THROWS_AS(imag(ones({2})), DTypeError);
  CHECK_THROWS_AS(view_as_complex(ones({2}, kInt64)), DTypeError);
  CHECK_THROWS_AS(view_as_complex(ones({2, 3})), ShapeError);
  CHECK_THROWS_AS(view_as_complex(ones({})), ShapeError);
  CHECK_THROWS_AS(view_as_complex(ones({2, 2}).t()), ShapeError);
  CHECK_THROWS_AS(view_as_complex(ones({5}).slice(0, 1, 3)), ShapeError);
  const Tensor r = ones({2});
  CHECK(real(r).is_same(r));
  CHECK(conj(r).is_same(r));
}

TEST_CASE("complex and polar join parts") {
  for_each_device([](Device device) {
    for (const DType part : dtypes::kFloating) {
      const TensorOptions options = TensorOptions(part).device(device);
      const Tensor x = tensor({1., 2.}, options).requires_grad_();
      const Tensor y = tensor({3., -4.}, options).requires_grad_();
      const Tensor z = complex(x, y);
      check_equal(z, complex_dtype(part), {{1, 3}, {2, -4}});
      loss(z).backward();
      check_near(x.grad(), {1, -1});
      check_near(y.grad(), {-2, -0.5});
      // torch.polar(torch.tensor([1., 2.]), torch.tensor([0.5, -2.]))
      const Tensor radius = tensor({1., 2.}, options), angles = tensor({0.5, -2.}, options);
      check_near(polar(radius, angles),
                 {{0.877582561890373, 0.479425538604203}, {-0.832293673094285, -1.81859485365136}});
    }
    check_equal(complex(ones({2, 1}, device), zeros({2}, device)), kComplexFloat, {1, 1, 1, 1});
  });
  CHECK_THROWS_AS(complex(ones({2}), ones({2}, kFloat64)), DTypeError);
  CHECK_THROWS_AS(complex(ones({2}, kInt64), ones({2}, kInt64)), DTypeError);
  CHECK_THROWS_AS(complex(ones({2}), ones({3})), ShapeError);
}

TEST_CASE("ops that move elements support complex numbers") {
  for_each_dtype_and_device([](DType d, Device device) {
    const Tensor a = make(kA, d, device), m = a.view({2, 2});
    const Tensor i = tensor({3, 0}, device);
    const Tensor mask = tensor({true, false, false, true}, device);
    const Complex a0 = kA[0], a1 = kA[1], a2 = kA[2], a3 = kA[3];
    check_equal(a.clone(), d, kA);
    check_equal(m.t().contiguous(), d, {a0, a2, a1, a3});
    check_equal(cat({a, a.slice(0, 0, 1)}), d, {a0, a1, a2, a3, a0});
    check_equal(stack({a, a}, 1), d, {a0, a0, a1, a1, a2, a2, a3, a3});
    check_equal(flip(a, {0}), d, {a3, a2, a1, a0});
    check_equal(roll(a, {1}), d, {a3, a0, a1, a2});
    check_equal(a.repeat({2}), d, {a0, a1, a2, a3, a0, a1, a2, a3});
    check_equal(a.gather(0, i), d, {a3, a0});
    check_equal(a.index_select(0, i), d, {a3, a0});
    check_equal(a.index({i}), d, {a3, a0});
    check_equal(a.index({mask}), d, {a0, a3});
    check_equal(masked_select(a, mask), d, {a0, a3});
    check_equal(take(a, i), d, {a3, a0});
    check_equal(where(mask, a, 5), d, {a0, 5, 5, a3});
    check_equal(where(mask, a, zeros_like(a)), d, {a0, 0, 0, a3});
    check_equal(masked_fill(a, mask, 9), d, {9, a1, a2, 9});
    check_equal(a.scatter(0, i, a.slice(0, 1, 3)), d, {a2, a1, a2, a1});
    check_equal(a.scatter_add(0, i, a.slice(0, 1, 3)), d, {a0 + a2, a1, a2, a3 + a1});
    check_equal(a.index_add(0, i, a.slice(0, 1, 3)), d, {a0 + a2, a1, a2, a3 + a1});
    check_equal(a.clone().index_put_({i}, a.slice(0, 1, 3)), d, {a2, a1, a2, a1});
    Tensor written = a.clone();
    written[0] = a[2];
    check_equal(written, d, {a2, a1, a2, a3});
    check_equal(diag(a.slice(0, 0, 2)), d, {a0, 0, 0, a1});
    check_equal(tril(m), d, {a0, 0, a2, a3});
    check_equal(a.view(real_dtype(d)), real_dtype(d), {1, 2, -0.5, 0.25, 0.25, -1.5, 2, 0.125});
    for_each_device([&](Device to) { check_equal(m.t().to(to), d, {a0, a2, a1, a3}); });
  });
}

TEST_CASE("complex numbers are compared for equality only") {
  for_each_dtype_and_device([](DType d, Device device) {
    const Tensor a = make({1, {1, 2}, {0, 2}, {kNaN, 0}}, d, device);
    const Tensor b = make({1, {1, 3}, {0, 2}, {kNaN, 0}}, d, device);
    check_equal(a == b, kBool, {1, 0, 1, 0});
    check_equal(a != b, kBool, {0, 1, 0, 1});
    check_equal(a == 1, kBool, {1, 0, 0, 0});
    check_equal(a != 1, kBool, {0, 1, 1, 1});
    check_equal(logical_not(a * 0 == 0), kBool, {0, 0, 0, 1});
    check_equal(logical_and(a, b), kBool, {1, 1, 1, 1});
    check_equal(isnan(a), kBool, {0, 0, 0, 1});
    check_equal(isfinite(a), kBool, {1, 1, 1, 0});
    check_equal(isinf(make({{0, kInf}, 1}, d, device)), kBool, {1, 0});
    check_equal(isreal(a), kBool, {1, 0, 0, 1});
    CHECK(a.slice(0, 0, 3).equal(a.slice(0, 0, 3).clone()));
    CHECK_FALSE(a.equal(b));
    CHECK(allclose(a, a, 1e-5, 1e-8, true));
    CHECK_FALSE(allclose(a, b, 1e-5, 1e-8, true));
    const Tensor z = a;
    CHECK_THROWS_AS(z < z, DTypeError);
    CHECK_THROWS_AS(z >= 1, DTypeError);
    CHECK_THROWS_AS(z.max(), DTypeError);
    CHECK_THROWS_AS(z.argmin(), DTypeError);
    CHECK_THROWS_AS(sort(z), DTypeError);
    CHECK_THROWS_AS(clamp(z, 0, 1), DTypeError);
    CHECK_THROWS_AS(relu(z), DTypeError);
    CHECK_THROWS_AS(floor(z), DTypeError);
    CHECK_THROWS_AS(sign(z), DTypeError);
    CHECK_THROWS_AS(isposinf(z), DTypeError);
    CHECK_THROWS_AS(atan2(z, z), DTypeError);
    CHECK_THROWS_AS(bitwise_and(z, z), DTypeError);
    CHECK_THROWS_AS(z.clone().abs_(), DTypeError);
  });
  CHECK_THROWS_WITH_AS(ones({2}, kComplexFloat) < ones({2}, kComplexFloat),
                       "lt: expected numbers with an order, got complex64; compare abs() or real()",
                       DTypeError);
}

TEST_CASE("numbers may be complex operands") {
  const Complex i(0, 1);
  for_each_dtype_and_device([&](DType d, Device device) {
    const Tensor z = make({{1, 2}, 3}, d, device);
    check_equal(z * i, d, {{-2, 1}, {0, 3}});
    check_equal(i * z, d, {{-2, 1}, {0, 3}});
    check_equal(z + i, d, {{1, 3}, {3, 1}});
    check_equal(z - i, d, {{1, 1}, {3, -1}});
    check_equal(z / i, d, {{2, -1}, {0, -3}});
    check_equal(z == Complex(1, 2), kBool, {1, 0});
    const Tensor x = ones({2}, TensorOptions(real_dtype(d)).device(device));
    check_equal(x * i, d, {i, i});
  });
}

TEST_CASE("composed functions conjugate, or refuse complex numbers") {
  for_each_dtype_and_device([](DType d, Device device) {
    const Tensor t = make({{1, 2}, 0, {3, -1}}, d, device);
    check_equal(adjoint(t.view({1, 3})), d, {{1, -2}, {0, -0.}, {3, 1}});
    check_near(norm(t), {std::sqrt(15.)});
    check_near(float_power(t, 2), {{-3, 4}, 0, {8, -6}});
    CHECK(float_power(t, 2).dtype() == kComplexDouble);
    check_near(cov(t), {14. / 3});
    check_near(vander(t), {{-3, 4}, {1, 2}, 1, 0, 0, 1, {8, -6}, {3, -1}, 1});
    check_equal(nan_to_num(make({{kNaN, 1}}, d, device)), d, {{0, 1}});
    CHECK(t[0].is_nonzero());
    CHECK_FALSE(t[1].is_nonzero());
    check_near(addcmul(t, t, t), {{-2, 6}, 0, {11, -7}});
    check_near(rsub(t, 1, 2), {{-1, -4}, 1, {-5, 2}});
    check_near(add(t, t, 0.5), {{1.5, 3}, 0, {4.5, -1.5}});
    const Tensor z = t;
    CHECK_THROWS_AS(logaddexp2(z, z), DTypeError);
    CHECK_THROWS_AS(nansum(z), DTypeError);
    CHECK_THROWS_AS(softmax(z, 0), DTypeError);
    CHECK_THROWS_AS(special_entr(z), DTypeError);
    CHECK_THROWS_AS(hash_tensor(z), DTypeError);
    CHECK_THROWS_AS(linalg_ldl_factor(z.view({3, 1}) * z), DTypeError);
  });
}

TEST_CASE("complex tensors print as in PyTorch") {
  const Tensor z = complex(tensor({1., -2., 0.5}), tensor({0., 3., -1e-3}));
  CHECK(str(z) == "tensor([ 1.0000+0.0000e+00j, -2.0000+3.0000e+00j,  0.5000-1.0000e-03j])");
  CHECK(str(z.to(kComplexDouble)) ==
        "tensor([ 1.0000+0.0000e+00j, -2.0000+3.0000e+00j,  0.5000-1.0000e-03j],\n"
        "       dtype=torch.complex128)");
  CHECK(str(z[1]) == "tensor(-2.+3.j)");
  CHECK(str(zeros({2, 2}, kComplexFloat)) ==
        "tensor([[0.+0.j, 0.+0.j],\n        [0.+0.j, 0.+0.j]])");
  CHECK(str(tensor({Complex(kNaN, 1), Complex(kInf, -kInf), Complex(1, -0.)}, kComplexFloat)) ==
        "tensor([nan+1.j, inf-infj, 1.-0.j])");
  CHECK(str(arange(2000).to(kComplexFloat)) ==
        "tensor([0.0000e+00+0.j, 1.0000e+00+0.j, 2.0000e+00+0.j,  ..., 1.9970e+03+0.j,\n"
        "        1.9980e+03+0.j, 1.9990e+03+0.j])");
  CHECK(str(empty({0}, kComplexFloat)) == "tensor([], dtype=torch.complex64)");
  CHECK(str(empty({0, 2}, kComplexDouble)) == "tensor([], size=(0, 2), dtype=torch.complex128)");
  CHECK(str(empty({2}, TensorOptions(kComplexFloat).device(kMeta))) ==
        "tensor(..., device='meta', size=(2,), dtype=torch.complex64)");
}

TEST_CASE("complex tensors on meta have shapes") {
  const Tensor z = empty({2, 3}, TensorOptions(kComplexFloat).device(kMeta));
  CHECK(view_as_real(z).sizes() == IntArrayRef{2, 3, 2});
  CHECK(abs(z).dtype() == kFloat32);
  CHECK(angle(z).dtype() == kFloat32);
  CHECK(matmul(z, z.t()).dtype() == kComplexFloat);
  CHECK((z * z).sum(0).sizes() == IntArrayRef{3});
  CHECK(z.to(kComplexDouble).dtype() == kComplexDouble);
}

TEST_CASE("view_as_real refuses more elements than a tensor can have") {
  const Tensor z = tensor(Complex(1, 2));
  CHECK(view_as_real(z.expand({int64_t{1} << 61})).numel() == int64_t{1} << 62);
  CHECK_THROWS_AS(view_as_real(z.expand({int64_t{1} << 62})), ShapeError);
}

TEST_CASE("random functions and sequences fill complex tensors") {
  for_each_dtype_and_device([](DType d, Device device) {
    manual_seed(1);
    const TensorOptions options = TensorOptions(d).device(device);
    const Tensor z = empty({2000}, options);
    z.uniform_(1, 2);
    CHECK(view_as_real(z).ge(1).all().item<bool>());
    CHECK(view_as_real(z).le(2).all().item<bool>());
    CHECK_FALSE(equal(real(z), imag(z)));
    // As in PyTorch both parts have the mean; the variance is that of both. The standard deviation
    // of the mean square of 2,000 numbers is 0.12.
    z.normal_(0, 2);
    CHECK(std::abs(abs(z).square().mean().item<double>() - 4) < 0.6);
    const Tensor around = normal(full({2000}, Complex(3, -1), options), 2.);
    CHECK(around.dtype() == d);
    CHECK(std::abs(imag(around).mean().item<double>() + 1) < 0.2);
    const Tensor kept = dropout(ones({2000}, options), 0.5, true);
    CHECK(kept.dtype() == d);
    CHECK(logical_or(kept == 0, kept == 2).all().item<bool>());
    // Of 2,000 fair draws the standard deviation of the mean is 0.011.
    CHECK(std::abs(real(kept).mean().item<double>() - 1) < 0.12);
    check_near(logspace(0, 2, 3, 10, options), {1, 10, 100});
    // torch.tensor([1+1j, 2]).scatter_reduce(0, torch.tensor([0, 0]), torch.tensor([3j, 2]),
    // 'mean')
    const Tensor mean =
        make({{1, 1}, 2}, d, device)
            .scatter_reduce(0, tensor({0, 0}, device), make({{0, 3}, 2}, d, device), "mean");
    check_near(mean, {{1, 4. / 3}, 2});
  });
}
