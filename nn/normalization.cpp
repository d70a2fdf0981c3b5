// Normalisation within each sample.
#include <ambit/autograd.h>
#include <ambit/detail/by_float32.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/nn/init.h>
#include <ambit/nn/normalization.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <algorithm>
#include <ostream>

#include "nn/functional/check.h"
#include "print.h"

namespace ambit::nn {
namespace functional {
namespace {

void check_channels(const char* op, const Tensor& input) {
  check_floating(op, input);
  if (input.dim() < 2) {
    throw ShapeError(fmt::format("{}: expected an input of at least 2 dims, got shape {}", op,
                                 str(input.sizes())));
  }
}

void check_per_channel(const char* op, const char* what, const Tensor& t, int64_t channels) {
  if (t.defined() && t.sizes() != IntArrayRef{channels}) {
    throw ShapeError(
        fmt::format("{}: expected {} of shape [{}], got {}", op, what, channels, str(t.sizes())));
  }
}

// For each channel of x [N,C,...], sum the channels from `before` before it to `after` after it.
// Differences of prefix sums would be faster but lose precision.
Tensor sum_of_channels(const Tensor& x, int64_t before, int64_t after) {
  const int64_t channels = x.size(1);
  Dims edge(x.sizes());
  edge[1] = before + after;
  const Tensor border = zeros(edge, x.options());
  const Tensor padded = cat({border.narrow(1, 0, before), x, border.narrow(1, 0, after)}, 1);
  Tensor sum = padded.narrow(1, 0, channels);
  for (int64_t i = 1; i <= before + after; ++i) sum = sum + padded.narrow(1, i, channels);
  return sum;
}

Tensor normalized_instances(const Tensor& input, const Tensor& running_mean,
                            const Tensor& running_var, const Tensor& weight, const Tensor& bias,
                            bool use_input_stats, double momentum, double eps) {
  constexpr const char* kName = "instance_norm";
  check_channels(kName, input);
  check_same_device(kName, {{"input", input},
                            {"weight", weight},
                            {"bias", bias},
                            {"running_mean", running_mean},
                            {"running_var", running_var}});
  const int64_t n = input.size(0), channels = input.size(1);
  check_per_channel(kName, "weight", weight, channels);
  check_per_channel(kName, "bias", bias, channels);
  check_per_channel(kName, "running_mean", running_mean, channels);
  check_per_channel(kName, "running_var", running_var, channels);
  if (!use_input_stats) {
    if (!running_mean.defined() || !running_var.defined()) {
      throw Error("instance_norm: expected running statistics if the input's are not used");
    }
    return batch_norm(input, weight, bias, running_mean, running_var,
                      {.training = false, .momentum = momentum, .eps = eps});
  }
  if ((!running_mean.defined() && !running_var.defined()) || input.numel() == 0) {
    return group_norm(input, channels, weight, bias, eps);  // C groups of one channel
  }
  // Treat each channel of each sample as a channel of a single sample.
  Dims sizes(input.sizes());
  sizes[0] = 1;
  sizes[1] = n * channels;
  const auto each = [&](const Tensor& t) { return t.defined() ? t.repeat({n}) : t; };
  const Tensor means = each(running_mean), vars = each(running_var);
  const Tensor y = batch_norm(input.reshape(sizes), each(weight), each(bias), means, vars,
                              {.training = true, .momentum = momentum, .eps = eps});
  {
    const NoGradGuard no_grad;
    if (means.defined()) running_mean.copy_(means.view({n, channels}).mean(0));
    if (vars.defined()) running_var.copy_(vars.view({n, channels}).mean(0));
  }
  return y.view(input.sizes());
}

}  // namespace

Tensor instance_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                     const Tensor& weight, const Tensor& bias, bool use_input_stats,
                     double momentum, double eps) {
  check_channels("instance_norm", input);
  if (use_input_stats && (input.dim() < 3 || input.numel() == input.size(0) * input.size(1))) {
    throw ShapeError(
        fmt::format("instance_norm: expected more than one element per channel, got "
                    "shape {}",
                    str(input.sizes())));
  }
  return normalized_instances(input, running_mean, running_var, weight, bias, use_input_stats,
                              momentum, eps);
}

Tensor local_response_norm(const Tensor& input, int64_t size, double alpha, double beta, double k) {
  check_floating("local_response_norm", input);
  if (input.dim() < 3) {
    throw ShapeError(fmt::format("local_response_norm: expected an input of 3 dims or more, got {}",
                                 str(input.sizes())));
  }
  if (size < 1) {
    throw Error(fmt::format("local_response_norm: expected a size of at least 1, got {}", size));
  }
  if (is_reduced_floating(input.dtype())) {  // squares of float16 overflow from 256 on
    const auto norm = [&](const Tensor& x) { return local_response_norm(x, size, alpha, beta, k); };
    return by_float32(input.dtype(), norm, input);
  }
  const int64_t before = size / 2, after = size - 1 - before;
  // Windows larger than the input would only add zeros.
  const int64_t most = input.size(1);
  const Tensor sum = sum_of_channels(square(input), std::min(before, most), std::min(after, most));
  return input / pow(sum * (alpha / static_cast<double>(size)) + k, beta);
}

}  // namespace functional
}  // namespace ambit::nn

