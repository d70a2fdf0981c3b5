// Conv2d.
#include <ambit/error.h>
#include <ambit/nn/conv.h>
#include <ambit/nn/init.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "print.h"

namespace ambit::nn {
namespace {

void check_at_least(int64_t least, const char* what, const Pair& sizes) {
  if (std::min(sizes[0], sizes[1]) < least) {
    throw Error(fmt::format("Conv2d: expected {} of at least {}, got {}", what, least,
                            int_or_tuple(sizes)));
  }
}

}  // namespace

Conv2dImpl::Conv2dImpl(const Conv2dOptions& opts) : options(opts) {
  const int64_t in = opts.in_channels(), out = opts.out_channels(), groups = opts.groups();
  check_at_least(1, "in_channels", {in, in});
  check_at_least(1, "out_channels", {out, out});
  check_at_least(1, "kernel_size", opts.kernel_size());
  check_at_least(1, "stride", opts.stride());
  check_at_least(0, "padding", opts.padding());
  check_at_least(1, "dilation", opts.dilation());
  check_at_least(1, "groups", {groups, groups});
  if (in % groups != 0 || out % groups != 0) {
    throw Error(
        fmt::format("Conv2d: expected groups to divide both channels, got {} groups for {} "
                    "and {} channels",
                    groups, in, out));
  }
  Conv2dImpl::reset();
}

void Conv2dImpl::reset() {
  const auto [h, w] = options.kernel_size();
  const int64_t out = options.out_channels();
  weight =
      register_parameter("weight", empty({out, options.in_channels() / options.groups(), h, w}));
  bias = options.bias() ? register_parameter("bias", empty({out}))
                        : register_parameter("bias", {}, false);
  reset_parameters();
}

void Conv2dImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const auto [fan_in, fan_out] = init::calculate_fan_in_and_fan_out(weight);
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  init::uniform_(bias, -bound, bound);
}

Tensor Conv2dImpl::forward(const Tensor& input) {
  return conv2d(input, weight, bias, options.params());
}

// What has its default value is left out, as in PyTorch.
void Conv2dImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({}, {}, kernel_size={}, stride={}", name(), options.in_channels(),
                    options.out_channels(), tuple(options.kernel_size()), tuple(options.stride()));
  if (options.padding() != Pair{0, 0}) os << ", padding=" << tuple(options.padding());
  if (options.dilation() != Pair{1, 1}) os << ", dilation=" << tuple(options.dilation());
  if (options.groups() != 1) os << ", groups=" << options.groups();
  if (!options.bias()) os << ", bias=False";
  os << ")";
}

}  // namespace ambit::nn
