// Linear, Bilinear, Flatten, Unflatten and Identity.
#include <ambit/error.h>
#include <ambit/nn/functional.h>
#include <ambit/nn/init.h>
#include <ambit/nn/linear.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>

#include <cmath>
#include <ostream>

#include "print.h"
#include "quantized_linear.h"

namespace ambit::nn {

LinearImpl::LinearImpl(int64_t in_features, int64_t out_features)
    : LinearImpl(LinearOptions(in_features, out_features)) {}
LinearImpl::LinearImpl(const LinearOptions& opts) : options(opts) {
  if (opts.in_features() < 0 || opts.out_features() < 0) {
    throw Error(fmt::format("Linear: expected features of at least 0, got in {} and out {}",
                            opts.in_features(), opts.out_features()));
  }
  LinearImpl::reset();
}

void LinearImpl::reset() {
  const bool is_int8 = weight_scale.defined();
  weight_scale = {};
  weight = register_parameter("weight", empty({options.out_features(), options.in_features()}));
  bias = options.bias() ? register_parameter("bias", empty({options.out_features()}))
                        : register_parameter("bias", {}, false);
  reset_parameters();
  if (is_int8) quantize_again(*this);
}

void LinearImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const auto fan_in = static_cast<double>(options.in_features());
  const double bound = fan_in > 0 ? 1 / std::sqrt(fan_in) : 0;
  init::uniform_(bias, -bound, bound);
}

Tensor LinearImpl::forward(const Tensor& input) {
  return product(input, weight, weight_scale, bias);
}

Tensor LinearImpl::forward_map(const Tensor& input, UnaryOp activation) {
  return product_map(input, weight, weight_scale, bias, activation);
}

void LinearImpl::pretty_print(std::ostream& os) const {
  if (weight_scale.defined()) {
    os << fmt::format(
        "DynamicQuantized{}(in_features={}, out_features={}, dtype=torch.qint8, "
        "qscheme=torch.per_channel_affine)",
        name(), options.in_features(), options.out_features());
    return;
  }
  os << fmt::format("{}(in_features={}, out_features={}, bias={})", name(), options.in_features(),
                    options.out_features(), python_bool(options.bias()));
}

FlattenImpl::FlattenImpl(const FlattenOptions& opts) : options(opts) {}
void FlattenImpl::reset() {}

Tensor FlattenImpl::forward(const Tensor& input) {
  return input.flatten(options.start_dim(), options.end_dim());
}

void FlattenImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(start_dim={}, end_dim={})", name(), options.start_dim(), options.end_dim());
}

UnflattenImpl::UnflattenImpl(const UnflattenOptions& opts) : options(opts) {}
UnflattenImpl::UnflattenImpl(int64_t dim, std::vector<int64_t> sizes)
    : UnflattenImpl(UnflattenOptions(dim, std::move(sizes))) {}
void UnflattenImpl::reset() {}

Tensor UnflattenImpl::forward(const Tensor& input) {
  const int64_t dim = wrap_dim("Unflatten", options.dim(), input.dim());
  Dims sizes(input.sizes().slice(0, static_cast<size_t>(dim)));
  int64_t known = 1;
  bool inferred = false;
  for (const int64_t n : options.sizes()) {
    inferred |= n == -1;
    if (n != -1) known *= n;
    sizes.push_back(n);
  }
  if (inferred ? known < 1 || input.size(dim) % known != 0 : known != input.size(dim)) {
    throw ShapeError(fmt::format("Unflatten: expected sizes whose product is {}, got {}",
                                 input.size(dim), str(IntArrayRef(options.sizes()))));
  }
  for (int64_t i = dim + 1; i < input.dim(); ++i) sizes.push_back(input.size(i));
  return input.reshape(sizes);
}

void UnflattenImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(dim={}, unflattened_size=({}))", name(), options.dim(),
                    fmt::join(options.sizes(), ", "));
}

BilinearImpl::BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features)
    : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features)) {}
BilinearImpl::BilinearImpl(const BilinearOptions& opts) : options(opts) {
  if (opts.in1_features() < 1 || opts.in2_features() < 1 || opts.out_features() < 1) {
    throw Error(fmt::format("Bilinear: expected features of at least 1, got {}, {} and {}",
                            opts.in1_features(), opts.in2_features(), opts.out_features()));
  }
  BilinearImpl::reset();
}

void BilinearImpl::reset() {
  weight = register_parameter(
      "weight", empty({options.out_features(), options.in1_features(), options.in2_features()}));
  bias = register_parameter("bias", options.bias() ? empty({options.out_features()}) : Tensor(),
                            options.bias());
  reset_parameters();
}

void BilinearImpl::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(options.in1_features()));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

Tensor BilinearImpl::forward(const Tensor& input1, const Tensor& input2) {
  return functional::bilinear(input1, input2, weight, bias);
}

void BilinearImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(in1_features={}, in2_features={}, out_features={}, bias={})", name(),
                    options.in1_features(), options.in2_features(), options.out_features(),
                    python_bool(options.bias()));
}

void IdentityImpl::reset() {}

Tensor IdentityImpl::forward(const Tensor& input) { return input; }

}  // namespace ambit::nn
