// Operands, comparisons and tables of the tests of complex numbers: values and gradients of
// PyTorch 2.15.0+cu132, with
//   a = torch.tensor([1+2j, -0.5+0.25j, 0.25-1.5j, 2+0.125j], dtype=torch.complex128)
//   b = torch.tensor([0.5-1j, 2+0.5j, -1+1j, 0.25-0.75j], dtype=torch.complex128)
//   w = torch.tensor([1+2j, -1+0.5j, 0.5-1j, 2+1j], dtype=torch.complex128)
// and gradients of (y * w[:y.numel()]).real.sum() for a complex result y, of (y * w.real).sum() for
// a real one.
#pragma once

#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"

namespace complex_cases {

using namespace ambit;

using Complex = std::complex<double>;
using Numbers = std::vector<Complex>;

inline const Numbers kA{{1, 2}, {-0.5, 0.25}, {0.25, -1.5}, {2, 0.125}};
inline const Numbers kB{{0.5, -1}, {2, 0.5}, {-1, 1}, {0.25, -0.75}};
inline const Numbers kW{{1, 2}, {-1, 0.5}, {0.5, -1}, {2, 1}};
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

inline Tensor make(const Numbers& values, DType dtype, Device device) {
  return tensor(values).to(device, dtype);
}

/// Return the elements of any dtype.
inline Numbers read(const Tensor& t) {
  const Tensor host = t.detach().cpu().to(kComplexDouble).contiguous();
  const Complex* data = host.data_ptr<Complex>();
  return Numbers(data, data + host.numel());
}

/// A function has an error of a few roundings in each part of its result; a product of functions,
/// as in gradients, has the sum of their errors. Relative to the largest number, this is less than
/// 1e-13 for parts of float64 and than 2e-5 for float32, in which the operands are exact.
inline void check_near(const Tensor& got, const Numbers& expected) {
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
inline void check_equal(const Tensor& got, DType dtype, const Numbers& expected) {
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

/// The real number whose gradients the tables hold.
inline Tensor loss(const Tensor& y) {
  const Tensor flat = y.reshape({-1}), w = make(kW, kComplexDouble, y.device());
  const Tensor part = w.slice(0, 0, flat.numel());
  if (!flat.is_complex()) return (flat * real(part).to(flat.dtype())).sum();
  return real(flat * part.to(flat.dtype())).sum();
}

inline void for_each_dtype_and_device(const std::function<void(DType, Device)>& body) {
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

inline void check_maps(const std::vector<MapRow>& rows) {
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
inline void check_by_parts(const Map& map) {
  const auto on_pairs = [&](const std::vector<Tensor>& in) {
    const Tensor y = map(view_as_complex(in[0]));
    return y.is_complex() ? view_as_real(y) : y;
  };
  const Tensor pairs = view_as_real(tensor(kA)).clone();
  gradcheck(on_pairs, {pairs});
  gradgradcheck(on_pairs, {pairs});
}

using Map2 = std::function<Tensor(const Tensor&, const Tensor&)>;

struct Map2Row {
  const char* name;
  Map2 map;
  Numbers values, gradient_a, gradient_b;
};

inline void check_maps(const std::vector<Map2Row>& rows) {
  for_each_dtype_and_device([&](DType d, Device device) {
    for (const Map2Row& row : rows) {
      INFO(std::string(row.name));
      const Tensor a = make(kA, d, device).requires_grad_();
      const Tensor b = make(kB, d, device).requires_grad_();
      const Tensor y = row.map(a, b);
      check_near(y, row.values);
      loss(y).backward();
      check_near(a.grad(), row.gradient_a);
      check_near(b.grad(), row.gradient_b);
    }
  });
}

}  // namespace complex_cases
