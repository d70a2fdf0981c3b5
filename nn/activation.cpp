// Activation modules.
#include <ambit/error.h>
#include <ambit/nn/activation.h>
#include <ambit/nn/functional/activation.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/norm.h>

#include <ostream>

#include "print.h"

namespace ambit::nn {

ReLUImpl::ReLUImpl(const ReLUOptions& opts) : options(opts) {}
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

GELUImpl::GELUImpl(GELUOptions opts) : options(std::move(opts)) {}
void GELUImpl::reset() {}
Tensor GELUImpl::forward(const Tensor& input) { return gelu(input, options.approximate()); }
void GELUImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(approximate='{}')", name(), options.approximate());
}

SoftmaxImpl::SoftmaxImpl(const SoftmaxOptions& opts) : options(opts) {}
void SoftmaxImpl::reset() {}
Tensor SoftmaxImpl::forward(const Tensor& input) { return softmax(input, options.dim()); }
void SoftmaxImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(dim={})", name(), options.dim());
}

LogSoftmaxImpl::LogSoftmaxImpl(const LogSoftmaxOptions& opts) : options(opts) {}
void LogSoftmaxImpl::reset() {}
Tensor LogSoftmaxImpl::forward(const Tensor& input) { return log_softmax(input, options.dim()); }
void LogSoftmaxImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(dim={})", name(), options.dim());
}

ELUImpl::ELUImpl(const ELUOptions& opts) : options(opts) {}
void ELUImpl::reset() {}
Tensor ELUImpl::forward(const Tensor& input) {
  return functional::elu(input, options.alpha(), options.inplace());
}
void ELUImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(alpha={}{})", name(), number(options.alpha()),
                    inplace_text(options.inplace()));
}

SELUImpl::SELUImpl(const SELUOptions& opts) : options(opts) {}
void SELUImpl::reset() {}
Tensor SELUImpl::forward(const Tensor& input) { return functional::selu(input, options.inplace()); }
void SELUImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({})", name(), options.inplace() ? "inplace=True" : "");
}

CELUImpl::CELUImpl(const CELUOptions& opts) : options(opts) {}
void CELUImpl::reset() {}
Tensor CELUImpl::forward(const Tensor& input) {
  return functional::celu(input, options.alpha(), options.inplace());
}
void CELUImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(alpha={}{})", name(), number(options.alpha()),
                    inplace_text(options.inplace()));
}

LeakyReLUImpl::LeakyReLUImpl(const LeakyReLUOptions& opts) : options(opts) {}
void LeakyReLUImpl::reset() {}
Tensor LeakyReLUImpl::forward(const Tensor& input) {
  return functional::leaky_relu(input, options.negative_slope(), options.inplace());
}
void LeakyReLUImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(negative_slope={}{})", name(), number(options.negative_slope()),
                    inplace_text(options.inplace()));
}

RReLUImpl::RReLUImpl(const RReLUOptions& opts) : options(opts) {}
void RReLUImpl::reset() {}
Tensor RReLUImpl::forward(const Tensor& input) {
  return functional::rrelu(input, options.lower(), options.upper(), is_training(),
                           options.inplace());
}
void RReLUImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(lower={}, upper={}{})", name(), number(options.lower()),
                    number(options.upper()), inplace_text(options.inplace()));
}

ReLU6Impl::ReLU6Impl(const ReLU6Options& opts) : options(opts) {}
void ReLU6Impl::reset() {}
Tensor ReLU6Impl::forward(const Tensor& input) {
  return functional::relu6(input, options.inplace());
}
void ReLU6Impl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({})", name(), options.inplace() ? "inplace=True" : "");
}

HardtanhImpl::HardtanhImpl(const HardtanhOptions& opts) : options(opts) { HardtanhImpl::reset(); }
void HardtanhImpl::reset() {
  if (options.min_val() < options.max_val()) return;
  throw Error(fmt::format("Hardtanh: expected min_val < max_val, got {} and {}", options.min_val(),
                          options.max_val()));
}
Tensor HardtanhImpl::forward(const Tensor& input) {
  return functional::hardtanh(input, options.min_val(), options.max_val(), options.inplace());
}
void HardtanhImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(min_val={}, max_val={}{})", name(), number(options.min_val()),
                    number(options.max_val()), inplace_text(options.inplace()));
}

