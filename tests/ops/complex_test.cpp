// complex64 and complex128: values and gradients of PyTorch 2.15.0+cu132, with
//   a = torch.tensor([1+2j, -0.5+0.25j, 0.25-1.5j, 2+0.125j], dtype=torch.complex128)
//   b = torch.tensor([0.5-1j, 2+0.5j, -1+1j, 0.25-0.75j], dtype=torch.complex128)
//   w = torch.tensor([1+2j, -1+0.5j, 0.5-1j, 2+1j], dtype=torch.complex128)
// and gradients of (y * w[:y.numel()]).real.sum() for a complex result y, of (y * w.real).sum() for
// a real one. One file, because all cases share these operands.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"

using namespace ambit;

namespace {

using Complex = std::complex<double>;
using Numbers = std::vector<Complex>;

const Numbers kA{{1, 2}, {-0.5, 0.25}, {0.25, -1.5}, {2, 0.125}};
const Numbers kB{{0.5, -1}, {2, 0.5}, {-1, 1}, {0.25, -0.75}};
const Numbers kW{{1, 2}, {-1, 0.5}, {0.5, -1}, {2, 1}};
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor make(const Numbers& values, DType dtype, Device device) {
  return tensor(values).to(device, dtype);
}

/// Return the elements of any dtype.
Numbers read(const Tensor& t) {
  const Tensor host = t.detach().cpu().to(kComplexDouble).contiguous();
  const Complex* data = host.data_ptr<Complex>();
  return Numbers(data, data + host.numel());
}

/// A function has an error of a few roundings in each part of its result; a product of functions,
/// as in gradients, has the sum of their errors. Relative to the largest number, this is less than
/// 1e-13 for parts of float64 and less than 2e-5 for parts of float32; the operands are exact in
/// both.
void check_near(const Tensor& got, const Numbers& expected) {
  INFO(str(got));
  const Numbers values = read(got);
  REQUIRE(values.size() == expected.size());
  double largest = 1;
  for (const Complex& e : expected) largest = std::max(largest, std::abs(e));
  const double tolerance = real_dtype(got.dtype()) == kFloat64 ? 1e-13 : 2e-5;
  for (size_t i = 0; i < values.size(); ++i) {
    INFO("element ", i);
    CHECK(std::abs(values[i] - expected[i]) <= tolerance * largest);
  }
}

/// Check the bits, except for the sign and the payload of NaN.
void check_equal(const Tensor& got, DType dtype, const Numbers& expected) {
  INFO(str(got));
  CHECK(got.dtype() == dtype);
  const Numbers values = read(got);
  REQUIRE(values.size() == expected.size());
  const auto same = [](double x, double y) {
    return std::isnan(y) ? std::isnan(x) : x == y && std::signbit(x) == std::signbit(y);
  };
  for (size_t i = 0; i < values.size(); ++i) {
    INFO("element ", i);
    CHECK(same(values[i].real(), expected[i].real()));
    CHECK(same(values[i].imag(), expected[i].imag()));
  }
}

/// Return the real number whose gradients are in the tables.
Tensor loss(const Tensor& y) {
  const Tensor flat = y.reshape({-1}), w = make(kW, kComplexDouble, y.device());
  const Tensor part = w.slice(0, 0, flat.numel());
  if (!flat.is_complex()) return (flat * real(part).to(flat.dtype())).sum();
  return real(flat * part.to(flat.dtype())).sum();
}

void for_each_dtype_and_device(const std::function<void(DType, Device)>& body) {
  for_each_device([&](Device device) {
    for (const DType d : dtypes::kComplex) {
      INFO(name(d));
      body(d, device);
    }
  });
}

using Map = std::function<Tensor(const Tensor&)>;

struct MapRow {
  const char* name;
  Map map;
  Numbers values, gradient;
};

void check_maps(const std::vector<MapRow>& rows) {
  for_each_dtype_and_device([&](DType d, Device device) {
    for (const MapRow& row : rows) {
      INFO(std::string(row.name));
      const Tensor z = make(kA, d, device).requires_grad_();
      const Tensor y = row.map(z);
      check_near(y, row.values);
      loss(y).backward();
      CHECK(z.grad().dtype() == d);
      check_near(z.grad(), row.gradient);
    }
  });
}

/// Check first and second gradients of a map on pairs of real parts.
void check_by_parts(const Map& map) {
  const auto on_pairs = [&](const std::vector<Tensor>& in) {
    const Tensor y = map(view_as_complex(in[0]));
    return y.is_complex() ? view_as_real(y) : y;
  };
  const Tensor pairs = view_as_real(tensor(kA)).clone();
  gradcheck(on_pairs, {pairs});
  gradgradcheck(on_pairs, {pairs});
}

}  // namespace

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

