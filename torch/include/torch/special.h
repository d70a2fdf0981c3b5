// torch::special: functions of ambit under their names there.
#pragma once

#include <torch/types.h>

namespace torch::special {

using ambit::digamma;
using ambit::erf;
using ambit::erfc;
using ambit::erfinv;
using ambit::exp2;
using ambit::expm1;
using ambit::i0;
using ambit::log1p;
using ambit::logit;
using ambit::logsumexp;
using ambit::polygamma;
using ambit::round;
using ambit::sinc;
using ambit::xlogy;

inline ambit::Tensor expit(const ambit::Tensor& self) { return ambit::sigmoid(self); }
inline ambit::Tensor gammaln(const ambit::Tensor& self) { return ambit::lgamma(self); }
inline ambit::Tensor psi(const ambit::Tensor& self) { return ambit::digamma(self); }
inline ambit::Tensor multigammaln(const ambit::Tensor& self, int64_t p) {
  return ambit::mvlgamma(self, p);
}
inline ambit::Tensor softmax(const ambit::Tensor& self, int64_t dim,
                             std::optional<ambit::DType> dtype = {}) {
  return ambit::softmax(dtype ? self.to(*dtype) : self, dim);
}
inline ambit::Tensor log_softmax(const ambit::Tensor& self, int64_t dim,
                                 std::optional<ambit::DType> dtype = {}) {
  return ambit::log_softmax(dtype ? self.to(*dtype) : self, dim);
}

}  // namespace torch::special
