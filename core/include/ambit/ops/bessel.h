// Bessel and Airy functions, and orthogonal polynomials. Operands of all dtypes; integers and bool
// give floats. Computed in float64 on the host, for which they wait for the device. No gradients:
// NotImplementedError in a backward. Errors of all: Error for an undefined tensor; of two operands
// also ShapeError, DeviceMismatchError.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// row(name) for special_name(self):
///   airy_ai: the Airy function Ai
///   bessel_j0, bessel_j1, bessel_y0, bessel_y1: Bessel functions of the first and second kind
///   modified_bessel_i0, i1, k0, k1: modified Bessel functions
///   scaled_modified_bessel_k0, k1: modified_bessel_k0, k1 times e^x
///   spherical_bessel_j0: sin(x) / x
/// Bessel functions of the second kind are infinite at 0 and NaN for negative numbers.
#define AMBIT_BESSEL_FUNCTIONS(row)                                                                \
  row(airy_ai) row(bessel_j0) row(bessel_j1) row(bessel_y0) row(bessel_y1) row(modified_bessel_i0) \
      row(modified_bessel_i1) row(modified_bessel_k0) row(modified_bessel_k1)                      \
          row(scaled_modified_bessel_k0) row(scaled_modified_bessel_k1) row(spherical_bessel_j0)

/// row(name) for special_name(x, n), the polynomial of degree n, truncated to an integer, at x; 0
/// for n < 0; the two broadcast:
///   chebyshev_polynomial_t, u, v, w: of the first to fourth kind; shifted_: at 2 x - 1
///   hermite_polynomial_h, he: of physicists, of probabilists
///   laguerre_polynomial_l, legendre_polynomial_p
#define AMBIT_POLYNOMIALS(row)                                                         \
  row(chebyshev_polynomial_t) row(chebyshev_polynomial_u) row(chebyshev_polynomial_v)  \
      row(chebyshev_polynomial_w) row(hermite_polynomial_h) row(hermite_polynomial_he) \
          row(laguerre_polynomial_l) row(legendre_polynomial_p)                        \
              row(shifted_chebyshev_polynomial_t) row(shifted_chebyshev_polynomial_u)  \
                  row(shifted_chebyshev_polynomial_v) row(shifted_chebyshev_polynomial_w)

#define AMBIT_DECLARE(name)                                                       \
  /** The Bessel or Airy function name in float64; see AMBIT_BESSEL_FUNCTIONS. */ \
  AMBIT_API Tensor special_##name(const Tensor& self);
AMBIT_BESSEL_FUNCTIONS(AMBIT_DECLARE)
#undef AMBIT_DECLARE
#define AMBIT_DECLARE(name)                                                    \
  /** The polynomial name of degree n at x; 0 for n < 0. The two broadcast. */ \
  AMBIT_API Tensor special_##name(const Tensor& x, const Tensor& n);           \
  /** The polynomial name of degrees n at one number. */                       \
  AMBIT_API Tensor special_##name(const Scalar& x, const Tensor& n);           \
  /** The polynomial name of one degree. */                                    \
  AMBIT_API Tensor special_##name(const Tensor& x, const Scalar& n);
AMBIT_POLYNOMIALS(AMBIT_DECLARE)
#undef AMBIT_DECLARE

}  // namespace ambit
