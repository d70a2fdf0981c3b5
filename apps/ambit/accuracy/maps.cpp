#include "maps.h"

#include <ambit/nn/functional/activation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/special.h>

#include <cmath>

#include "exact.h"

namespace accuracy {

namespace {

using namespace ambit;
using namespace ambit::nn::functional;
namespace exact = accuracy;

constexpr double kInf = INFINITY;
constexpr double kHalfPi = 1.5707963267948967;
enum Kind { any = 0, monotone = 1, odd = 2, odd_monotone = 3 };

// A row without a derivative: its gradient is exact, or is composed of other maps.
#define AMBIT_MAP(name, function, low, high, kind) \
  {#name,                                          \
   [](const Tensor& x) { return name(x); },        \
   AMBIT_IN_BOTH(function),                        \
   nullptr,                                        \
   nullptr,                                        \
   low,                                            \
   high,                                           \
   ((kind)&monotone) != 0,                         \
   ((kind)&odd) != 0},
#define AMBIT_MAP_GRAD(name, call, function, slope, low, high, kind) \
  {#name,                                                            \
   [](const Tensor& t) { return call; },                             \
   AMBIT_IN_BOTH(function),                                          \
   AMBIT_IN_BOTH(slope),                                             \
   low,                                                              \
   high,                                                             \
   ((kind)&monotone) != 0,                                           \
   ((kind)&odd) != 0},
#define AMBIT_IN_BOTH(value)             \
  [](double x) -> double {               \
    using W = double;                    \
    return static_cast<W>(value);        \
  },                                     \
      [](long double x) -> long double { \
        using W = long double;           \
        return static_cast<W>(value);    \
      }

// clang-format off
constexpr Map kMaps[] = {
    AMBIT_MAP_GRAD(exp, exp(t), std::exp(x), std::exp(x), 0, kInf, monotone)
    AMBIT_MAP(exp2, std::exp2(x), 0, kInf, monotone)
    AMBIT_MAP_GRAD(expm1, expm1(t), std::expm1(x), std::exp(x), -1, kInf, monotone)
    AMBIT_MAP(log, std::log(x), -kInf, kInf, monotone)
    AMBIT_MAP_GRAD(log1p, log1p(t), std::log1p(x), 1 / (1 + x), -kInf, kInf, monotone)
    AMBIT_MAP(log2, std::log2(x), -kInf, kInf, monotone)
    AMBIT_MAP(log10, std::log10(x), -kInf, kInf, monotone)
    AMBIT_MAP(sqrt, std::sqrt(x), 0, kInf, monotone)
    AMBIT_MAP(rsqrt, 1 / std::sqrt(x), 0, kInf, monotone)
    AMBIT_MAP(reciprocal, 1 / x, -kInf, kInf, odd)
    AMBIT_MAP_GRAD(sin, sin(t), std::sin(x), std::cos(x), -1, 1, odd)
    AMBIT_MAP_GRAD(cos, cos(t), std::cos(x), -std::sin(x), -1, 1, any)
    AMBIT_MAP(tan, std::tan(x), -kInf, kInf, odd)
    AMBIT_MAP_GRAD(asin, asin(t), std::asin(x), 1 / std::sqrt((1 - x) * (1 + x)), -kHalfPi, kHalfPi, odd_monotone)
    AMBIT_MAP(acos, std::acos(x), 0, 2 * kHalfPi, monotone)
    AMBIT_MAP_GRAD(atan, atan(t), std::atan(x), 1 / (1 + x * x), -kHalfPi, kHalfPi, odd_monotone)
    AMBIT_MAP_GRAD(sinh, sinh(t), std::sinh(x), std::cosh(x), -kInf, kInf, odd_monotone)
    AMBIT_MAP_GRAD(cosh, cosh(t), std::cosh(x), std::sinh(x), 1, kInf, any)
    AMBIT_MAP_GRAD(tanh, tanh(t), std::tanh(x), 1 / (std::cosh(x) * std::cosh(x)), -1, 1, odd_monotone)
    AMBIT_MAP_GRAD(sigmoid, sigmoid(t), exact::sigmoid<W>(x), exact::sigmoid<W>(x) * exact::sigmoid<W>(-x), 0, 1, monotone)
    AMBIT_MAP(asinh, std::asinh(x), -kInf, kInf, odd_monotone)
    AMBIT_MAP(acosh, std::acosh(x), 0, kInf, monotone)
    AMBIT_MAP(atanh, std::atanh(x), -kInf, kInf, odd_monotone)
    AMBIT_MAP(erf, std::erf(x), -1, 1, odd_monotone)
    AMBIT_MAP(erfc, std::erfc(x), 0, 2, monotone)
    AMBIT_MAP_GRAD(lgamma, lgamma(t), std::lgamma(x), exact::digamma<W>(x), -kInf, kInf, any)
    AMBIT_MAP(digamma, exact::digamma<W>(x), -kInf, kInf, any)
    AMBIT_MAP(sinc, exact::sine_cardinal<W>(x), -0.25, 1, any)
    AMBIT_MAP(logit, exact::logit<W>(x), -kInf, kInf, monotone)
    AMBIT_MAP_GRAD(gelu, gelu(t), exact::times<W>(x, exact::normal_cdf<W>(x)), exact::normal_cdf<W>(x) + exact::times<W>(x, exact::normal_density<W>(x)), -0.17, kInf, any)
    AMBIT_MAP_GRAD(gelu_tanh, gelu(t, "tanh"), exact::times<W>(x, exact::sigmoid<W>(exact::gelu_tanh_logit<W>(x))), exact::gelu_tanh_derivative<W>(x), -0.171, kInf, any)
    AMBIT_MAP_GRAD(silu, silu(t), exact::times<W>(x, exact::sigmoid<W>(x)), exact::sigmoid<W>(x) * (1 + exact::times<W>(x, exact::sigmoid<W>(-x))), -0.279, kInf, any)
    AMBIT_MAP_GRAD(mish, mish(t), exact::times<W>(x, exact::mish_gate<W>(x)), exact::mish_derivative<W>(x), -0.309, kInf, any)
    AMBIT_MAP_GRAD(selu, selu(t), x > 0 ? W(kSeluScale) * x : W(kSeluScale) * W(kSeluAlpha) * std::expm1(x), x > 0 ? W(kSeluScale) : W(kSeluScale) * W(kSeluAlpha) * std::exp(x), -1.7581, kInf, monotone)
    AMBIT_MAP_GRAD(elu, elu(t), x > 0 ? x : std::expm1(x), x > 0 ? W(1) : std::exp(x), -1, kInf, monotone)
    AMBIT_MAP_GRAD(softplus, softplus(t), x > 20 ? x : exact::softplus<W>(x), x > 20 ? W(1) : exact::sigmoid<W>(x), 0, kInf, monotone)
    AMBIT_MAP_GRAD(logsigmoid, logsigmoid(t), -exact::softplus<W>(-x), exact::sigmoid<W>(-x), -kInf, 0, monotone)
};
// clang-format on

}  // namespace

std::span<const Map> all_maps() { return kMaps; }

}  // namespace accuracy
