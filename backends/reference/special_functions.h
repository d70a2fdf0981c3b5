// Special functions that the oracle computes in long double, by other ways than the kernels do.
#pragma once

namespace ambit::reference {

/// y with erf(y) = x; NaN outside [-1, 1].
double inverse_erf(double x);
/// The derivative of log Gamma; NaN at -1, -2, ..., infinite at 0.
double digamma(double x);
/// The modified Bessel function of the first kind.
double bessel_i(int order, double x);
/// e^-|x| times it.
double scaled_bessel_i(int order, double x);
/// e^(x^2) erfc(x).
double scaled_erfc(double x);
/// y with Phi(y) = p, Phi the normal distribution; NaN outside [0, 1].
double inverse_normal_cdf(double p);
/// The Hurwitz zeta function: sum over k >= 0 of (k + q)^-s.
double zeta(double s, double q);
/// sin(pi x) / (pi x), 1 at 0.
double sinc(double x);

}  // namespace ambit::reference
