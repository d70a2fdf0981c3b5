// Losses as modules.
#include <ambit/nn/loss.h>
#include <ambit/ops/loss.h>

#include <fmt/format.h>

namespace ambit::nn {
namespace {

// The buffer is an alias, so that moving the module does not move the user's tensor.
Tensor class_weight(const char* module, const Tensor& weight) {
  if (!weight.defined()) return {};
  if (weight.dim() != 1) {
    throw ShapeError(fmt::format("{}: expected a 1-D weight, one number per class, got shape {}",
                                 module, str(weight.sizes())));
  }
  return weight.detach();
}

}  // namespace

CrossEntropyLossImpl::CrossEntropyLossImpl(const CrossEntropyLossOptions& opts) : options(opts) {
  if (!(opts.label_smoothing() >= 0 && opts.label_smoothing() <= 1)) {
    throw Error(fmt::format("CrossEntropyLoss: expected label_smoothing in [0, 1], got {}",
                            opts.label_smoothing()));
  }
  CrossEntropyLossImpl::reset();
}
void CrossEntropyLossImpl::reset() {
  weight = register_buffer("weight", class_weight("CrossEntropyLoss", options.weight()));
}
Tensor CrossEntropyLossImpl::forward(const Tensor& input, const Tensor& target) {
  return cross_entropy(input, target, weight, options.reduction(), options.ignore_index(),
                       options.label_smoothing());
}

NLLLossImpl::NLLLossImpl(const NLLLossOptions& opts) : options(opts) { NLLLossImpl::reset(); }
void NLLLossImpl::reset() {
  weight = register_buffer("weight", class_weight("NLLLoss", options.weight()));
}
Tensor NLLLossImpl::forward(const Tensor& input, const Tensor& target) {
  return nll_loss(input, target, weight, options.reduction(), options.ignore_index());
}

MSELossImpl::MSELossImpl(const MSELossOptions& opts) : options(opts) {}
void MSELossImpl::reset() {}
Tensor MSELossImpl::forward(const Tensor& input, const Tensor& target) {
  return mse_loss(input, target, options.reduction());
}

}  // namespace ambit::nn
