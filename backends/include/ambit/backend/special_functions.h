// Special functions of one element that <cmath> lacks, on host or device, computed in float64;
// float32 results are rounded once from it.
#pragma once

#include <ambit/api.h>

#include <cmath>
#include <limits>

namespace ambit::arithmetic {

/// Pi, rounded to double.
inline constexpr double kPi = 3.14159265358979323846;

/// Return y with erf(y) = x: a polynomial approximation, then Halley's steps on erfc, which avoids
/// cancellation where erf is near 1. Source of the approximation: Giles 2010, "Approximating the
/// erfinv function", the single precision version.
AMBIT_HOST_DEVICE inline double inverse_erf(double x) {
  const double rest = 1 - std::fabs(x);  // exact from 1/2 on
  if (!(rest >= 0)) return std::numeric_limits<double>::quiet_NaN();
  if (rest == 0) return std::copysign(std::numeric_limits<double>::infinity(), x);
  double y;
  if (rest < 1e-7) {
    // erfc(y) is about e^(-y^2) / (y sqrt(pi)).
    const double w = -std::log(rest * std::sqrt(kPi));
    y = std::sqrt(w - std::log(w) / 2);
    y = std::sqrt(w - std::log(y));
  } else {
    double w = -std::log(rest * (1 + std::fabs(x)));
    if (w < 5) {
      w -= 2.5;
      y = 2.81022636e-08;
      y = 3.43273939e-07 + y * w;
      y = -3.5233877e-06 + y * w;
      y = -4.39150654e-06 + y * w;
      y = 0.00021858087 + y * w;
      y = -0.00125372503 + y * w;
      y = -0.00417768164 + y * w;
      y = 0.246640727 + y * w;
      y = 1.50140941 + y * w;
    } else {
      w = std::sqrt(w) - 3;
      y = -0.000200214257;
      y = 0.000100950558 + y * w;
      y = 0.00134934322 + y * w;
      y = -0.00367342844 + y * w;
      y = 0.00573950773 + y * w;
      y = -0.0076224613 + y * w;
      y = 0.00943887047 + y * w;
      y = 1.00167406 + y * w;
      y = 2.83297682 + y * w;
    }
    y *= std::fabs(x);
  }
  // Each step triples the number of correct digits: initially 6, but only 3 next to 1.
  for (int step = rest < 1e-7 ? 0 : 1; step < 2; ++step) {
    const double error = rest < 0.5 ? rest - std::erfc(y) : std::erf(y) - std::fabs(x);
    const double newton = error / (2 / std::sqrt(kPi) * std::exp(-y * y));
    y -= newton / (1 + y * newton);
  }
  return std::copysign(y, x);
}

/// Return the derivative of log Gamma: reflection to x > 0, recurrence up to x >= 10, then the
/// asymptotic series; near the root a power series. At +-0 it is -+inf, at -1, -2, ... NaN. Source:
/// Abramowitz & Stegun 1964, 6.3.
AMBIT_HOST_DEVICE inline double digamma(double x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kRoot = 1.4616321449683622, kRestOfRoot = 9.549995429965697e-17;
  // Coefficients of the powers of x - kRoot: the derivatives there divided by factorials.
  constexpr double kAtRoot[] = {
      0.96767224544762117,     -0.442763168983592106,   0.258499760955651011,
      -0.163942705442406528,   0.107824050691262366,    -0.0721995612564547109,
      0.0488042881641431072,   -0.0331611264748473593,  0.0225976482322181047,
      -0.0154247659049489591,  0.0105387916166121754,   -0.00720453438635686824,
      0.00492678139572985345,  -0.00336980165543932808, 0.00230512632673492784,
      -0.00157693677143019726, 0.00107882520191629658,  -0.00073807093899600513,
      0.000504953265834602035};
  if (x == 0) return std::copysign(kInfinity, -x);
  double sum = 0;
  if (x < 0) {
    const double fraction = x - std::nearbyint(x);
    if (!(fraction != 0)) return std::numeric_limits<double>::quiet_NaN();
    // Above a quarter use the complement, which is exact: the result at a half is exactly 0.
    const double size = std::fabs(fraction);
    const double cotangent = size > 0.25 ? std::tan(kPi * (0.5 - size)) : 1 / std::tan(kPi * size);
    sum = fraction > 0 ? -kPi * cotangent : kPi * cotangent;
    x = 1 - x;
  }
  if (std::fabs(x - kRoot) < 0.2) {
    const double d = x - kRoot - kRestOfRoot;
    double series = 0;
    for (int k = 18; k >= 0; --k) series = series * d + kAtRoot[k];
    return sum + series * d;
  }
  for (; x < 10; x += 1) sum -= 1 / x;
  const double z = 1 / (x * x);
  double series = 1.0 / 12;
  series = -691.0 / 32760 + z * series;
  series = 1.0 / 132 + z * series;
  series = -1.0 / 240 + z * series;
  series = 1.0 / 252 + z * series;
  series = -1.0 / 120 + z * series;
  series = 1.0 / 12 + z * series;
  return sum + std::log(x) - 0.5 / x - z * series;
}

/// Return the sum of c[k] T_k(t), T_k the Chebyshev polynomials, by Clenshaw's recurrence.
template <int n>
AMBIT_HOST_DEVICE double chebyshev_sum(const double (&c)[n], double t) {
  double b1 = 0, b2 = 0;
  for (int k = n - 1; k > 0; --k) {
    const double b0 = 2 * t * b1 - b2 + c[k];
    b2 = b1;
    b1 = b0;
  }
  return t * b1 - b2 + c[0];
}

/// Return f e^r, also if e^r overflows but f e^r does not.
AMBIT_HOST_DEVICE inline double times_exp(double f, double r) {
  if (r < 700) return f * std::exp(r);
  const double root = std::exp(r / 2);
  return f * root * root;
}

/// Coefficients of I0, the modified Bessel function of the first kind of order 0, as Chebyshev
/// series (computed with 60 digits): e^-r I0(r) in r / 4 - 1 for r <= 8, sqrt(r) e^-r I0(r) in 16 /
/// r - 1 above.
struct BesselI0 {
  /// The coefficients for r <= 8.
  double near[31] = {0.338397637204738042,     -0.304682672343198399,    0.171620901522208775,
                     -0.0949010970480476444,   0.0493052842396707085,    -0.0237374148058994688,
                     0.0105464603945949983,    -0.00432430999505057594,  0.0016394756169413358,
                     -0.000576375574538582366, 0.000188502885095841656,  -5.7541950100821037e-5,
                     1.64484480707288971e-5,   -4.41673835845875056e-6,  1.11738753912010372e-6,
                     -2.67079385394061173e-7,  6.04699502254191895e-8,   -1.30002500998624804e-8,
                     2.65982372468238665e-9,   -5.18979560163526291e-10, 9.67580903537323691e-11,
                     -1.72682629144155571e-11, 2.95505266312963983e-12,  -4.85644678311192946e-13,
                     7.67618549860493562e-14,  -1.16853328779934517e-14, 1.71539128555513303e-15,
                     -2.43127984654795469e-16, 3.3307945188222381e-17,   -4.41534164647933938e-18,
                     5.66917800692149616e-19};
  /// The coefficients for r > 8.
  double far[27] = {0.402245205507054416,     0.00336911647825569409,   6.88975834691682398e-5,
                    2.89137052083475648e-6,   2.04891858946906374e-7,   2.26666899049817806e-8,
                    3.39623202570838635e-9,   4.94060238822496959e-10,  1.18891471078464383e-11,
                    -3.14991652796324136e-11, -1.32158118404477131e-11, -1.79417853150680612e-12,
                    7.18012445138366623e-13,  3.8527783827421427e-13,   1.54008621752140983e-14,
                    -4.15056934728722209e-14, -9.55484669882830765e-15, 3.81168066935262242e-15,
                    1.77256013305652638e-15,  -3.42548561967721913e-16, -2.82762398051658348e-16,
                    3.46122286769746109e-17,  4.46562142029676e-17,     -4.83050448594418207e-18,
                    -7.23318048787475395e-18, 9.9214754121736986e-19,   1.19365089084598209e-18};
};

/// Return e^-|x| I0(x).
AMBIT_HOST_DEVICE inline double scaled_bessel_i0(double x) {
  constexpr BesselI0 kSeries;
  const double r = std::fabs(x);
  if (r <= 8) return chebyshev_sum(kSeries.near, r / 4 - 1);
  return chebyshev_sum(kSeries.far, 16 / r - 1) / std::sqrt(r);
}
/// Return I0(x), infinity on overflow.
AMBIT_HOST_DEVICE inline double bessel_i0(double x) {
  const double r = std::fabs(x);
  if (r > 720) return std::numeric_limits<double>::infinity();
  return times_exp(scaled_bessel_i0(x), r);
}
/// Return e^-|x| I1(x), in the same way; the series for r <= 8 is that of e^-r I1(r) / r.
AMBIT_HOST_DEVICE inline double scaled_bessel_i1(double x) {
  constexpr double kNear[] = {
      0.126293593221816827,     -0.176416518357834055,    0.102643658689847095,
      -0.0529459812080949914,   0.0247264490306265168,    -0.0105640848946261982,
      0.00415642294431288816,   -0.00151357245063125315,  0.000512285956168575773,
      -0.000161760815825896746, 4.78156510755005423e-5,   -1.32731636560394358e-5,
      3.47025130813767848e-6,   -8.56872026469545474e-7,  2.00329475355213526e-7,
      -4.44505912879632808e-8,  9.38153738649577178e-9,   -1.88724975172282929e-9,
      3.62559028155211704e-10,  -6.66348972350202774e-11, 1.17361862988909016e-11,
      -1.98397439776494372e-12, 3.22379336594557471e-13,  -5.04218550472791169e-14,
      7.60068429473540693e-15,  -1.10559694773538631e-15, 1.55363195773620047e-16,
      -2.11142121435816608e-17, 2.77791411276104637e-18,  -3.54158177254213621e-19};
  constexpr double kFar[] = {
      0.38928811750914006,      -0.00976109749136146841,  -0.000110588938762623716,
      -3.88256480887769039e-6,  -2.51223623787020893e-7,  -2.63146884688951951e-8,
      -3.83538038596423702e-9,  -5.58974346219658381e-10, -1.89749581235054123e-11,
      3.25260358301548824e-11,  1.41258074366137813e-11,  2.03562854414708951e-12,
      -7.19855177624590851e-13, -4.08355111109219732e-13, -2.10154184277266431e-14,
      4.27244001671195135e-14,  1.04202769841288028e-14,  -3.8144030724370078e-15,
      -1.88035477551078245e-15, 3.30820231092092828e-16,  2.96262899764595014e-16,
      -3.20952592199342396e-17, -4.65030536848935833e-17, 4.41434832307170795e-18,
      7.51729631084210481e-18,  -9.31417886732688338e-19, -1.24219327519489096e-18};
  const double r = std::fabs(x);
  if (r <= 8) return chebyshev_sum(kNear, r / 4 - 1) * x;
  return std::copysign(chebyshev_sum(kFar, 16 / r - 1) / std::sqrt(r), x);
}
/// Return I1(x), infinity on overflow, with the sign of x.
AMBIT_HOST_DEVICE inline double bessel_i1(double x) {
  const double r = std::fabs(x);
  if (r > 720) return std::copysign(std::numeric_limits<double>::infinity(), x);
  return times_exp(scaled_bessel_i1(x), r);
}

/// Return e^(x^2) erfc(x), also where one factor underflows or overflows. Corrects for the rounding
/// error of x^2; uses the asymptotic series for x > 10.
AMBIT_HOST_DEVICE inline double scaled_erfc(double x) {
  if (x > 10) {
    const double z = 0.5 / (x * x);
    double series = 1;
    for (int k = 12; k > 0; --k) series = 1 - (2 * k - 1) * z * series;
    return series / x / std::sqrt(kPi);  // x times it may overflow
  }
  const double square = x * x;
  if (square > 720) return std::numeric_limits<double>::infinity();  // for x < 0
  return times_exp(std::erfc(x) * (1 + std::fma(x, x, -square)), square);
}

/// Return y with Phi(y) = p, Phi the normal distribution function. Computed in the lower half,
/// where Phi keeps all digits: from inverse_erf, or in the tail, where log(Phi(y)) is about -y^2 /
/// 2 - log(-y sqrt(2 pi)), by steps of Newton's method for that logarithm.
AMBIT_HOST_DEVICE inline double inverse_normal_cdf(double p) {
  constexpr double kRootOfTwo = 1.41421356237309504880;
  const double tail = p < 0.5 ? p : 1 - p;  // exact
  if (!(tail >= 0)) return std::numeric_limits<double>::quiet_NaN();
  if (tail == 0) return std::copysign(std::numeric_limits<double>::infinity(), p - 0.5);
  if (tail > 1e-3) return kRootOfTwo * inverse_erf(2 * p - 1);
  const double log_tail = std::log(tail);
  double y = std::sqrt(-2 * log_tail);
  y = std::sqrt(-2 * (log_tail + std::log(y * std::sqrt(2 * kPi))));
  for (int step = 0; step < 3; ++step) {
    // Phi(-y) = e^(-y^2 / 2) scaled / 2; avoids underflow.
    const double scaled = scaled_erfc(y / kRootOfTwo);
    const double error = std::log(scaled / 2) - y * y / 2 - log_tail;
    y += error * scaled * std::sqrt(kPi / 2);
  }
  return std::copysign(y, p - 0.5);
}

/// Return the Hurwitz zeta function of s > 1 and q > 0: direct terms, then the remainder by the
/// Euler-Maclaurin formula up to B_20.
AMBIT_HOST_DEVICE inline double zeta_of_positive(double s, double q) {
  // B_2k / (2k)!
  constexpr double kBernoulli[] = {1.0 / 12,
                                   -1.0 / 720,
                                   1.0 / 30240,
                                   -1.0 / 1209600,
                                   1.0 / 47900160,
                                   -691.0 / 1307674368000,
                                   1.0 / 74724249600,
                                   -3617.0 / 10670622842880000,
                                   43867.0 / 5109094217170944000,
                                   -174611.0 / 802857662698291200000.0};
  const double enough = s < 8 ? 12 : 1.5 * s;
  double sum = 0, w = q;
  for (int k = 1; w < enough; ++k) {
    const double term = std::pow(w, -s);
    sum += term;
    if (term <= 1e-17 * sum) return sum;
    w = q + k;
  }
  const double edge = std::pow(w, -s);
  if (edge == 0) return sum + std::pow(w, 1 - s) / (s - 1);
  sum += edge * w / (s - 1) + edge / 2;
  double factor = s * edge / w;
  for (int k = 0; k < 10; ++k) {
    const double term = kBernoulli[k] * factor;
    sum += term;
    if (std::fabs(term) < 1e-17 * sum) break;
    factor *= (s + 2 * k + 1) / w * ((s + 2 * k + 2) / w);
  }
  return sum;
}

/// Return the Hurwitz zeta function, sum over k >= 0 of (k + q)^-s: inf for s = 1 and at q = 0, -1,
/// ...; NaN for s < 1, and for other q < 0 if s is not an integer. For q < 0 the positive and the
/// negative terms are two sums that start next to 0.
AMBIT_HOST_DEVICE inline double zeta(double s, double q) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (s == 1) return kInfinity;
  if (!(s > 1) || q != q) return kNaN;
  if (s == kInfinity) return q > 1 ? 0 : q == 1 ? 1 : q > 0 ? kInfinity : kNaN;
  if (q > 0) return zeta_of_positive(s, q);
  if (q == std::floor(q)) return kInfinity;
  if (s != std::floor(s)) return kNaN;
  const double below = std::trunc(q) - q;  // distance of the last negative term from 0
  const double negative = zeta_of_positive(s, below) - zeta_of_positive(s, 1 - q);
  return zeta_of_positive(s, 1 - below) + (std::fmod(s, 2) == 0 ? negative : -negative);
}

/// Return sin(pi x) / (pi x), 1 at 0, NaN at infinity. The sine is computed from the exact distance
/// to the nearest integer, so that integers give 0.
AMBIT_HOST_DEVICE inline double sine_cardinal(double x) {
  if (x == 0) return 1;
  const double integer = std::nearbyint(x);
  const double sine = std::sin(kPi * (x - integer)) / (kPi * x);
  return std::fmod(integer, 2) == 0 ? sine : -sine;
}

}  // namespace ambit::arithmetic
