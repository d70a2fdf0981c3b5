// Linear, Flatten and Identity.
#include <ambit/error.h>
#include <ambit/nn/init.h>
#include <ambit/nn/linear.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/shape.h>

#include <cmath>
#include <ostream>

#include "print.h"

namespace ambit::nn {

LinearImpl::LinearImpl(const LinearOptions& opts) : options(opts) {
  if (opts.in_features() < 0 || opts.out_features() < 0) {
    throw Error(fmt::format("Linear: expected features of at least 0, got in {} and out {}",
                            opts.in_features(), opts.out_features()));
  }
  LinearImpl::reset();
}

void LinearImpl::reset() {
  weight = register_parameter("weight", empty({options.out_features(), options.in_features()}));
  bias = options.bias() ? register_parameter("bias", empty({options.out_features()}))
                        : register_parameter("bias", {}, false);
  reset_parameters();
}

void LinearImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const auto fan_in = static_cast<double>(options.in_features());
  const double bound = fan_in > 0 ? 1 / std::sqrt(fan_in) : 0;
  init::uniform_(bias, -bound, bound);
}

Tensor LinearImpl::forward(const Tensor& input) { return linear(input, weight, bias); }

void LinearImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(in_features={}, out_features={}, bias={})", name(), options.in_features(),
                    options.out_features(), truth(options.bias()));
}

void FlattenImpl::reset() {}

Tensor FlattenImpl::forward(const Tensor& input) {
  return input.flatten(options.start_dim(), options.end_dim());
}

void FlattenImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(start_dim={}, end_dim={})", name(), options.start_dim(), options.end_dim());
}

void IdentityImpl::reset() {}

Tensor IdentityImpl::forward(const Tensor& input) { return input; }

}  // namespace ambit::nn
