// torch::special is ambit's; also libtorch's functions with a given output,
// `torch::special::expit_out(out, x)`, and its long names, `torch::special_expit(x)`.
#pragma once

#include <ambit/ops/out.h>
#include <ambit/special.h>
#include <torch/types.h>

#include <utility>

namespace ambit::special {

AMBIT_OUT(digamma)
AMBIT_OUT(entr)
AMBIT_OUT(erf)
AMBIT_OUT(erfc)
AMBIT_OUT(erfcx)
AMBIT_OUT(erfinv)
AMBIT_OUT(exp2)
AMBIT_OUT(expit)
AMBIT_OUT(expm1)
AMBIT_OUT(gammainc)
AMBIT_OUT(gammaincc)
AMBIT_OUT(gammaln)
AMBIT_OUT(i0)
AMBIT_OUT(i0e)
AMBIT_OUT(i1)
AMBIT_OUT(i1e)
AMBIT_OUT(log1p)
AMBIT_OUT(log_ndtr)
AMBIT_OUT(logit)
AMBIT_OUT(logsumexp)
AMBIT_OUT(multigammaln)
AMBIT_OUT(ndtr)
AMBIT_OUT(ndtri)
AMBIT_OUT(polygamma)
AMBIT_OUT(psi)
AMBIT_OUT(round)
AMBIT_OUT(sinc)
AMBIT_OUT(xlog1py)
AMBIT_OUT(xlogy)
AMBIT_OUT(zeta)
AMBIT_BESSEL_FUNCTIONS(AMBIT_OUT)
AMBIT_POLYNOMIALS(AMBIT_OUT)

}  // namespace ambit::special

namespace at {

#define AMBIT_TORCH_SPECIAL(name)                                           \
  template <class... Args>                                                  \
  auto special_##name(Args&&... args)                                       \
      ->decltype(ambit::special::name(std::forward<Args>(args)...)) {       \
    return ambit::special::name(std::forward<Args>(args)...);               \
  }                                                                         \
  template <class... Args>                                                  \
  requires requires(Args... args) { ambit::special::name(args...); }        \
  ambit::Tensor& special_##name##_out(ambit::Tensor& out, Args&&... args) { \
    return ambit::detail::fill_out("special_" #name "_out", out, [&] {      \
      return ambit::special::name(std::forward<Args>(args)...);             \
    });                                                                     \
  }
AMBIT_TORCH_SPECIAL(digamma)
AMBIT_TORCH_SPECIAL(erf)
AMBIT_TORCH_SPECIAL(erfc)
AMBIT_TORCH_SPECIAL(erfinv)
AMBIT_TORCH_SPECIAL(exp2)
AMBIT_TORCH_SPECIAL(expit)
AMBIT_TORCH_SPECIAL(expm1)
AMBIT_TORCH_SPECIAL(gammainc)
AMBIT_TORCH_SPECIAL(gammaincc)
AMBIT_TORCH_SPECIAL(gammaln)
AMBIT_TORCH_SPECIAL(i0)
AMBIT_TORCH_SPECIAL(log1p)
AMBIT_TORCH_SPECIAL(log_softmax)
AMBIT_TORCH_SPECIAL(logit)
AMBIT_TORCH_SPECIAL(logsumexp)
AMBIT_TORCH_SPECIAL(multigammaln)
AMBIT_TORCH_SPECIAL(polygamma)
AMBIT_TORCH_SPECIAL(psi)
AMBIT_TORCH_SPECIAL(round)
AMBIT_TORCH_SPECIAL(sinc)
AMBIT_TORCH_SPECIAL(softmax)
AMBIT_TORCH_SPECIAL(xlogy)
#undef AMBIT_TORCH_SPECIAL

}  // namespace at
