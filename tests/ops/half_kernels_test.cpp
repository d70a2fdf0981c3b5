// The dispatcher and kernels with float16 and bfloat16 operands.
// tests/tables/reduced_floating_test.cpp tests each function.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

TEST_CASE("operands too large for one block have float32's results, rounded") {
  for_each_device([](Device device) {
    if (device.type() == "sim" && device.index() > 0) return;
    manual_seed(3);
    // 700 x 900 with a row, a column, and its transpose: each is iterated differently.
    const Tensor wide = randn({700, 900}).bfloat16().to(device);
    const auto check = [&](const std::string& what, const auto& f) {
      INFO(what);
      const Tensor y = f(wide), want = f(wide.to(kFloat32));
      CHECK(y.cpu().equal(want.to(y.dtype()).cpu()));
    };
    check("all", [](const Tensor& x) { return x * x; });
    check("row", [](const Tensor& x) { return x + x[3]; });
    check("column", [](const Tensor& x) { return x - x.narrow(1, 5, 1); });
    check("transposed",
          [](const Tensor& x) { return x.narrow(1, 0, 700) * x.narrow(1, 0, 700).t(); });
    check("strided", [](const Tensor& x) { return x.slice(1, 0, 900, 2).t().exp(); });
    check("compared", [](const Tensor& x) { return x > x[0]; });
    check("comparison with a number", [](const Tensor& x) { return x >= 0.1; });
    check("number", [](const Tensor& x) { return x.clamp(-0.5, 0.7) * 3; });
    check("in place", [](const Tensor& x) {
      const Tensor y = x.clone();
      y.slice(0, 0, 700, 2).mul_(x.slice(0, 1, 700, 2));
      return y;
    });
    check("sum", [](const Tensor& x) { return x.sum(0); });
    check("bits", [](const Tensor& x) { return where(x > 0, x, x.flip({0})); });
    CHECK(wide.isfinite().all().item<bool>());
  });
}

TEST_CASE("copies keep all bits, also of NaN") {
  for_each_device([](Device device) {
    const Tensor x =
        tensor({0x7e01, -1, 0x7d55, 0x8001 - 0x10000, 0}, kInt16).view(kHalf).to(device);
    const Tensor index = tensor({4, 2, 0, 1, 3}).to(device);
    const auto bits = [](const Tensor& t) { return t.view(kInt16).cpu(); };
    const Tensor want = bits(x).index_select(0, index.cpu());
    CHECK(bits(x.index_select(0, index)).equal(want));
    CHECK(bits(x.gather(0, index)).equal(want));
    CHECK(bits(x.index({index})).equal(want));
    CHECK(bits(zeros_like(x).scatter_(0, index, x)).index_select(0, index.cpu()).equal(bits(x)));
    CHECK(bits(cat({x, x})).narrow(0, 5, 5).equal(bits(x)));
    CHECK(bits(x.flip({0})).equal(bits(x).flip({0})));
    CHECK(bits(where(ones({5}, kBool).to(device), x, zeros_like(x))).equal(bits(x)));
    const Tensor filled = x.masked_fill(tensor({true, false, true, false, false}).to(device), 0.5);
    CHECK(bits(filled).equal(tensor({0x3800, -1, 0x3800, 0x8001 - 0x10000, 0}, kInt16)));
  });
}

TEST_CASE("sums of float16 and bfloat16 are accumulated in float32") {
  for_each_device([](Device device) {
    // 4096 + 1 is 4096 in both dtypes: sums in them would lose all ones.
    for (const DType d : dtypes::kReducedFloating) {
      const Tensor x = cat({full({1}, 4096, d), ones({4096}, d)}).to(device);
      CHECK(x.sum().item<float>() == 8192);
      CHECK(x.mean().item<float>() == doctest::Approx(8192. / 4097).epsilon(0.004));
      CHECK(x.cumsum(0)[4096].item<float>() == 8192);
      CHECK(x.view({1, 4097}).matmul(ones({4097, 1}, x.options())).item<float>() == 8192);
      CHECK(linear(x.view({1, 4097}), ones({1, 4097}, x.options())).item<float>() == 8192);
      CHECK(x.norm(1).item<float>() == 8192);
      CHECK(x.var().item<double>() ==
            doctest::Approx(x.to(kFloat64).var().item<double>()).epsilon(0.004));
      CHECK(zeros({1}, x.options())
                .index_add_(0, zeros({4097}, kInt64).to(device), x)
                .item<float>() == 8192);
      CHECK(logsumexp(zeros({4096}, x.options()), IntArrayRef{0}).item<double>() ==
            doctest::Approx(std::log(4096.)).epsilon(0.004));
    }
  });
}

TEST_CASE("quantiles of more elements than float16 and bfloat16 can count") {
  for_each_device([](Device device) {
    for (const DType dtype : dtypes::kReducedFloating) {
      const int64_t n = 70'001;
      const Tensor x = (arange(n, kFloat32) / static_cast<double>(n)).to(dtype), y = x.to(device);
      for (const double q : {0., 0.25, 0.75, 1.}) {
        const auto place = static_cast<int64_t>(q * static_cast<double>(n - 1));
        CAPTURE(q);
        CHECK(quantile(y, q).item<double>() == x[place].item<double>());
        CHECK(nanquantile(y, q).item<double>() == x[place].item<double>());
      }
    }
  });
}

