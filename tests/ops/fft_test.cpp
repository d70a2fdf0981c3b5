// Fourier transforms of pairs compared with sums in long double, their composite and gradients;
// frequencies and shifts compared with PyTorch 2.15.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/detail/fft.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "composite.h"
#include "tests/autograd/gradcheck.h"
#include "tests/expected.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;
using namespace composite_test;

namespace {

// Return the transform of x [n, 2] as the sum in long double.
std::vector<long double> exact(const std::vector<double>& x, bool inverse) {
  const size_t n = x.size() / 2;
  std::vector<long double> cosine(n), sine(n), y(2 * n);
  for (size_t i = 0; i < n; ++i) {
    const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(i) /
                              static_cast<long double>(n);
    cosine[i] = std::cos(angle), sine[i] = inverse ? std::sin(angle) : -std::sin(angle);
  }
  for (size_t k = 0; k < n; ++k) {
    for (size_t j = 0, turn = 0; j < n; ++j, turn = (turn + k) % n) {
      y[2 * k] += x[2 * j] * cosine[turn] - x[2 * j + 1] * sine[turn];
      y[2 * k + 1] += x[2 * j] * sine[turn] + x[2 * j + 1] * cosine[turn];
    }
  }
  return y;
}

// Return the error of y relative to the norm of the exact result.
double error_of(const Tensor& y, const std::vector<long double>& expected) {
  const Tensor host = y.cpu().to(kFloat64).contiguous();
  REQUIRE(host.numel() == static_cast<int64_t>(expected.size()));
  long double error = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    error += std::pow(host.data_ptr<double>()[i] - expected[i], 2);
    norm += expected[i] * expected[i];
  }
  return static_cast<double>(std::sqrt(error / norm));
}

// Transform n random pairs on all devices; the errors grow with the number of passes, log2(n).
void check_length(int64_t n) {
  for (const DType dtype : {kFloat32, kFloat64}) {
    for (const bool inverse : {false, true}) {
      INFO(n, " ", std::string(name(dtype)), " inverse ", inverse);
      const Tensor x = randn({n, 2}, dtype), wide = x.to(kFloat64);
      const double* p = wide.data_ptr<double>();
      const auto expected = exact(std::vector<double>(p, p + 2 * n), inverse);
      const double passes = std::max(1.0, std::log2(static_cast<double>(n)));
      const double bound = (dtype == kFloat32 ? 2e-7 : 4e-16) * passes;
      for_each_device(
          [&](Device d) { CHECK(error_of(fft_pairs(x.to(d), 0, inverse), expected) <= bound); });
    }
  }
}

Tensor pairs(IntArrayRef sizes, Device d) { return wave(d, sizes); }

}  // namespace

TEST_CASE("transforms of pairs of lengths up to 64 are as exact as the dtype allows") {
  manual_seed(1);
  for (int64_t n = 1; n <= 64; ++n) check_length(n);
}

TEST_CASE("transforms of pairs of composite and of prime lengths are as exact") {
  manual_seed(2);
  for (const int64_t n : {67, 127, 211, 257, 509, 542, 1000, 1024, 4096}) check_length(n);
}

TEST_CASE("a transform of a large prime length is as exact") {
  manual_seed(3);
  check_length(2003);
}

TEST_CASE("transforms run along any dim, of any layout") {
  for_each_device([](Device d) {
    const Tensor x = pairs({3, 5, 7, 2}, d);
    for (const int64_t dim : {0, 1, 2}) {
      const Tensor moved = fft_pairs(x.transpose(dim, 2).contiguous(), 2).transpose(dim, 2);
      CHECK(fft_pairs(x, dim).allclose(moved, 1e-12, 1e-12));
      CHECK(fft_pairs(x, dim - 4).equal(fft_pairs(x, dim)));
    }
    const Tensor y = x.transpose(0, 2);
    CHECK(fft_pairs(y, 0).allclose(fft_pairs(x, 2).transpose(0, 2), 1e-12, 1e-12));
    // torch.view_as_real(torch.fft.fft(torch.tensor([1 + 2j, 3, -1j])))
    check_values(
        fft_pairs(tensor({{1., 2.}, {3., 0.}, {0., -1.}}, TensorOptions(kFloat64).device(d)), 0),
        {3, 2}, {4, 1, 0.366025403784, -0.098076211353, -1.366025403784, 5.098076211353});
    CHECK(fft_pairs(x.narrow(1, 0, 0), 0).sizes() == IntArrayRef{3, 0, 7, 2});
    CHECK(fft_pairs(x.narrow(1, 0, 0), 1).sizes() == IntArrayRef{3, 0, 7, 2});
  });
}

