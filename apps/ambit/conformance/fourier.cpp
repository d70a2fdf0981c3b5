// Discrete Fourier transforms.
#include <ambit/backend/kernels.h>
#include <fmt/format.h>

#include <cmath>

#include "cases.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

struct Transform {
  const char* name;
  Dims sizes;  // [B, N, C, 2]
};
const std::vector<Transform> kTransforms = {
    {"one", {3, 1, 2, 2}},
    {"two", {3, 2, 1, 2}},
    {"odd", {2, 15, 3, 2}},
    {"prime", {5, 31, 1, 2}},
    {"power", {2, 64, 5, 2}},
    {"columns", {1, 48, 37, 2}},
    {"rows", {37, 60, 1, 2}},
    {"factors", {2, 720, 3, 2}},
    {"large_prime", {2, 211, 2, 2}},
    {"larger_prime", {1, 509, 3, 2}},
    {"twice_a_prime", {2, 542, 1, 2}},
    {"large", {3, 2048, 2, 2}},
    {"no_lines", {0, 8, 3, 2}},
};

/// The reference adds N products of pairs up to 3 in float64; a device may do the same in its own
/// dtype. Rounding errors have random signs; each root of unity has one rounding error.
Bound bound(double n, double scale, DType dtype) {
  return {2, 32 * 3 * scale * (n + 8) * epsilon(dtype) / std::sqrt(n),
          "sums of 2 N products of numbers up to 3 with N roundings of partial sums"};
}

void check(Trial& t, const Dims& sizes, DType dtype, Layout layout) {
  const auto n = static_cast<double>(sizes[1]);
  for (const bool inverse : {false, true}) {
    for (const double scale : {1.0, 1 / n}) {
      t.begin(fmt::format("inverse {}, scale {}", inverse, scale));
      Operand& y = t.output("y", dtype, sizes, layout);
      Operand& x = t.input("x", dtype, sizes, layout);
      t.run([&](Side s) { kernels::fft_pairs(y[s], x[s], inverse, scale); });
      t.expect(y, bound(n, scale, dtype));
    }
  }
}

// Check transforms of real lines x [B,N,C] to pairs y [B,N/2+1,C,2], and in the other direction.
void check_real(Trial& t, const Dims& sizes, DType dtype, Layout layout) {
  const Dims real{sizes[0], sizes[1], sizes[2]}, pairs{sizes[0], sizes[1] / 2 + 1, sizes[2], 2};
  const auto n = static_cast<double>(sizes[1]);
  for (const bool inverse : {false, true}) {
    const double scale = inverse ? 1 / n : 1;
    t.begin(fmt::format("inverse {}, scale {}", inverse, scale));
    Operand& y = t.output("y", dtype, inverse ? real : pairs, layout);
    Operand& x = t.input("x", dtype, inverse ? pairs : real, layout);
    t.run([&](Side s) { kernels::fft_real(y[s], x[s], inverse, scale); });
    t.expect(y, bound(n, scale, dtype));
  }
}

}  // namespace

void add_fourier_cases(Cases& cases) {
  for (const DType dtype : dtypes::kAnyFloating) {
    for (const Transform& c : kTransforms) {
      cases.push_back(
          kernel_case(fmt::format("fft_pairs/{}/{}", name(dtype), c.name), [=, &c](Trial& t) {
            for (Layout layout : {Layout::contiguous, Layout::offset}) {
              check(t, c.sizes, dtype, layout);
            }
          }));
      cases.push_back(
          kernel_case(fmt::format("fft_real/{}/{}", name(dtype), c.name), [=, &c](Trial& t) {
            for (Layout layout : {Layout::contiguous, Layout::offset}) {
              check_real(t, c.sizes, dtype, layout);
            }
          }));
    }
  }
}

}  // namespace conformance
