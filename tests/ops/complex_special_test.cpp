// Special values and accuracy of functions of complex numbers, compared with the functions of the C
// library, which has those of C99, Annex G.
#include "complex_cases.h"

using namespace ambit;
using namespace complex_cases;

namespace {

using Plain = Complex (*)(const Complex&);

struct Row {
  const char* name;
  Map map;
  Plain plain;
};

#define AMBIT_ROW(name)                                                                           \
  {                                                                                               \
#name, [](const Tensor& z) { return name(z); }, [](const Complex& z) { return std::name(z); } \
  }
const std::vector<Row> kRows{AMBIT_ROW(exp),   AMBIT_ROW(log),   AMBIT_ROW(sqrt), AMBIT_ROW(sin),
                             AMBIT_ROW(cos),   AMBIT_ROW(tan),   AMBIT_ROW(asin), AMBIT_ROW(acos),
                             AMBIT_ROW(atan),  AMBIT_ROW(sinh),  AMBIT_ROW(cosh), AMBIT_ROW(tanh),
                             AMBIT_ROW(asinh), AMBIT_ROW(acosh), AMBIT_ROW(atanh)};
#undef AMBIT_ROW

/// All numbers with parts from a list that has each class of C99's tables, and ordinary ones among
/// them, so that special elements have ordinary neighbours in a vector.
Numbers special_numbers() {
  const std::vector<double> parts{0.,  -0.,  1.,   -1.,   0.5,  -2.5,     100.,
                                  1e3, -1e3, kInf, -kInf, kNaN, 0x1p-100, -0x1p100};
  Numbers all;
  for (const double x : parts) {
    for (const double y : parts) all.emplace_back(x, y);
  }
  return all;
}

Complex rounded(const Complex& z, DType dtype) {
  return dtype == kComplexFloat ? Complex(std::complex<float>(z)) : z;
}

/// Allow each part an error of 4 units in the last place of |z|, not of the part itself, whose
/// terms may cancel.
void check_close(const Numbers& got, const Numbers& operands, Plain plain, DType dtype) {
  const double unit = dtype == kComplexFloat ? 0x1p-23 : 0x1p-52;
  const double least = dtype == kComplexFloat ? 0x1p-149 : 0x1p-1074;
  REQUIRE(got.size() == operands.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const Complex expected = rounded(plain(operands[i]), dtype);
    INFO("of ", operands[i].real(), " ", operands[i].imag());
    INFO(got[i].real(), " ", got[i].imag(), " for ", expected.real(), " ", expected.imag());
    const double size = std::hypot(expected.real(), expected.imag());
    const auto agrees = [&](double x, double y) {
      if (std::isnan(y)) return std::isnan(x);
      if (y == 0 || std::isinf(y)) {
        const bool tiny = std::abs(x) <= 2 * least;
        return (x == y || (y == 0 && tiny)) && std::signbit(x) == std::signbit(y);
      }
      const double bound = std::isfinite(size) ? size : std::abs(y);
      return std::abs(x - y) <= 4 * unit * bound + 2 * least;
    };
    CHECK(agrees(got[i].real(), expected.real()));
    CHECK(agrees(got[i].imag(), expected.imag()));
  }
}

}  // namespace

TEST_CASE("all special values are those of C99") {
  const Numbers all = special_numbers();
  for_each_dtype_and_device([&](DType d, Device device) {
    Numbers operands;
    for (const Complex& z : all) operands.push_back(rounded(z, d));
    for (const Row& row : kRows) {
      INFO(std::string(row.name));
      check_close(read(row.map(make(operands, d, device))), operands, row.plain, d);
    }
  });
}

TEST_CASE("functions of complex numbers are accurate") {
  manual_seed(3);
  for_each_dtype_and_device([&](DType d, Device device) {
    for (const double scale : {1e-3, 1., 20.}) {
      const Numbers operands = read((randn({300}, kComplexDouble) * scale).to(d));
      for (const Row& row : kRows) {
        INFO(std::string(row.name), " ", scale);
        check_close(read(row.map(make(operands, d, device))), operands, row.plain, d);
      }
    }
  });
}