TEST_CASE("transforms are linear, keep the energy, and have an inverse") {
  manual_seed(4);
  for_each_device([](Device d) {
    for (const int64_t n : {1, 12, 101, 360, 521}) {
      INFO(n);
      const TensorOptions o = TensorOptions(kFloat64).device(d);
      const Tensor a = randn({2, n, 3, 2}, o), b = randn({2, n, 3, 2}, o);
      const double size = static_cast<double>(n);
      const Tensor fa = fft_pairs(a, 1), fb = fft_pairs(b, 1);
      CHECK(fft_pairs(a * 2 - b, 1).allclose(fa * 2 - fb, 1e-11, 1e-11));
      CHECK((fa * fa).sum().allclose((a * a).sum() * size, 1e-12, 0));
      CHECK(fft_pairs(fa, 1, true, 1 / size).allclose(a, 1e-12, 1e-12));
      CHECK(fft_pairs(a, 1, false, 0.25).allclose(fa * 0.25, 1e-12, 1e-12));
    }
  });
}

TEST_CASE("the composite of transforms agrees with the kernel") {
  manual_seed(5);
  for (const int64_t n : {1, 2, 15, 64, 66, 97, 128, 514, 769}) {
    for (const int64_t columns : {1, 3}) {
      INFO(n, " ", columns);
      const Dims sizes{2, n, columns, 2};
      for (const bool inverse : {false, true}) {
        check_composite(kernels::fft_pairs, {unwritten(sizes)}, {normal(sizes)},
                        [&](auto&& f, Tensors& o, const Tensors& in) {
                          f(o[0], in[0], inverse, 1 / std::sqrt(static_cast<double>(n)));
                        });
      }
    }
  }
}

TEST_CASE("the composite of transforms of real lines agrees with the kernel") {
  manual_seed(6);
  for (const int64_t n : {1, 2, 3, 15, 64, 97, 128}) {
    for (const int64_t columns : {1, 3}) {
      INFO(n, " ", columns);
      const Dims real{2, n, columns}, half{2, n / 2 + 1, columns, 2};
      check_composite(kernels::fft_real, {unwritten(half)}, {normal(real)},
                      [](auto&& f, Tensors& o, const Tensors& in) { f(o[0], in[0], false, 0.5); });
      check_composite(kernels::fft_real, {unwritten(real)}, {normal(half)},
                      [&](auto&& f, Tensors& o, const Tensors& in) {
                        f(o[0], in[0], true, 1 / static_cast<double>(n));
                      });
    }
  }
}

TEST_CASE("transforms of real lines are as exact as those of pairs") {
  manual_seed(7);
  for (const DType dtype : {kFloat32, kFloat64}) {
    for (const int64_t n : {1, 2, 3, 30, 31, 64, 127, 509, 1000, 1024, 2003}) {
      INFO(n, " ", std::string(name(dtype)));
      const Tensor x = randn({n}, dtype), wide = x.to(kFloat64);
      std::vector<double> pairs(static_cast<size_t>(2 * n));
      for (int64_t i = 0; i < n; ++i) {
        pairs[static_cast<size_t>(2 * i)] = wide.data_ptr<double>()[i];
      }
      auto expected = exact(pairs, false);
      expected.resize(static_cast<size_t>(2 * (n / 2 + 1)));
      const double passes = std::max(1.0, std::log2(static_cast<double>(n)));
      const double bound = (dtype == kFloat32 ? 2e-7 : 4e-16) * passes;
      std::vector<long double> line;
      for (int64_t i = 0; i < n; ++i) line.push_back(pairs[static_cast<size_t>(2 * i)]);
      for_each_device([&](Device d) {
        const Tensor y = rfft_pairs(x.to(d), 0);
        CHECK(error_of(y, expected) <= bound);
        CHECK(error_of(irfft_pairs(y, 0, n, 1 / static_cast<double>(n)), line) <= 2 * bound);
      });
    }
  }
}

