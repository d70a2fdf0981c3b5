// Special functions that the oracle computes in long double, by other ways than the kernels do.
#pragma once

namespace ambit::reference {

/// y with erf(y) = x; NaN outside [-1, 1].
double inverse_erf(double x);
/// The derivative of log Gamma; NaN at -1, -2, ..., infinite at 0.
double digamma(double x);
/// The modified Bessel function of the first kind.
double bessel_i(int order, double x);
/// The Hurwitz zeta function: sum over k >= 0 of (k + q)^-s.
double zeta(double s, double q);
/// sin(pi x) / (pi x), 1 at 0.
double sinc(double x);

}  // namespace ambit::reference
