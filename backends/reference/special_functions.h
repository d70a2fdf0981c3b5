// Special functions in long double for the oracle, by algorithms other than the kernels'.
#pragma once

namespace ambit::reference {

/// Return y with erf(y) = x; NaN outside [-1, 1].
double inverse_erf(double x);
/// Return the derivative of log Gamma; NaN at -1, -2, ..., infinite at 0.
double digamma(double x);
/// Return the modified Bessel function of the first kind.
double bessel_i(int order, double x);
/// Return e^-|x| bessel_i(order, x).
double scaled_bessel_i(int order, double x);
/// Return e^(x^2) erfc(x).
double scaled_erfc(double x);
/// Return y with Phi(y) = p, Phi the normal distribution function; NaN outside [0, 1].
double inverse_normal_cdf(double p);
/// Return the Hurwitz zeta function, sum over k >= 0 of (k + q)^-s.
double zeta(double s, double q);
/// Return sin(pi x) / (pi x), 1 at 0.
double sinc(double x);

}  // namespace ambit::reference