// torch.promote_types, torch.can_cast, torch.result_type. Float16 and bfloat16 tensors with a 0-dim
// complex one give complex32 and bcomplex32 in PyTorch, which ambit lacks.
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

// clang-format off
TEST_CASE("unary functions of complex numbers have PyTorch's values and gradients") {
  check_maps({
      {"neg", [](const Tensor& z) { return neg(z); },
       {{-1, -2}, {0.5, -0.25}, {-0.25, 1.5}, {-2, -0.125}},
       {{-1, 2}, {1, 0.5}, {-0.5, -1}, {-2, 1}}},
      {"square", [](const Tensor& z) { return square(z); },
       {{-3, 4}, {0.1875, -0.25}, {-2.1875, -0.75}, {3.984375, 0.5}},
       {{-6, -8}, {0.75, 1}, {-2.75, 2}, {7.75, -4.5}}},
      {"reciprocal", [](const Tensor& z) { return reciprocal(z); },
       {{0.2, -0.4}, {-1.6, -0.8}, {0.10810810810810809, 0.64864864864864857}, {0.49805447470817121, -0.0311284046692607}},
       {{-0.20000000000000004, -0.40000000000000008}, {3.2000000000000006, -1.6000000000000003}, {0.064280496712929125, 0.47918188458728989}, {-0.52518584687126224, 0.185074717255371}}},
      {"exp", [](const Tensor& z) { return exp(z); },
       {{-1.1312043837568135, 2.4717266720048188}, {0.58767509034392262, 0.15005808662216327}, {0.090828364846697027, -1.2808089158182041}, {7.3314042243856372, 0.92122859910266941}},
       {{-6.0746577277664509, -0.2093179044911917}, {-0.66270413365500425, -0.14377945854979804}, {-1.2353947333948556, 0.731232822755799}, {13.741579849668605, -9.173861422590976}}},
      {"exp2", [](const Tensor& z) { return exp2(z); },
       {{0.36691394948660344, 1.9660554808224875}, {0.69651670918278119, 0.12191994844646645}, {0.60228707925950709, -1.025409106908139}, {3.9849952336691858, 0.34614012716510045}},
       {{-2.4712062571183164, -1.8714165525460413}, {-0.52504282744277719, -0.15688582807178597}, {-0.50202263593566232, 0.77285330656334561}, {5.2844503683020827, -3.2420403172089172}}},
      {"expm1", [](const Tensor& z) { return expm1(z); },
       {{-2.1312043837568138, 2.4717266720048188}, {-0.41232490965607732, 0.15005808662216327}, {-0.90917163515330279, -1.2808089158182041}, {6.3314042243856372, 0.92122859910266941}},
       {{-6.0746577277664517, -0.20931790449119125}, {-0.66270413365500436, -0.14377945854979809}, {-1.2353947333948554, 0.73123282275579926}, {13.741579849668605, -9.173861422590976}}},
      {"log", [](const Tensor& z) { return log(z); },
       {{0.80471895621705025, 1.1071487177940904}, {-0.58157540490284043, 2.677945044588987}, {0.4191645952022216, -1.4056476493802699}, {0.69509650076777407, 0.06241880999595735}},
       {{1, -0}, {2, -0}, {0.70270270270270252, -0.21621621621621623}, {1.027237354085603, -0.43579766536964981}}},
      {"log1p", [](const Tensor& z) { return log1p(z); },
       {{1.0397207708399181, 0.78539816339744828}, {-0.58157540490284043, 0.46364760900080609}, {0.669142570966765, -0.87605805059819342}, {1.0994795915742137, 0.041642579098588421}},
       {{0.75, -0.25}, {-1.2000000000000002, -1.6}, {0.55737704918032793, 0.13114754098360659}, {0.67937608318890808, -0.30502599653379547}}},
      {"log2", [](const Tensor& z) { return log2(z); },
       {{1.1609640474436813, 1.5972779646881088}, {-0.83903595255631891, 3.8634580356017056}, {0.604726682814475, -2.0279208929981438}, {1.0028122745969392, 0.090051307639358133}},
       {{1.4426950408889634, -0}, {2.8853900817779268, -0}, {1.0137857044084608, -0.311934062894911}, {1.4819902365551998, -0.6287231306597818}}},
      {"log10", [](const Tensor& z) { return log10(z); },
       {{0.34948500216800937, 0.480828578784234}, {-0.25257498915995297, 1.1630167557051545}, {0.1820408707055351, -0.610465017626128}, {0.30187657467370371, 0.027108144748211813}},
       {{0.43429448190325176, -0}, {0.86858896380650352, -0}, {0.305179906202285, -0.0939015096007031}, {0.44612351448427423, -0.18926452129635876}}},
      {"sqrt", [](const Tensor& z) { return sqrt(z); },
       {{1.272019649514069, 0.78615137775742328}, {0.17178037486125622, 0.72767334511267745}, {0.94092790174767238, -0.79708551378586567}, {1.4149032551265077, 0.044172631431547468}},
       {{0.63600982475703449, -0.39307568887871164}, {0.17178037486125622, -0.72767334511267745}, {0.41676769669900554, 0.17833513708717741}, {0.71709557321607909, -0.3309936561713957}}},
      {"rsqrt", [](const Tensor& z) { return rsqrt(z); },
       {{0.56886448100578313, -0.35157758425414293}, {0.3072900763121319, -1.3017016520692888}, {0.61875037669868826, 0.52416020504866689}, {0.70607392104142164, -0.022043304349315118}},
       {{-0.28443224050289162, -0.17578879212707146}, {-0.30729007631213168, -1.3017016520692888}, {-0.16073281288887242, 0.25105632898452496}, {-0.36745596350595056, 0.14253083036657593}}},
      {"sin", [](const Tensor& z) { return sin(z); },
       {{3.1657785132161682, 1.9596010414216063}, {-0.494485780933195, 0.22168816414957482}, {0.58199545259958829, -2.0630853133346414}, {0.91641056764348694, -0.052153924904408386}},
       {{8.1365186053232659, -1.013548214887531}, {-0.96570454858151267, -0.33146627923599176}, {1.6664316161301413, 2.0158828133858551}, {-0.72484603341359888, 0.64731902906099958}}},
      {"cos", [](const Tensor& z) { return cos(z); },
       {{2.0327230070196656, -3.0518977991518}, {0.90515015055960679, 0.12110879604381165}, {2.2792788971607405, 0.526792167549771}, {-0.41940221917763948, -0.11395840494168002}},
       {{0.75342356962704438, 8.2911580678539423}, {-0.3836416988584076, -0.46893105461617235}, {1.7720875870348474, -1.613538109266909}, {-1.8849750601913822, 0.81210271783467014}}},
      {"tan", [](const Tensor& z) { return tan(z); },
       {{0.033812826079896691, 1.0147936161466335}, {-0.504500702698564, 0.3124206925025888}, {0.043802176925167191, -0.91527191326131407}, {-2.0033447309700536, 0.66869435155584678}},
       {{-0.16591493636347404, -0.011300527770607555}, {-0.99929781101441961, -0.89369005277002977}, {0.001916173190561879, 0.20428685777766556}, {11.811726562243248, 0.79226324797258751}}},
      {"asin", [](const Tensor& z) { return asin(z); },
       {{0.42707858639247614, 1.528570919480998}, {-0.50160885327550075, 0.28139605624529274}, {0.13819517113326382, -1.202745551643968}, {1.4988142592876712, 1.3199506863946082}},
       {{0.066646367054717992, -0.93778555024141419}, {-0.99189882081916814, -0.69754281119165651}, {0.21075583979159887, 0.5807875677643678}, {-0.47757140952037486, -1.1934354986115463}}},
      {"acos", [](const Tensor& z) { return acos(z); },
       {{1.1437177404024204, -1.528570919480998}, {2.0724051800703975, -0.28139605624529274}, {1.4326011556616327, 1.202745551643968}, {0.071982067507225356, -1.3199506863946082}},
       {{-0.066646367054717992, 0.93778555024141419}, {0.99189882081916814, 0.69754281119165651}, {-0.21075583979159887, -0.5807875677643678}, {0.47757140952037486, 1.1934354986115463}}},
      {"atan", [](const Tensor& z) { return atan(z); },
       {{1.3389725222944935, 0.40235947810852507}, {-0.4842544903299662, 0.20058661813123432}, {1.3888068485400746, -0.75142065110178979}, {1.1083963758408342, 0.024942788436237526}},
       {{0.30000000000000004, 0.4}, {-0.89124668435013255, -0.23342175066313}, {0.079207920792079181, -0.79207920792079212}, {0.41718149535438048, -0.15877803181398065}}},
      {"sinh", [](const Tensor& z) { return sinh(z); },
       {{-0.48905625904129368, 1.4031192506220405}, {-0.504895714387995, 0.27897912835026151}, {0.017869088397805058, -1.0288293962476212}, {3.5985624360322253, 0.46905074472890418}},
       {{-2.7793629674810765, 0.21568882804826162}, {-1.0281102838678684, -0.67520644409405706}, {-0.215499881346137, 0.19894903623418347}, {7.0135057223330595, -4.6371974971009431}}},
      {"cosh", [](const Tensor& z) { return cosh(z); },
       {{-0.64214812471552, 1.0686074213827783}, {1.0925708047319176, -0.12892104172809826}, {0.072959276448891969, -0.251979519570583}, {3.7328417883534124, 0.45217785437376529}},
       {{-3.2952947602853744, -0.42500673253945309}, {0.36540615021286421, 0.531426985544259}, {-1.0198948520487185, 0.53228378652161568}, {6.728074127335546, -4.5366639254900338}}},
      {"tanh", [](const Tensor& z) { return tanh(z); },
       {{1.16673625724092, -0.24345820118572531}, {-0.4854872810241353, 0.19805544995134955}, {3.7861089368147747, -1.0253320612293393}, {0.96508742125128044, 0.0087492551670121741}},
       {{-1.4382076400201211, 0.03590017557984182}, {-0.89968146310811625, -0.2094572268318271}, {1.6223802376242817, -16.165333925867014}, {0.15425322983106465, -0.034907634380526228}}},
      {"asinh", [](const Tensor& z) { return asinh(z); },
       {{1.4693517443681852, 1.0634400235777521}, {-0.49267568342077062, 0.2243284526346675}, {0.9937304660372428, -1.3546256105463583}, {1.44503192545256, 0.055860956954364105}},
       {{1.0530987581299995, -0.094957855783223188}, {-0.94989162915244618, -0.357432928135225}, {0.92781234290582748, -0.17074125257701767}, {0.91479789037449244, -0.40158463782724774}}},
      {"acosh", [](const Tensor& z) { return acosh(z); },
       {{1.528570919480998, 1.1437177404024206}, {0.28139605624529274, 2.0724051800703975}, {1.202745551643968, -1.4326011556616327}, {1.3199506863946082, 0.071982067507225453}},
       {{0.9377855502414143, 0.066646367054717992}, {0.69754281119165662, -0.99189882081916836}, {0.5807875677643678, -0.2107558397915989}, {1.1934354986115463, -0.4775714095203748}}},
      {"atanh", [](const Tensor& z) { return atanh(z); },
       {{0.17328679513998632, 1.1780972450961724}, {-0.500370000052531, 0.31439814320771647}, {0.076052843600747877, -0.99160338419614191}, {0.54586374915311564, 1.52944011907081}},
       {{-0.125, -0.375}, {-0.9513513513513514, -0.90810810810810816}, {0.078688524590163941, 0.33224043715847}, {-0.70646580455939212, 0.21671777096387146}}},
      {"sigmoid", [](const Tensor& z) { return sigmoid(z); },
       {{1.0214153641721806, 0.40343870608154253}, {0.37572483558003877, 0.059002964314508029}, {0.61459975851457527, -0.45252221280695593}, {0.88142199587940362, 0.013111529062612846}},
       {{0.9823253669805847, 0.13894066456543852}, {-0.24536963639774131, -0.10435331047024418}, {0.32453949683636923, 0.38978431212194659}, {0.2193803976756491, -0.084685070917361549}}},
      {"abs", [](const Tensor& z) { return abs(z); },
       {{2.23606797749979, 0}, {0.55901699437494745, 0}, {1.5206906325745548, 0}, {2.0039024427351748, 0}},
       {{0.44721359549995793, 0.89442719099991586}, {0.89442719099991586, -0.44721359549995793}, {0.082199493652678646, -0.49319696191607187}, {1.9961051569657771, 0.12475657231036107}}},
      {"angle", [](const Tensor& z) { return angle(z); },
       {{1.1071487177940904, 0}, {2.677945044588987, 0}, {-1.4056476493802699, 0}, {0.06241880999595735, 0}},
       {{-0.39999999999999991, 0.19999999999999996}, {0.79999999999999982, 1.5999999999999996}, {0.3243243243243244, 0.054054054054054064}, {-0.062256809338521388, 0.9961089494163422}}},
      {"sgn", [](const Tensor& z) { return sgn(z); },
       {{0.44721359549995793, 0.89442719099991586}, {-0.89442719099991586, 0.44721359549995793}, {0.16439898730535729, -0.98639392383214375}, {0.99805257848288853, 0.062378286155180533}},
       {{0.7155417527999326, -0.35777087639996635}, {-0.71554175279993271, -1.4310835055998652}, {0.42654872381930542, 0.0710914539698842}, {0.034951257612241278, -0.55922012179585978}}},
      {"conj", [](const Tensor& z) { return conj(z); },
       {{1, -2}, {-0.5, -0.25}, {0.25, 1.5}, {2, -0.125}},
       {{1, 2}, {-1, 0.5}, {0.5, -1}, {2, 1}}},
  });
}