namespace ambit {

Tensor instance_norm(const Tensor& input, const std::optional<Tensor>& weight,
                     const std::optional<Tensor>& bias, const std::optional<Tensor>& running_mean,
                     const std::optional<Tensor>& running_var, bool use_input_stats,
                     double momentum, double eps, bool) {
  return nn::functional::normalized_instances(
      input, running_mean.value_or(Tensor()), running_var.value_or(Tensor()),
      weight.value_or(Tensor()), bias.value_or(Tensor()), use_input_stats, momentum, eps);
}

}  // namespace ambit

namespace ambit::nn {

LayerNormImpl::LayerNormImpl(std::vector<int64_t> normalized_shape)
    : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
LayerNormImpl::LayerNormImpl(const LayerNormOptions& opts) : options(opts) {
  if (opts.normalized_shape().empty()) {
    throw Error("LayerNorm: expected a normalized_shape of at least one number");
  }
  LayerNormImpl::reset();
}
void LayerNormImpl::reset() {
  const bool affine = options.elementwise_affine();
  const auto make = [&] { return affine ? ambit::empty(options.normalized_shape()) : Tensor(); };
  weight = register_parameter("weight", make(), affine);
  bias = register_parameter("bias", make(), affine);
  reset_parameters();
}
void LayerNormImpl::reset_parameters() {
  if (!options.elementwise_affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}
Tensor LayerNormImpl::forward(const Tensor& input) {
  return layer_norm(input, options.normalized_shape(), weight, bias, options.eps());
}
void LayerNormImpl::pretty_print(std::ostream& os) const {
  const std::vector<int64_t>& sizes = options.normalized_shape();
  os << fmt::format("{}(({}{}), eps={}, elementwise_affine={})", name(), fmt::join(sizes, ", "),
                    sizes.size() == 1 ? "," : "", options.eps(),
                    python_bool(options.elementwise_affine()));
}

GroupNormImpl::GroupNormImpl(int64_t num_groups, int64_t num_channels)
    : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}
GroupNormImpl::GroupNormImpl(const GroupNormOptions& opts) : options(opts) {
  if (opts.num_groups() < 1 || opts.num_channels() < 1 ||
      opts.num_channels() % opts.num_groups() != 0) {
    throw Error(fmt::format("GroupNorm: expected groups that divide the channels, got {} and {}",
                            opts.num_groups(), opts.num_channels()));
  }
  GroupNormImpl::reset();
}
void GroupNormImpl::reset() {
  const bool affine = options.affine();
  const auto make = [&] { return affine ? empty({options.num_channels()}) : Tensor(); };
  weight = register_parameter("weight", make(), affine);
  bias = register_parameter("bias", make(), affine);
  reset_parameters();
}
void GroupNormImpl::reset_parameters() {
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}
Tensor GroupNormImpl::forward(const Tensor& input) {
  return functional::group_norm(input, options.num_groups(), weight, bias, options.eps());
}
void GroupNormImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({}, {}, eps={}, affine={})", name(), options.num_groups(),
                    options.num_channels(), options.eps(), python_bool(options.affine()));
}

LocalResponseNormImpl::LocalResponseNormImpl(const LocalResponseNormOptions& opts)
    : options(opts) {}
void LocalResponseNormImpl::reset() {}
Tensor LocalResponseNormImpl::forward(const Tensor& input) {
  return functional::local_response_norm(input, options.size(), options.alpha(), options.beta(),
                                         options.k());
}
void LocalResponseNormImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({}, alpha={}, beta={}, k={})", name(), options.size(), options.alpha(),
                    options.beta(), number(options.k()));
}

RMSNormImpl::RMSNormImpl(std::vector<int64_t> normalized_shape)
    : RMSNormImpl(RMSNormOptions(std::move(normalized_shape))) {}
RMSNormImpl::RMSNormImpl(const RMSNormOptions& opts) : options(opts) {
  if (opts.normalized_shape().empty()) {
    throw Error("RMSNorm: expected a normalized_shape of at least one number");
  }
  RMSNormImpl::reset();
}
void RMSNormImpl::reset() {
  const bool affine = options.elementwise_affine();
  weight = register_parameter("weight",
                              affine ? ambit::empty(options.normalized_shape()) : Tensor(), affine);
  reset_parameters();
}
void RMSNormImpl::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
}
Tensor RMSNormImpl::forward(const Tensor& input) {
  return rms_norm(input, options.normalized_shape(), weight, options.eps());
}
void RMSNormImpl::pretty_print(std::ostream& os) const {
  const std::vector<int64_t>& sizes = options.normalized_shape();
  os << fmt::format("{}(({}{}), eps={}, elementwise_affine={})", name(), fmt::join(sizes, ", "),
                    sizes.size() == 1 ? "," : "",
                    options.eps() ? fmt::format("{}", *options.eps()) : "None",
                    python_bool(options.elementwise_affine()));
}