TEST_CASE("transforms of pairs have correct first and second gradients") {
  for_each_device([](Device d) {
    for (const bool inverse : {false, true}) {
      const auto f = [&](const std::vector<Tensor>& in) {
        return fft_pairs(in[0], 1, inverse, 0.5);
      };
      gradcheck(f, {pairs({2, 5, 3, 2}, d)});
      gradgradcheck(f, {pairs({2, 5, 3, 2}, d)});
    }
    const Tensor x = pairs({4, 2}, d).requires_grad_();
    const Tensor weights = wave(d, {4, 2}, 0.3);
    CHECK(autograd::grad({(fft_pairs(x, 0) * weights).sum()}, {x})[0].allclose(
        fft_pairs(weights, 0, true), 1e-12, 1e-12));
  });
}

TEST_CASE(
    "transforms of float16 and bfloat16 are computed in float32, those of meta have shapes only") {
  for_each_device([](Device d) {
    for (const DType dtype : {kHalf, kBFloat16}) {
      const Tensor x = pairs({3, 12, 2}, d).to(dtype);
      CHECK(fft_pairs(x, 1).equal(fft_pairs(x.to(kFloat32), 1).to(dtype)));
    }
  });
  const Tensor y = fft_pairs(empty({3, 12, 2}, kMeta), 1);
  CHECK(y.sizes() == IntArrayRef{3, 12, 2});
  CHECK(y.device().is_meta());
}

TEST_CASE("transforms refuse operands that are not pairs") {
  const Tensor x = ones({3, 4, 2});
  CHECK_THROWS_AS(fft_pairs(Tensor(), 0), Error);
  CHECK_THROWS_AS(fft_pairs(ones({3, 2}, kInt64), 0), DTypeError);
  CHECK_THROWS_AS(fft_pairs(ones({2}), 0), ShapeError);
  CHECK_THROWS_AS(fft_pairs(ones({3, 4}), 0), ShapeError);
  CHECK_THROWS_AS(fft_pairs(x, 3), IndexError);
  CHECK_THROWS_AS(fft_pairs(x, -4), IndexError);
  CHECK_THROWS_AS(fft_pairs(x, 2), IndexError);
  CHECK_THROWS_AS(fft_pairs(x, -1), IndexError);
  CHECK_THROWS_AS(rfft_pairs(Tensor(), 0), Error);
  CHECK_THROWS_AS(rfft_pairs(ones({3}, kInt64), 0), DTypeError);
  CHECK_THROWS_AS(rfft_pairs(x, 3), IndexError);
  CHECK_THROWS_AS(rfft_pairs(ones({0}), 0), ShapeError);
  CHECK_THROWS_AS(irfft_pairs(Tensor(), 0, 4), Error);
  CHECK_THROWS_AS(irfft_pairs(ones({3, 2}, kInt64), 0, 4), DTypeError);
  CHECK_THROWS_AS(irfft_pairs(ones({3, 3}), 0, 4), ShapeError);
  CHECK_THROWS_AS(irfft_pairs(x, 2, 4), IndexError);
  CHECK_THROWS_AS(irfft_pairs(x, 1, 4), ShapeError);
  CHECK_THROWS_AS(irfft_pairs(x, 1, 0), ShapeError);
}

TEST_CASE("frequencies have PyTorch's values") {
  const double inf = HUGE_VAL, nan = std::nan("");
  for_each_device([&](Device d) {
    const TensorOptions o = TensorOptions(kFloat64).device(d);
    // torch.fft.fftfreq(5), (6, 0.5), (4, -2.), (4, 0), (1), (0)
    check_values(fft_fftfreq(5, o), {5}, {0, 0.2, 0.4, -0.4, -0.2});
    check_values(fft_fftfreq(6, 0.5, o), {6},
                 {0, 0.333333333333, 0.666666666667, -1, -0.666666666667, -0.333333333333});
    check_values(fft_fftfreq(4, -2., o), {4}, {0, -0.125, 0.25, 0.125});
    check_values(fft_fftfreq(4, 0, o), {4}, {nan, inf, -inf, -inf});
    check_values(fft_fftfreq(1, o), {1}, {0});
    check_values(fft_fftfreq(0, o), {0}, {});
    // torch.fft.rfftfreq(5), (6, 0.3), (1), (0)
    check_values(fft_rfftfreq(5, o), {3}, {0, 0.2, 0.4});
    check_values(fft_rfftfreq(6, 0.3, o), {4}, {0, 0.555555555556, 1.111111111111, 1.666666666667});
    check_values(fft_rfftfreq(1, o), {1}, {0});
    check_values(fft_rfftfreq(0, o), {1}, {nan});
    // The exact values, rounded once. torch.fft.fftfreq(7, 0.3, dtype=torch.float16) of 2.15 rounds
    // the step first: 3 steps are 1.4277 there.
    check_values(fft_fftfreq(7, 0.3, o.dtype(kHalf)), {7},
                 {0, 0.476074218750, 0.952148437500, 1.4287109375, -1.4287109375, -0.9521484375,
                  -0.47607421875});
    CHECK(fft::fftfreq(5, o).equal(fft_fftfreq(5, o)));
    CHECK(fft::fftfreq(5, 2., o).equal(fft_fftfreq(5, 2., o)));
    CHECK(fft::rfftfreq(5, o).equal(fft_rfftfreq(5, o)));
    CHECK(fft::rfftfreq(5, 2., o).equal(fft_rfftfreq(5, 2., o)));
  });
  CHECK(fft_fftfreq(3).dtype() == kFloat32);
  CHECK(fft_fftfreq(3, TensorOptions().requires_grad(true)).requires_grad());
  CHECK(fft_fftfreq(int64_t{1} << 40, kMeta).size(0) == int64_t{1} << 40);
}

