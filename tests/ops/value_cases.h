// Table of calls with PyTorch's results for the same inputs; each row contains the line of Python
// that computed it.
#pragma once

#include <ambit/ambit.h>

#include <set>
#include <string>
#include <vector>

#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/rounding.h"

namespace value_cases {

using namespace ambit;
using Numbers = std::vector<double>;

/// In Python, with D = torch.float64, the dtype of all floating-point tensors:
///   a = tensor([[-2.5, -0.5, 0.], [0.25, 1., 3.5]]); b = tensor([[1.5, -0.5, 0.], [-2., 3.,
///   -1.25]])
///   s = tensor([[nan, inf, -inf], [0., -0., 1.]]); t = tensor([[1., nan, inf], [-0., 2., nan]])
///   n = tensor([[-12, 7, 0], [5, 64, -3]]); m = tensor([[18, 0, 4], [-2, 3, 70]])
///   u = tensor([[.1, .9, .5], [.3, .7, .2]]); z = tensor(2.5); e = zeros(0, 3)
///   y = tensor([[True, False, True], [False, False, True]])
struct Inputs {
  /// `floats`: a conversion of the float64 tensors.
  explicit Inputs(
      Device d, FunctionRef<Tensor(const Tensor&)> floats = [](const Tensor& t) { return t; })
      : a(floats(tensor({{-2.5, -0.5, 0.}, {0.25, 1., 3.5}}, kFloat64)).to(d)),
        b(floats(tensor({{1.5, -0.5, 0.}, {-2., 3., -1.25}}, kFloat64)).to(d)),
        s(floats(tensor({{NAN, INFINITY, -INFINITY}, {0.f, -0.f, 1.f}}, kFloat64)).to(d)),
        t(floats(tensor({{1.f, NAN, INFINITY}, {-0.f, 2.f, NAN}}, kFloat64)).to(d)),
        u(floats(tensor({{.1, .9, .5}, {.3, .7, .2}}, kFloat64)).to(d)),
        z(floats(tensor(2.5, kFloat64)).to(d)),
        e(floats(zeros({0, 3}, kFloat64)).to(d)),
        n(tensor({{-12, 7, 0}, {5, 64, -3}}).to(d)),
        m(tensor({{18, 0, 4}, {-2, 3, 70}}).to(d)),
        y(tensor({{true, false, true}, {false, false, true}}).to(d)) {}
  Tensor a, b, s, t, u, z, e, n, m, y;
};

struct Case {
  const char* python;
  Tensor (*call)(const Inputs& in);
  DType dtype;
  Dims sizes;
  Numbers values;
};
#define CASE(python, expression, dtype, sizes, values)                                  \
  Case {                                                                                \
    python, [](const Inputs& in) -> Tensor { return expression; }, dtype, sizes, values \
  }

/// Check all cases on every device and, except for those in `apart`, the results for reduced
/// floating-point types against float64. float32 results have relative errors up to 2^-24; six
/// digits are compared.
inline void check_cases(const std::vector<Case>& cases, const std::set<std::string>& apart = {}) {
  for_each_device([&](Device d) {
    const Inputs in(d);
    for (const Case& c : cases) {
      INFO(std::string(c.python));
      const Tensor got = c.call(in);
      CHECK(got.dtype() == c.dtype);
      check_values(got, c.sizes, c.values, c.dtype == kFloat32 ? 1e-6 : 6e-12);
    }
  });
  for (const Case& c : cases) {
    if (apart.contains(c.python)) continue;
    INFO(std::string(c.python));
    rounding::check_reduced_floating(
        [&](Device d, const rounding::Floats& floats) {
          return std::vector<Tensor>{c.call(Inputs(d, floats))};
        },
        rounding::kOfRows);
  }
}

}  // namespace value_cases