// Near the unit circle log|z| is small, while |z|^2 is near 1: the real part alone is compared.
TEST_CASE("log is accurate near the unit circle") {
  for_each_device([](Device device) {
    Numbers operands;
    for (int i = 0; i < 200; ++i) {
      operands.push_back(rounded({std::cos(0.03 * i), std::sin(0.03 * i)}, kComplexFloat));
    }
    const Numbers got = read(log(make(operands, kComplexFloat, device)));
    for (size_t i = 0; i < got.size(); ++i) {
      const std::complex<long double> z = operands[i];
      const long double size = z.real() * z.real() + z.imag() * z.imag();
      const auto expected = static_cast<double>(std::log1p(size - 1) / 2);
      INFO(i);
      CHECK(std::abs(got[i].real() - expected) <= 0x1p-22 * std::abs(expected));
    }
  });
}

// Operands of one large and one small part, and products of numbers at the limits of the range.
TEST_CASE("quotients neither overflow nor underflow") {
  for_each_device([](Device device) {
    for (const DType d : dtypes::kComplex) {
      const double large = d == kComplexFloat ? 0x1p120 : 0x1p1000;
      for (const double scale : {large, 1 / large}) {
        const Tensor a = make({{3 * scale, 4 * scale}, {scale, 0}}, d, device);
        const Tensor b = make({{scale, 2 * scale}, {0, scale}}, d, device);
        check_near(a / b, {{2.2, -0.4}, {0, -1}});
        check_near(reciprocal(b) * scale, {{0.2, -0.4}, {0, -1}});
      }
    }
  });
}

TEST_CASE("a product of a number and its conjugate is real") {
  for_each_dtype_and_device([](DType d, Device device) {
    manual_seed(4);
    const Tensor z = randn({100}, kComplexDouble).to(device, d);
    for (const Complex& y : read(z * conj(z))) CHECK(y.imag() == 0);
  });
}

TEST_CASE("operands of any strides give the same results") {
  for_each_dtype_and_device([](DType d, Device device) {
    manual_seed(5);
    const Tensor a = randn({4, 6}, kComplexDouble).to(device, d), b = a + 1;
    const Tensor expected = exp(a) * b / (a + 2);
    const Tensor x = stack({a, b}, -1), first = x.select(-1, 0), second = x.select(-1, 1);
    check_near(exp(first) * second / (first + 2), read(expected));
    check_near((exp(a.t()) * b.t() / (a.t() + 2)).t().contiguous(), read(expected));
    const Tensor row = a.slice(0, 0, 1);
    check_near(b * row, read(b * row.expand({4, 6}).contiguous()));
    Tensor out = zeros({6, 4}, a.options()).t();
    out.copy_(a);
    out.exp_().mul_(b).div_(a + 2);
    check_near(out, read(expected));
  });
}

TEST_CASE("strides whose doubles are too large belong to dims of one element") {
  const Tensor z = tensor(std::vector<Complex>{{1, 2}, {3, 4}});
  const int64_t huge = (int64_t{1} << 62) + 1;
  const Tensor one = as_strided(z, {1, 2}, {huge, 1});
  check_equal(real(one).reshape({-1}), kFloat64, {1, 3});
  check_equal(view_as_real(one).reshape({-1}), kFloat64, {1, 2, 3, 4});
  check_equal((one * one).reshape({-1}), kComplexDouble, {{-3, 4}, {-7, 24}});
}

TEST_CASE("transforms of a tensor without dims name themselves") {
  const Tensor z = tensor(Complex(1, 2));
  CHECK_THROWS_WITH_AS(fft::fft(z), "fft_fft: expected a tensor with dims, got a 0-dim one",
                       IndexError);
  CHECK_THROWS_WITH_AS(fft::irfft(z), "fft_irfft: expected a tensor with dims, got a 0-dim one",
                       IndexError);
}