CrossMapLRN2dImpl::CrossMapLRN2dImpl(int64_t size)
    : CrossMapLRN2dImpl(CrossMapLRN2dOptions(size)) {}
CrossMapLRN2dImpl::CrossMapLRN2dImpl(const CrossMapLRN2dOptions& opts) : options(opts) {
  if (opts.size() < 1) {
    throw Error(fmt::format("CrossMapLRN2d: expected a size of at least 1, got {}", opts.size()));
  }
}
void CrossMapLRN2dImpl::reset() {}
Tensor CrossMapLRN2dImpl::forward(const Tensor& input) {
  functional::check_floating("cross_map_lrn2d", input);
  if (input.dim() != 4) {
    throw ShapeError(fmt::format("cross_map_lrn2d: expected an input of 4 dims, got shape {}",
                                 str(input.sizes())));
  }
  if (is_reduced_floating(input.dtype())) {
    return by_float32(
        input.dtype(), [this](const Tensor& x) { return forward(x); }, input);
  }
  const int64_t channels = input.size(1), around = (options.size() - 1) / 2, p = around + 1;
  const Tensor squares = square(input);
  Tensor sum = functional::sum_of_channels(squares, around, around);
  if (channels > p) {
    sum = cat({sum.narrow(1, 0, p), sum.narrow(1, p, channels - p) + squares.narrow(1, 0, 1)}, 1);
  }
  const double factor = options.alpha() / static_cast<double>(options.size());
  return input * pow(sum * factor + static_cast<double>(options.k()), -options.beta());
}
void CrossMapLRN2dImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({}, alpha={}, beta={}, k={})", name(), options.size(), options.alpha(),
                    options.beta(), options.k());
}

namespace detail {

template <class Derived, int64_t dims>
InstanceNormImplBase<Derived, dims>::InstanceNormImplBase(const InstanceNormOptions& opts)
    : options(opts) {
  if (opts.num_features() < 1) {
    throw Error(fmt::format("InstanceNorm{}d: expected num_features of at least 1, got {}", dims,
                            opts.num_features()));
  }
  InstanceNormImplBase::reset();
}

template <class Derived, int64_t dims>
void InstanceNormImplBase<Derived, dims>::reset() {
  const auto start = [&](bool wanted, double value) {
    return wanted ? full({options.num_features()}, value) : Tensor();
  };
  const bool affine = options.affine(), track = options.track_running_stats();
  weight = this->register_parameter("weight", start(affine, 1), affine);
  bias = this->register_parameter("bias", start(affine, 0), affine);
  running_mean = this->register_buffer("running_mean", start(track, 0));
  running_var = this->register_buffer("running_var", start(track, 1));
  num_batches_tracked =
      this->register_buffer("num_batches_tracked", track ? zeros({}, kInt64) : Tensor());
}

template <class Derived, int64_t dims>
Tensor InstanceNormImplBase<Derived, dims>::forward(const Tensor& input) {
  if (input.dim() != dims + 2 && input.dim() != dims + 1) {
    throw ShapeError(fmt::format("instance_norm: expected an input of {} or {} dims, got shape {}",
                                 dims + 1, dims + 2, str(input.sizes())));
  }
  const bool single = input.dim() == dims + 1;
  const Tensor y = functional::instance_norm(
      single ? input.unsqueeze(0) : input, running_mean, running_var, weight, bias,
      this->is_training() || !options.track_running_stats(), options.momentum(), options.eps());
  return single ? y.squeeze(0) : y;
}

template <class Derived, int64_t dims>
void InstanceNormImplBase<Derived, dims>::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({}, eps={}, momentum={}, affine={}, track_running_stats={})", this->name(),
                    options.num_features(), options.eps(), options.momentum(),
                    python_bool(options.affine()), python_bool(options.track_running_stats()));
}

template class InstanceNormImplBase<InstanceNorm1dImpl, 1>;
template class InstanceNormImplBase<InstanceNorm2dImpl, 2>;
template class InstanceNormImplBase<InstanceNorm3dImpl, 3>;

}  // namespace detail
InstanceNorm1dImpl::InstanceNorm1dImpl(const InstanceNormOptions& opts)
    : InstanceNormImplBase(opts) {}
InstanceNorm2dImpl::InstanceNorm2dImpl(const InstanceNormOptions& opts)
    : InstanceNormImplBase(opts) {}
InstanceNorm3dImpl::InstanceNorm3dImpl(const InstanceNormOptions& opts)
    : InstanceNormImplBase(opts) {}

}  // namespace ambit::nn
