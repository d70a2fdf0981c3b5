// MaxPool2d, AvgPool2d, AdaptiveAvgPool2d.
#include <ambit/error.h>
#include <ambit/nn/pooling.h>
#include <ambit/ops/pool.h>

#include <algorithm>
#include <ostream>

#include "print.h"

namespace ambit::nn {
namespace {

void check_windows(const char* module, const PoolParams& p) {
  const auto at_least_1 = [module](const char* what, const PerAxis& sizes) {
    if (std::min(sizes[0], sizes[1]) < 1) {
      throw Error(
          fmt::format("{}: expected {} of at least 1, got {}", module, what, int_or_tuple(sizes)));
    }
  };
  at_least_1("kernel_size", p.kernel);
  at_least_1("stride", p.stride);
  at_least_1("dilation", p.dilation);
  for (const size_t i : {0, 1}) {
    if (p.padding[i] < 0 || p.padding[i] > p.kernel[i] / 2) {
      throw Error(fmt::format("{}: expected padding from 0 to half of kernel_size {}, got {}",
                              module, int_or_tuple(p.kernel), int_or_tuple(p.padding)));
    }
  }
}

}  // namespace

MaxPool2dImpl::MaxPool2dImpl(const MaxPool2dOptions& opts) : options(opts) {
  check_windows("MaxPool2d", opts.params());
}
void MaxPool2dImpl::reset() {}
Tensor MaxPool2dImpl::forward(const Tensor& input) { return max_pool2d(input, options.params()); }
std::tuple<Tensor, Tensor> MaxPool2dImpl::forward_with_indices(const Tensor& input) {
  return max_pool2d_with_indices(input, options.params());
}
void MaxPool2dImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(kernel_size={}, stride={}, padding={}, dilation={}, ceil_mode={})", name(),
                    int_or_tuple(options.kernel_size()), int_or_tuple(options.stride()),
                    int_or_tuple(options.padding()), int_or_tuple(options.dilation()),
                    truth(options.ceil_mode()));
}

AvgPool2dImpl::AvgPool2dImpl(const AvgPool2dOptions& opts) : options(opts) {
  check_windows("AvgPool2d", opts.params());
}
void AvgPool2dImpl::reset() {}
Tensor AvgPool2dImpl::forward(const Tensor& input) { return avg_pool2d(input, options.params()); }
void AvgPool2dImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(kernel_size={}, stride={}, padding={})", name(),
                    int_or_tuple(options.kernel_size()), int_or_tuple(options.stride()),
                    int_or_tuple(options.padding()));
}

AdaptiveAvgPool2dImpl::AdaptiveAvgPool2dImpl(const AdaptiveAvgPool2dOptions& opts) : options(opts) {
  if (std::min(opts.output_size()[0], opts.output_size()[1]) < -1) {
    throw Error(fmt::format("AdaptiveAvgPool2d: expected output_size of at least 0 or -1, got {}",
                            int_or_tuple(opts.output_size())));
  }
}
void AdaptiveAvgPool2dImpl::reset() {}
Tensor AdaptiveAvgPool2dImpl::forward(const Tensor& input) {
  return adaptive_avg_pool2d(input, {options.output_size().h, options.output_size().w});
}
void AdaptiveAvgPool2dImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(output_size={})", name(), int_or_tuple(options.output_size()));
}

}  // namespace ambit::nn
