// Activations.
#include <ambit/nn/activation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/norm.h>

#include <ostream>

#include "print.h"

namespace ambit::nn {

void ReLUImpl::reset() {}
Tensor ReLUImpl::forward(const Tensor& input) {
  return options.inplace() ? relu_(input) : relu(input);
}
void ReLUImpl::pretty_print(std::ostream& os) const {
  os << name() << (options.inplace() ? "(inplace=True)" : "()");
}

void SigmoidImpl::reset() {}
Tensor SigmoidImpl::forward(const Tensor& input) { return sigmoid(input); }

void TanhImpl::reset() {}
Tensor TanhImpl::forward(const Tensor& input) { return tanh(input); }

void GELUImpl::reset() {}
Tensor GELUImpl::forward(const Tensor& input) { return gelu(input); }

void SoftmaxImpl::reset() {}
Tensor SoftmaxImpl::forward(const Tensor& input) { return softmax(input, options.dim()); }
void SoftmaxImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(dim={})", name(), options.dim());
}

void LogSoftmaxImpl::reset() {}
Tensor LogSoftmaxImpl::forward(const Tensor& input) { return log_softmax(input, options.dim()); }
void LogSoftmaxImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(dim={})", name(), options.dim());
}

}  // namespace ambit::nn