TEST_CASE("gradients of atan2 do not square float16 and bfloat16 numbers") {
  for_each_device([](Device device) {
    for (const DType dtype : dtypes::kReducedFloating) {
      const Tensor y = tensor({3072.f, 0.f}, device).to(dtype).requires_grad_();
      const Tensor x = tensor({4096.f, 0x1p-14f}, device).to(dtype).requires_grad_();
      atan2(y, x).sum().backward();
      // The gradients of the first elements are 4096 / 5120^2 and -3072 / 5120^2, those of the
      // second 2^14 and 0, with an error of at most a unit in the last place.
      const Tensor up = y.grad().cpu().to(kFloat64), right = x.grad().cpu().to(kFloat64);
      const double eps = finfo(dtype).eps;
      check_values(up / tensor({0.00015625, 0x1p14}, kFloat64), {2}, {1, 1}, eps);
      check_values(right[0] / -0.0001171875, {}, {1}, eps);
      CHECK(x.grad()[1].item<double>() == 0);
    }
  });
}

TEST_CASE("gradients have the parameter's dtype") {
  for_each_device([](Device device) {
    for (const DType d : dtypes::kReducedFloating) {
      manual_seed(1);
      const Tensor x = randn({5, 7}).to(device, d), w = randn({3, 7}).to(device, d);
      w.requires_grad_();
      const Tensor b = zeros({3}, w.options()).requires_grad_();
      const Tensor target = tensor({0, 2, 1, 1, 0}).to(device);
      const Tensor loss = cross_entropy(relu(linear(x, w, b)).log_softmax(1), target);
      CHECK(loss.dtype() == d);
      loss.backward();
      CHECK(w.grad().dtype() == d);
      CHECK(b.grad().dtype() == d);
      // Make the same calls, without the zero bias, with these numbers in float64.
      const Tensor wide = w.detach().to(kFloat64).requires_grad_();
      cross_entropy(relu(linear(x.to(kFloat64), wide)).log_softmax(1), target).backward();
      // Each of four ops rounds numbers of magnitude at most 8, an error of at most
      // 8 * last_place / 2: 16 * last_place in all. The relative tolerance allows for the sum of
      // five terms below 1, one for each row of x, and for rounding the gradient itself.
      const double last_place = d == kHalf ? 0x1p-10 : 0x1p-7;
      CHECK(w.grad().to(kFloat64).allclose(wide.grad(), 4 * last_place, 16 * last_place));
      CHECK(allclose(w, w.detach().clone()));
      // A gradient through a conversion has the dtype of the conversion's input.
      const Tensor p = ones({2}, device).requires_grad_();
      (p.to(d) * 3).sum().backward();
      CHECK(p.grad().dtype() == kFloat32);
      CHECK(p.grad().cpu().equal(full({2}, 3.f)));
    }
  });
}

TEST_CASE("large products of bfloat16, computed in parts, are added in float32 and rounded once") {
  manual_seed(4);
  constexpr int64_t kM = 701, kK = 651, kN = 643;
  const auto numbers = [](IntArrayRef sizes) { return randn(sizes).bfloat16(); };
  const Tensor x = numbers({kM, kK}), w = numbers({kN, kK}), b = numbers({kN}),
               xt = numbers({kK, kM}), wt = numbers({kK, kN});
  const auto check = [&](const char* what, const Tensor& y, const auto& exact) {
    INFO(what);
    const auto wide = [](const Tensor& t) { return t.to(kFloat64); };
    const auto size = [](const Tensor& t) { return t.to(kFloat64).abs(); };
    const Tensor want = exact(wide);
    // Products are exact in float32, each addition is rounded by 2^-24 of the sum, and the final
    // rounding is half a unit in the last place.
    const Tensor bound = want.abs() * 0x1p-8 + exact(size) * (kK * 0x1p-24);
    CHECK(y.dtype() == kBFloat16);
    const Tensor worst = ((wide(y) - want).abs() / bound).max();
    CHECK(worst.template item<double>() <= 1);
  };
  check("linear", linear(x, w, b), [&](auto t) { return linear(t(x), t(w), t(b)); });
  check("linear of transposed", linear(xt.t(), wt.t()),
        [&](auto t) { return linear(t(xt).t(), t(wt).t()); });
  check("matmul", x.matmul(wt), [&](auto t) { return t(x).matmul(t(wt)); });
  check("matmul of transposed", xt.t().matmul(w.t()),
        [&](auto t) { return t(xt).t().matmul(t(w).t()); });
  check("matmul of strided", x.narrow(1, 1, 640).matmul(wt.narrow(0, 5, 640)),
        [&](auto t) { return t(x).narrow(1, 1, 640).matmul(t(wt).narrow(0, 5, 640)); });
}