TEST_CASE("shifts have PyTorch's values") {
  for_each_device([](Device d) {
    const auto line = [&](int64_t n) { return arange(n, TensorOptions(kInt64).device(d)); };
    check_values(fft_fftshift(line(5)), {5}, {3, 4, 0, 1, 2});
    check_values(fft_ifftshift(line(5)), {5}, {2, 3, 4, 0, 1});
    const Tensor a = line(6).view({2, 3});
    check_values(fft_fftshift(a), {2, 3}, {5, 3, 4, 2, 0, 1});
    check_values(fft_ifftshift(a), {2, 3}, {4, 5, 3, 1, 2, 0});
    check_values(fft_fftshift(a, 1), {2, 3}, {2, 0, 1, 5, 3, 4});
    check_values(fft_fftshift(a, {1, 1}), {2, 3}, {1, 2, 0, 4, 5, 3});
    const Tensor b = line(15).view({3, 5});
    check_values(fft_fftshift(b, {-1, 0}), {3, 5},
                 {13, 14, 10, 11, 12, 3, 4, 0, 1, 2, 8, 9, 5, 6, 7});
    check_values(fft_ifftshift(b, -1), {3, 5}, {2, 3, 4, 0, 1, 7, 8, 9, 5, 6, 12, 13, 14, 10, 11});
    CHECK(fft_ifftshift(fft_fftshift(b)).equal(b));
    CHECK(fft_fftshift(b.narrow(0, 0, 0)).sizes() == IntArrayRef{0, 5});
    CHECK(fft::fftshift(b, 0).equal(fft_fftshift(b, 0)));
    CHECK(fft::ifftshift(b).equal(fft_ifftshift(b)));
    const auto f = [](const std::vector<Tensor>& in) {
      return fft_fftshift(in[0]) + fft_ifftshift(in[0], 1);
    };
    gradcheck(f, {wave(d, {3, 4})});
    gradgradcheck(f, {wave(d, {3, 4})});
  });
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      VALUE(fft_fftfreq, -1),
      VALUE(fft_fftfreq, -1, 0.5),
      DTYPE(fft_fftfreq, 4, kInt64),
      VALUE(fft_rfftfreq, -1),
      DTYPE(fft_rfftfreq, 4, 0.5, kBool),
      INDEX(fft_fftshift, m23(), 2),
      INDEX(fft_fftshift, ones({}), 0),
      SHAPE(fft_fftshift, ones({})),
      SHAPE(fft_fftshift, m23(), IntArrayRef{}),
      VALUE(fft_fftshift, none()),
      INDEX(fft_ifftshift, m23(), -3),
      SHAPE(fft_ifftshift, ones({})),
      VALUE(fft_ifftshift, none()),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  return {
      RESULT(fft_fftfreq, fft_fftfreq(5, 0.3, o.a.options())),
      RESULT(fft_rfftfreq, fft_rfftfreq(5, 0.3, o.a.options())),
      with_dims(RESULT(fft_fftshift, fft_fftshift(o.a), fft_fftshift(o.n, 0))),
      with_dims(RESULT(fft_ifftshift, fft_ifftshift(o.a), fft_ifftshift(o.n, -1))),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