TEST_CASE("reductions of complex numbers have PyTorch's values and gradients") {
  check_maps({
      {"sum", [](const Tensor& z) { return z.sum(); },
       {{2.75, 0.875}},
       {{1, -2}, {1, -2}, {1, -2}, {1, -2}}},
      {"mean", [](const Tensor& z) { return z.mean(); },
       {{0.6875, 0.21875}},
       {{0.25, -0.5}, {0.25, -0.5}, {0.25, -0.5}, {0.25, -0.5}}},
      {"prod", [](const Tensor& z) { return z.prod(); },
       {{-2.9140625, 2.453125}},
       {{-2.9140625, -2.453125}, {9.8125, -11.65625}, {1.3437500000000002, 5.4375}, {-4, 1.4375}}},
      {"cumsum", [](const Tensor& z) { return z.cumsum(0); },
       {{1, 2}, {0.5, 2.25}, {0.75, 0.75}, {2.75, 0.875}},
       {{2.5, -2.5}, {1.5, -0.5}, {2.5, 0}, {2, -1}}},
      {"cumprod", [](const Tensor& z) { return z.cumprod(0); },
       {{1, 2}, {-1, -0.75}, {-1.375, 1.3125}, {-2.9140625, 2.453125}},
       {{1.453125, -5.3671875}, {13.46875, 1.8125}, {-3.4375, 4.5312499999999991}, {-4.0625, -1.25}}},
      {"sum0", [](const Tensor& z) { return z.view({2, 2}).sum(0); },
       {{1.25, 0.5}, {1.5, 0.375}},
       {{1, -2}, {-1, -0.5}, {1, -2}, {-1, -0.5}}},
      {"prod1", [](const Tensor& z) { return z.view({2, 2}).prod(1); },
       {{-1, -0.75}, {0.6875, -2.96875}},
       {{-1, 0.75}, {-3, -4}, {-2.0625, -0.87499999999999989}, {0.5, -1.625}}},
  });
}

