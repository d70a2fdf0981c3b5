// Transforms of many lengths compared with transforms in long double: all factors and primes of a
// random sample, whose plans differ.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <numbers>
#include <vector>

using namespace ambit;

namespace {

using Long = std::complex<long double>;
using Line = std::vector<Long>;

// e^(-i pi turns / n); turns are reduced before the angle is rounded.
Long root(uint64_t turns, uint64_t n) {
  const long double angle = std::numbers::pi_v<long double> *
                            static_cast<long double>(turns % (2 * n)) / static_cast<long double>(n);
  return {std::cos(angle), -std::sin(angle)};
}

// The transform of a line whose length is a power of two, in place.
void transform(Line& x) {
  const size_t n = x.size();
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n / 2;
    for (; j & bit; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  Line roots(n / 2);
  for (size_t i = 0; i < n / 2; ++i) roots[i] = root(2 * i, n);
  for (size_t half = 1; half < n; half *= 2) {
    for (size_t start = 0; start < n; start += 2 * half) {
      for (size_t i = 0; i < half; ++i) {
        const Long odd = x[start + half + i] * roots[i * (n / 2 / half)];
        x[start + half + i] = x[start + i] - odd;
        x[start + i] += odd;
      }
    }
  }
}

// The transform of any length as a convolution (Bluestein).
Line transform_of(const Line& x) {
  const size_t n = x.size();
  size_t m = 1;
  while (m < 2 * n) m *= 2;
  Line a(m), b(m);
  for (size_t i = 0; i < n; ++i) {
    const Long chirp = root(i * i, n);
    a[i] = x[i] * chirp;
    b[i] = b[(m - i) % m] = std::conj(chirp);
  }
  transform(a);
  transform(b);
  for (size_t i = 0; i < m; ++i) a[i] = std::conj(a[i] * b[i]);
  transform(a);
  Line y(n);
  for (size_t i = 0; i < n; ++i) {
    y[i] = std::conj(a[i]) / static_cast<long double>(m) * root(i * i, n);
  }
  return y;
}

// Return the error relative to the norm of the exact result, in units of u log2(n).
double error_of(const Tensor& x, const Tensor& y) {
  const Tensor from = x.to(kComplexDouble).contiguous(), to = y.to(kComplexDouble).contiguous();
  const auto* p = from.data_ptr<std::complex<double>>();
  const auto* q = to.data_ptr<std::complex<double>>();
  const Line exact = transform_of(Line(p, p + x.numel()));
  long double error = 0, size = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    error += std::norm(Long(q[i]) - exact[i]);
    size += std::norm(exact[i]);
  }
  const double unit = y.dtype() == kComplexFloat ? 0x1p-24 : 0x1p-53;
  const double passes = std::max(1., std::log2(static_cast<double>(exact.size())));
  return static_cast<double>(std::sqrt(error / size)) / (unit * passes);
}

// Each pass adds errors of random signs, so the root mean square error of log2(n) passes is less
// than u log2(n). Prime lengths above about 50 are convolutions of up to 4 n points: three
// transforms, whose errors add up. The largest measured error is 0.71.
void check(int64_t n) {
  for (const DType dtype : dtypes::kComplex) {
    INFO(n, " ", std::string(name(dtype)));
    const Tensor x = randn({n}, dtype);
    CHECK(error_of(x, fft::fft(x)) < 1);
    CHECK(error_of(conj(x), conj(fft::ifft(x, {}, -1, "forward"))) < 1);
    const Tensor half = fft::rfft(real(x));
    CHECK(error_of(real(x), fft::fft(real(x))) < 1);
    CHECK(half.numel() == n / 2 + 1);
    CHECK(equal(half, fft::fft(real(x)).slice(0, 0, n / 2 + 1)));
  }
}

}  // namespace

TEST_CASE("transforms of lengths up to 4,096 have errors below u log2(n)") {
  manual_seed(1);
  // AMBIT_FFT_LENGTHS=4096: all; the suite compares one of every 41.
  const char* const asked = std::getenv("AMBIT_FFT_LENGTHS");
  const int64_t count = asked ? std::atoll(asked) : 100;
  for (int64_t i = 0; i < count; ++i) {
    check(asked ? i % 4096 + 1 : 1 + i * 41 + randint(41, {1}, kInt64).item<int64_t>() % 40);
  }
}

TEST_CASE("transforms of large random lengths have errors below u log2(n)") {
  manual_seed(2);
  const char* const asked = std::getenv("AMBIT_FFT_LARGE");
  const int64_t count = asked ? std::atoll(asked) : 2;
  for (int64_t i = 0; i < count; ++i) {
    check(randint(4097, asked ? 1000001 : 100000, {1}, kInt64).item<int64_t>());
  }
}
