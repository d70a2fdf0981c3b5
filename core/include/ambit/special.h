// libtorch's namespace special: special functions under their short names, as in
// `special::expit(x)`. See the functions called for formulas, errors and gradients.
#pragma once

#include <ambit/ops/bessel.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/special.h>

namespace ambit::special {

/// The functions of the same name in ops/.
/// @{
using ambit::digamma;
using ambit::erf;
using ambit::erfc;
using ambit::erfinv;
using ambit::exp2;
using ambit::expm1;
using ambit::i0;
using ambit::log1p;
using ambit::log_softmax;
using ambit::logit;
using ambit::logsumexp;
using ambit::polygamma;
using ambit::round;
using ambit::sinc;
using ambit::softmax;
using ambit::xlogy;
/// @}

#define AMBIT_SHORT(name)                                               \
  /** The Bessel or Airy function name in float64; see ops/bessel.h. */ \
  inline Tensor name(const Tensor& self) { return special_##name(self); }
AMBIT_BESSEL_FUNCTIONS(AMBIT_SHORT)
#undef AMBIT_SHORT
#define AMBIT_SHORT(name)                                        \
  /** The polynomial name of degree n at x; see ops/bessel.h. */ \
  template <class X, class N>                                    \
  Tensor name(const X& x, const N& n) {                          \
    return special_##name(x, n);                                 \
  }
AMBIT_POLYNOMIALS(AMBIT_SHORT)
#undef AMBIT_SHORT

/// As the function that it calls, in ops/elementwise.h or ops/special.h.
/// @{
inline Tensor gammaln(const Tensor& self) { return lgamma(self); }
inline Tensor psi(const Tensor& self) { return digamma(self); }
inline Tensor expit(const Tensor& self) { return sigmoid(self); }
inline Tensor i1(const Tensor& self) { return special_i1(self); }
inline Tensor multigammaln(const Tensor& self, int64_t p) { return mvlgamma(self, p); }
inline Tensor zeta(const Tensor& self, const Tensor& other) { return special_zeta(self, other); }
inline Tensor zeta(const Scalar& self, const Tensor& other) { return special_zeta(self, other); }
inline Tensor zeta(const Tensor& self, const Scalar& other) { return special_zeta(self, other); }
inline Tensor gammainc(const Tensor& self, const Tensor& other) { return igamma(self, other); }
inline Tensor gammaincc(const Tensor& self, const Tensor& other) { return igammac(self, other); }
inline Tensor i0e(const Tensor& self) { return special_i0e(self); }
inline Tensor i1e(const Tensor& self) { return special_i1e(self); }
inline Tensor erfcx(const Tensor& self) { return special_erfcx(self); }
inline Tensor ndtr(const Tensor& self) { return special_ndtr(self); }
inline Tensor ndtri(const Tensor& self) { return special_ndtri(self); }
inline Tensor log_ndtr(const Tensor& self) { return special_log_ndtr(self); }
inline Tensor entr(const Tensor& self) { return special_entr(self); }
template <class A, class B>
Tensor xlog1py(const A& self, const B& other) {
  return special_xlog1py(self, other);
}
/// @}

}  // namespace ambit::special