TEST_CASE("functions of two complex tensors have PyTorch's values and gradients") {
  const struct {
    const char* name;
    std::function<Tensor(const Tensor&, const Tensor&)> function;
    Numbers values, gradient_a, gradient_b;
  } rows[] = {
      {"add", [](const Tensor& a, const Tensor& b) { return add(a, b); },
       {{1.5, 1}, {1.5, 0.75}, {-0.75, -0.5}, {2.25, -0.625}},
       {{1, -2}, {-1, -0.5}, {0.5, 1}, {2, -1}},
       {{1, -2}, {-1, -0.5}, {0.5, 1}, {2, -1}}},
      {"sub", [](const Tensor& a, const Tensor& b) { return sub(a, b); },
       {{0.5, 3}, {-2.5, -0.25}, {1.25, -2.5}, {1.75, 0.875}},
       {{1, -2}, {-1, -0.5}, {0.5, 1}, {2, -1}},
       {{-1, 2}, {1, 0.5}, {-0.5, -1}, {-2, 1}}},
      {"mul", [](const Tensor& a, const Tensor& b) { return mul(a, b); },
       {{2.5, 0}, {-1.125, 0.25}, {1.25, 1.75}, {0.59375, -1.46875}},
       {{2.5, 0}, {-2.25, -0.5}, {0.5, -1.5}, {1.25, 1.25}},
       {{-3, -4}, {0.375, 0.5}, {-1.375, 1}, {3.875, -2.25}}},
      {"div", [](const Tensor& a, const Tensor& b) { return div(a, b); },
       {{-1.2000000000000002, 1.6}, {-0.20588235294117646, 0.1764705882352941}, {-0.875, 0.625}, {0.64999999999999991, 2.4499999999999997}},
       {{-1.2000000000000002, -1.6}, {-0.41176470588235292, -0.3529411764705882}, {-0.75, -0.25}, {-0.4, -2.8000000000000003}},
       {{1.12, -3.8400000000000007}, {-0.022491349480968856, -0.14532871972318337}, {-0.5, -0.6875}, {7.1199999999999983, 0.83999999999999986}}},
      {"pow", [](const Tensor& a, const Tensor& b) { return pow(a, b); },
       {{4.3825650598633583, -1.1243974773611554}, {0.028295743531022991, -0.07686836000260816}, {-0.67391416305871887, 2.5957304881132659}, {1.090743031768902, -0.60399887284104248}},
       {{1.0668850525705245, 4.9447637985439359}, {0.19005133412670025, 0.27917769647940943}, {-0.64351533086600943, 2.7131159873218378}, {0.23708811821929204, 1.0740316977699209}},
       {{-3.123046238765621, -13.490544134077481}, {-0.24963273213588422, 0.025782626137805451}, {3.7184249293324028, 2.34853941243575}, {1.9434997319271592, -0.0923633136508526}}},
      {"dot", [](const Tensor& a, const Tensor& b) { return dot(a, b); },
       {{3.21875, 0.53125}},
       {{2.5, 0}, {1, -4.5}, {-3, 1}, {1.75, 0.25}},
       {{-3, -4}, {-1, 0.75}, {3.25, 1}, {1.75, -4.125}}},
      {"vdot", [](const Tensor& a, const Tensor& b) { return vdot(a, b); },
       {{-3.71875, -5.53125}},
       {{2.5, 0}, {1, 4.5}, {-3, -1}, {1.75, -0.25}},
       {{5, 0}, {0, 1.25}, {-2.75, -2}, {2.25, -3.875}}},
      {"matmul", [](const Tensor& a, const Tensor& b) { return matmul(a.view({2, 2}), b.view({2, 2})); },
       {{2.75, -0.75}, {1.0625, 4.9375}, {-3.5, 0.875}, {1.84375, -4.34375}},
       {{0.25, -0.5}, {-2.875, 0.125}, {2.75, -2}, {1.75, -0.25}},
       {{-4.375, -3}, {0, 4.25}, {0.125, 2.6875}, {4.25, -1.75}}},
      {"outer", [](const Tensor& a, const Tensor& b) { return outer(a.slice(0, 0, 2), b.slice(0, 0, 2)); },
       {{2.5, 0}, {1, 4.5}, {0, 0.625}, {-1.125, 0.25}},
       {{0.25, -0.5}, {2.75, -2}, {0, 0}, {0, 0}},
       {{-3, -4.625}, {-3.25, 1.5}, {0, 0}, {0, 0}}},
      {"linear", [](const Tensor& a, const Tensor& b) { return linear(a.view({2, 2}), b.view({2, 2}), {}); },
       {{1.375, 0.25}, {-2.9375, -0.5625}, {2.5625, 0.25}, {1.84375, 0.28125}},
       {{3, 1.5}, {1.125, -5.375}, {-3.75, 0}, {2.75, 3}},
       {{-4.375, -3}, {0.125, 2.6875}, {0, 4.25}, {4.25, -1.75}}},
  };
  for_each_dtype_and_device([&](DType d, Device device) {
    for (const auto& row : rows) {
      INFO(std::string(row.name));
      const Tensor a = make(kA, d, device).requires_grad_();
      const Tensor b = make(kB, d, device).requires_grad_();
      const Tensor y = row.function(a, b);
      check_near(y, row.values);
      loss(y).backward();
      check_near(a.grad(), row.gradient_a);
      check_near(b.grad(), row.gradient_b);
    }
  });
}

