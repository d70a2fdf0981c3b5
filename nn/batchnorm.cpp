// BatchNorm2d.
#include <ambit/autograd.h>
#include <ambit/nn/batchnorm.h>
#include <ambit/nn/init.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/norm.h>

#include <ostream>

#include "print.h"

namespace ambit::nn {

BatchNorm2dImpl::BatchNorm2dImpl(const BatchNorm2dOptions& opts) : options(opts) {
  if (opts.num_features() < 1) {
    throw Error(fmt::format("BatchNorm2d: expected num_features of at least 1, got {}",
                            opts.num_features()));
  }
  BatchNorm2dImpl::reset();
}

void BatchNorm2dImpl::reset() {
  const auto per_channel = [&](bool wanted) {
    return wanted ? empty({options.num_features()}) : Tensor();
  };
  weight = register_parameter("weight", per_channel(options.affine()), options.affine());
  bias = register_parameter("bias", per_channel(options.affine()), options.affine());
  const bool track = options.track_running_stats();
  running_mean = register_buffer("running_mean", per_channel(track));
  running_var = register_buffer("running_var", per_channel(track));
  num_batches_tracked =
      register_buffer("num_batches_tracked", track ? empty({}, kInt64) : Tensor());
  reset_parameters();
}

void BatchNorm2dImpl::reset_parameters() {
  reset_running_stats();
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

void BatchNorm2dImpl::reset_running_stats() {
  if (!options.track_running_stats()) return;
  init::zeros_(running_mean);
  init::ones_(running_var);
  init::zeros_(num_batches_tracked);
}

Tensor BatchNorm2dImpl::forward(const Tensor& input) {
  if (input.dim() != 4) {
    const char* argument = weight.defined() ? "weight" : "running_mean";
    const Tensor& t = weight.defined() ? weight : running_mean;
    throw ShapeError(fmt::format("batch_norm: expected a 4-D input, got shape {}{}",
                                 str(input.sizes()),
                                 t.defined() ? fmt::format("; {} is {}", argument, t.name()) : ""));
  }
  const bool tracked = running_mean.defined(), updates = is_training() && tracked;
  double momentum = options.momentum().value_or(0);
  if (updates && !options.momentum()) momentum = 1 / (num_batches_tracked.item<double>() + 1);
  Tensor out = batch_norm(
      input, weight, bias, running_mean, running_var,
      {.training = is_training() || !tracked, .momentum = momentum, .eps = options.eps()});
  if (updates) num_batches_tracked.add_(1);
  return out;
}

void BatchNorm2dImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({}, eps={}, momentum={}, affine={}, track_running_stats={})", name(),
                    options.num_features(), options.eps(),
                    options.momentum() ? fmt::to_string(*options.momentum()) : "None",
                    truth(options.affine()), truth(options.track_running_stats()));
}

}  // namespace ambit::nn
