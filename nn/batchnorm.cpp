// BatchNorm1d, BatchNorm2d, BatchNorm3d.
#include <ambit/autograd.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/nn/batchnorm.h>
#include <ambit/nn/functional.h>
#include <ambit/nn/init.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/norm.h>

#include <ostream>

#include "print.h"

namespace ambit::nn {

Tensor functional::batch_norm(const Tensor& input, const Tensor& running_mean,
                              const Tensor& running_var, const BatchNormFuncOptions& options) {
  const BatchNormParams& params = options.params();
  const bool one_value = params.training && input.defined() && input.dim() > 1 &&
                         input.size(1) > 0 && input.numel() == input.size(1);
  if (one_value) {
    const char* argument = options.weight().defined() ? "weight" : "running_mean";
    const Tensor& named = options.weight().defined() ? options.weight() : running_mean;
    const std::string name = named.defined() ? named.name() : "";
    throw ShapeError(fmt::format(
        "batch_norm: expected more than 1 value per channel when training, got input "
        "of sizes {}{}",
        str(input.sizes()), name.empty() ? "" : fmt::format("; {} is {}", argument, name)));
  }
  return ambit::batch_norm(input, options.weight(), options.bias(), running_mean, running_var,
                           params);
}

namespace detail {
namespace {

template <int64_t most_dim>
constexpr const char* kName = most_dim == 3   ? "BatchNorm1d"
                              : most_dim == 4 ? "BatchNorm2d"
                                              : "BatchNorm3d";
template <int64_t most_dim>
constexpr const char* kDims = most_dim == 3   ? "2-D or 3-D"
                              : most_dim == 4 ? "4-D"
                                              : "5-D";

}  // namespace

template <class Derived, int64_t least_dim, int64_t most_dim>
BatchNormImplBase<Derived, least_dim, most_dim>::BatchNormImplBase(const BatchNormOptions& opts)
    : options(opts) {
  if (opts.num_features() < 1) {
    throw Error(fmt::format("{}: expected num_features of at least 1, got {}", kName<most_dim>,
                            opts.num_features()));
  }
  BatchNormImplBase::reset();
}

template <class Derived, int64_t least_dim, int64_t most_dim>
void BatchNormImplBase<Derived, least_dim, most_dim>::reset() {
  const auto per_channel = [&](bool wanted) {
    return wanted ? empty({options.num_features()}) : Tensor();
  };
  weight = this->register_parameter("weight", per_channel(options.affine()), options.affine());
  bias = this->register_parameter("bias", per_channel(options.affine()), options.affine());
  const bool track = options.track_running_stats();
  running_mean = this->register_buffer("running_mean", per_channel(track));
  running_var = this->register_buffer("running_var", per_channel(track));
  num_batches_tracked =
      this->register_buffer("num_batches_tracked", track ? empty({}, kInt64) : Tensor());
  reset_parameters();
}

template <class Derived, int64_t least_dim, int64_t most_dim>
void BatchNormImplBase<Derived, least_dim, most_dim>::reset_parameters() {
  reset_running_stats();
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

template <class Derived, int64_t least_dim, int64_t most_dim>
void BatchNormImplBase<Derived, least_dim, most_dim>::reset_running_stats() {
  if (!options.track_running_stats()) return;
  init::zeros_(running_mean);
  init::ones_(running_var);
  init::zeros_(num_batches_tracked);
}

template <class Derived, int64_t least_dim, int64_t most_dim>
Tensor BatchNormImplBase<Derived, least_dim, most_dim>::forward(const Tensor& input) {
  if (input.dim() < least_dim || input.dim() > most_dim) {
    const char* argument = weight.defined() ? "weight" : "running_mean";
    const Tensor& t = weight.defined() ? weight : running_mean;
    throw ShapeError(fmt::format(
        "batch_norm: expected a {} input, got shape {}{}", kDims<most_dim>, str(input.sizes()),
        t.defined() ? fmt::format("; {} is {}", argument, printable(t.name())) : ""));
  }
  const bool tracked = running_mean.defined(), updates = this->is_training() && tracked;
  double momentum = options.momentum().value_or(0);
  if (updates && !options.momentum()) momentum = 1 / (num_batches_tracked.item<double>() + 1);
  Tensor out = functional::batch_norm(input, running_mean, running_var,
                                      functional::BatchNormFuncOptions()
                                          .weight(weight)
                                          .bias(bias)
                                          .training(this->is_training() || !tracked)
                                          .momentum(momentum)
                                          .eps(options.eps()));
  if (updates) num_batches_tracked.add_(1);
  return out;
}

template <class Derived, int64_t least_dim, int64_t most_dim>
void BatchNormImplBase<Derived, least_dim, most_dim>::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({}, eps={}, momentum={}, affine={}, track_running_stats={})", this->name(),
                    options.num_features(), options.eps(),
                    options.momentum() ? fmt::to_string(*options.momentum()) : "None",
                    python_bool(options.affine()), python_bool(options.track_running_stats()));
}

template class BatchNormImplBase<BatchNorm1dImpl, 2, 3>;
template class BatchNormImplBase<BatchNorm2dImpl, 4, 4>;
template class BatchNormImplBase<BatchNorm3dImpl, 5, 5>;

}  // namespace detail

BatchNorm1dImpl::BatchNorm1dImpl(const BatchNormOptions& opts) : BatchNormImplBase(opts) {}
BatchNorm2dImpl::BatchNorm2dImpl(const BatchNormOptions& opts) : BatchNormImplBase(opts) {}
BatchNorm3dImpl::BatchNorm3dImpl(const BatchNormOptions& opts) : BatchNormImplBase(opts) {}

}  // namespace ambit::nn