// Results that C99, Annex G, and PyTorch agree on.
TEST_CASE("special values of complex functions are those of C99") {
  const double pi = std::acos(-1);
  const struct {
    const char* name;
    Map map;
    Numbers operands, results;
  } rows[] = {
      {"exp", [](const Tensor& z) { return exp(z); },
       {{-0., 0}, {kInf, 1}, {-kInf, 1}, {1, kInf}, {kNaN, 0}}, {1, {kInf, kInf}, {0, 0}, {kNaN, kNaN}, {kNaN, 0}}},
      {"log", [](const Tensor& z) { return log(z); },
       {{-0., 0}, {kInf, 1}, {-kInf, 1}, {-1, 0}, {-1, -0.}}, {{-kInf, pi}, {kInf, 0}, {kInf, pi}, {0, pi}, {0, -pi}}},
      {"sqrt", [](const Tensor& z) { return sqrt(z); },
       {{kInf, 1}, {-kInf, 1}, {1, kInf}, {-1, 0}, {-1, -0.}}, {{kInf, 0}, {0, kInf}, {kInf, kInf}, {0, 1}, {0, -1}}},
      {"sinh", [](const Tensor& z) { return sinh(z); },
       {{-0., 0}, {kNaN, 0}, {1, kInf}}, {{-0., 0}, {kNaN, 0}, {kNaN, kNaN}}},
      {"tanh", [](const Tensor& z) { return tanh(z); },
       {{-0., 0}, {kInf, 1}, {-kInf, 1}, {kNaN, 0}}, {{-0., 0}, {1, 0}, {-1, 0}, {kNaN, 0}}},
      {"asin", [](const Tensor& z) { return asin(z); },
       {{-0., 0}, {kInf, 1}}, {{-0., 0}, {pi / 2, kInf}}},
      {"acos", [](const Tensor& z) { return acos(z); },
       {{kInf, 1}, {-kInf, 1}}, {{0, -kInf}, {pi, -kInf}}},
      {"atanh", [](const Tensor& z) { return atanh(z); },
       {{-0., 0}, {-1, 0}, {kInf, 1}}, {{-0., 0}, {-kInf, 0}, {0, pi / 2}}},
      {"asinh", [](const Tensor& z) { return asinh(z); },
       {{-0., 0}, {kInf, 1}, {kNaN, 0}}, {{-0., 0}, {kInf, 0}, {kNaN, 0}}},
      {"acosh", [](const Tensor& z) { return acosh(z); },
       {{kInf, 1}, {-kInf, 1}}, {{kInf, 0}, {kInf, pi}}},
      // torch.tensor([complex(inf, 1)]) * 2, 2 / it and its square; [1j] / 0
      {"product with a number", [](const Tensor& z) { return z * 2; }, {{kInf, 1}}, {{kInf, kNaN}}},
      {"quotient of a number", [](const Tensor& z) { return 2 / z; }, {{kInf, 1}}, {{0, 0}}},
      {"square", [](const Tensor& z) { return pow(z, 2); }, {{kInf, 1}}, {{kInf, kInf}}},
      {"quotient by 0", [](const Tensor& z) { return z / 0; }, {{0, 1}}, {{kNaN, kInf}}},
      {"rsqrt", [](const Tensor& z) { return rsqrt(z); }, {0}, {{kInf, kNaN}}},
      {"power 0", [](const Tensor& z) { return pow(z, 0); }, {0, {1, 2}}, {1, 1}},
  };
  for_each_device([&](Device device) {
    for (const auto& row : rows) {
      INFO(std::string(row.name));
      check_equal(row.map(make(row.operands, kComplexDouble, device)), kComplexDouble, row.results);
    }
  });
}
// clang-format on