void SiLUImpl::reset() {}
Tensor SiLUImpl::forward(const Tensor& input) { return functional::silu(input); }

void MishImpl::reset() {}
Tensor MishImpl::forward(const Tensor& input) { return functional::mish(input); }

SoftplusImpl::SoftplusImpl(const SoftplusOptions& opts) : options(opts) {}
void SoftplusImpl::reset() {}
Tensor SoftplusImpl::forward(const Tensor& input) {
  return functional::softplus(input, options.beta(), options.threshold());
}
void SoftplusImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(beta={}, threshold={})", name(), options.beta(), options.threshold());
}

void LogSigmoidImpl::reset() {}
Tensor LogSigmoidImpl::forward(const Tensor& input) { return functional::logsigmoid(input); }

void SoftsignImpl::reset() {}
Tensor SoftsignImpl::forward(const Tensor& input) { return functional::softsign(input); }

void TanhshrinkImpl::reset() {}
Tensor TanhshrinkImpl::forward(const Tensor& input) { return functional::tanhshrink(input); }

HardshrinkImpl::HardshrinkImpl(const HardshrinkOptions& opts) : options(opts) {}
void HardshrinkImpl::reset() {}
Tensor HardshrinkImpl::forward(const Tensor& input) {
  return functional::hardshrink(input, options.lambda());
}
void HardshrinkImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({})", name(), number(options.lambda()));
}

SoftshrinkImpl::SoftshrinkImpl(const SoftshrinkOptions& opts) : options(opts) {}
void SoftshrinkImpl::reset() {}
Tensor SoftshrinkImpl::forward(const Tensor& input) {
  return functional::softshrink(input, options.lambda());
}
void SoftshrinkImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({})", name(), number(options.lambda()));
}

PReLUImpl::PReLUImpl(const PReLUOptions& opts) : options(opts) {
  if (opts.num_parameters() < 1) {
    throw Error(
        fmt::format("PReLU: expected num_parameters of at least 1, got {}", opts.num_parameters()));
  }
  PReLUImpl::reset();
}
void PReLUImpl::reset() {
  weight = register_parameter("weight", full({options.num_parameters()}, options.init()));
}
Tensor PReLUImpl::forward(const Tensor& input) { return functional::prelu(input, weight); }
void PReLUImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(num_parameters={})", name(), options.num_parameters());
}

ThresholdImpl::ThresholdImpl(const ThresholdOptions& opts) : options(opts) {}
ThresholdImpl::ThresholdImpl(double threshold, double value)
    : ThresholdImpl(ThresholdOptions(threshold, value)) {}
void ThresholdImpl::reset() {}
Tensor ThresholdImpl::forward(const Tensor& input) {
  return functional::threshold(input, options.threshold(), options.value(), options.inplace());
}
void ThresholdImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(threshold={}, value={}{})", name(), options.threshold(), options.value(),
                    inplace_text(options.inplace()));
}

GLUImpl::GLUImpl(const GLUOptions& opts) : options(opts) {}
void GLUImpl::reset() {}
Tensor GLUImpl::forward(const Tensor& input) { return functional::glu(input, options.dim()); }
void GLUImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(dim={})", name(), options.dim());
}

SoftminImpl::SoftminImpl(const SoftminOptions& opts) : options(opts) {}
void SoftminImpl::reset() {}
Tensor SoftminImpl::forward(const Tensor& input) {
  return functional::softmin(input, options.dim());
}
void SoftminImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(dim={})", name(), options.dim());
}

void Softmax2dImpl::reset() {}
Tensor Softmax2dImpl::forward(const Tensor& input) {
  if (input.dim() != 3 && input.dim() != 4) {
    throw ShapeError(
        fmt::format("Softmax2d: expected a 3-D or 4-D input, got shape {}", str(input.sizes())));
  }
  return softmax(input, -3);
}

}  // namespace ambit::nn
