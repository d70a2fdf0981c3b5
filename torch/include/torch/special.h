// torch::special is ambit's; and its functions under libtorch's long names, as
// `torch::special_expit(x)`.
#pragma once

#include <ambit/special.h>
#include <torch/types.h>

#include <utility>

namespace torch::special {
using namespace ambit::special;
}

namespace at {

#define AMBIT_TORCH_SPECIAL(name)                                     \
  template <class... Args>                                            \
  auto special_##name(Args&&... args)                                 \
      ->decltype(ambit::special::name(std::forward<Args>(args)...)) { \
    return ambit::special::name(std::forward<Args>(args)...);         \
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