TEST_CASE("first and second gradients of complex functions agree with differences") {
  const Tensor b = tensor(kB);
  const Tensor real_factor = tensor({0.5, 2., -1., 3.}, kFloat64);
  check_by_parts([&](const Tensor& z) { return z * b; });
  check_by_parts([&](const Tensor& z) { return z * z; });
  check_by_parts([&](const Tensor& z) { return b / z; });
  check_by_parts([&](const Tensor& z) { return real_factor / z + z * real_factor; });
  check_by_parts([&](const Tensor& z) { return 2 / z - z / 3 + 1; });
  check_by_parts([&](const Tensor& z) { return pow(z, 3) + pow(z, 0.5); });
  check_by_parts([&](const Tensor& z) { return pow(z, b); });
  check_by_parts([&](const Tensor& z) { return pow(b, z); });
  check_by_parts([&](const Tensor& z) { return abs(z); });
  check_by_parts([&](const Tensor& z) { return angle(z); });
  check_by_parts([&](const Tensor& z) { return sgn(z); });
  check_by_parts([&](const Tensor& z) { return conj(z) * exp(z); });
  check_by_parts([&](const Tensor& z) { return real(z) * imag(z); });
  check_by_parts([&](const Tensor& z) { return tanh(z) + sigmoid(z); });
  check_by_parts([&](const Tensor& z) { return log(z) * sqrt(z); });
  check_by_parts([&](const Tensor& z) { return sin(z) * cos(z); });
  check_by_parts([&](const Tensor& z) { return prod(z); });
  check_by_parts([&](const Tensor& z) { return cumprod(z, 0) + cumsum(z, 0); });
  check_by_parts([&](const Tensor& z) { return mean(z) * sum(z * b); });
  check_by_parts([&](const Tensor& z) { return matmul(z.view({2, 2}), z.view({2, 2})); });
  check_by_parts([&](const Tensor& z) {
    return einsum("ij,kj->ik", {z.view({2, 2}), b.view({2, 2})});
  });
  check_by_parts([&](const Tensor& z) { return vdot(z, b) + dot(b, z); });
  check_by_parts([&](const Tensor& z) { return complex(abs(z), real(z)); });
  check_by_parts([&](const Tensor& z) { return real_factor.to(kComplexDouble) * z; });
  // A real operand gets a real gradient.
  const Tensor x = tensor({0.5, 2., -1., 3.}, kFloat64).requires_grad_();
  loss(x * b).backward();
  CHECK(x.grad().dtype() == kFloat64);
  check_near(x.grad(), {2.5, -2.25, 0.5, 1.25});
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

// torch.adjoint(t.view(1, 3)), torch.norm(t), ... of t = torch.tensor([1+2j, 0, 3-1j])
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
    CHECK_THROWS_AS(logsumexp(z, {0}), DTypeError);
    CHECK_THROWS_AS(nansum(z), DTypeError);
    CHECK_THROWS_AS(softmax(z, 0), DTypeError);
    CHECK_THROWS_AS(special_entr(z), DTypeError);
    CHECK_THROWS_AS(hash_tensor(z), DTypeError);
    CHECK_THROWS_AS(linalg_ldl_factor(z.view({3, 1}) * z), DTypeError);
  });
}

// repr() of the tensors
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

// torch.sinc of z, with the weights 1, 2, ... of the parts
TEST_CASE("sinc of complex numbers has a gradient") {
  const Tensor z =
      tensor({Complex(0.5, -0.25), Complex(1.25, 0.75), Complex(0.001, 0.001), Complex(0)});
  z.requires_grad_();
  (view_as_real(sinc(z)) * arange(1, 9).to(kFloat64).view({4, 2})).sum().backward();
  const Tensor expected = tensor({Complex(-0.8835, -3.3194), Complex(12.5982, -10.420),
                                  Complex(-0.0362, -0.00329), Complex(0)});
  CHECK(allclose(z.grad(), expected, 1e-4, 1e-4));
}
