// Conv1d and the transposed convolutions.
#include <ambit/error.h>
#include <ambit/nn/conv_transpose.h>
#include <ambit/nn/init.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <span>

#include "print.h"

namespace ambit::nn {
namespace {

// An option as list: one number, or (h, w).
std::vector<int64_t> list(int64_t n) { return {n}; }
std::vector<int64_t> list(const Pair& p) { return {p.h, p.w}; }

std::string python_tuple(const std::vector<int64_t>& v) {
  return v.size() == 1 ? fmt::format("({},)", v[0]) : fmt::format("({})", fmt::join(v, ", "));
}

template <class Options>
void check(const char* module, const Options& o) {
  const auto at_least = [&](int64_t least, const char* what, const std::vector<int64_t>& values) {
    if (*std::min_element(values.begin(), values.end()) < least) {
      throw Error(fmt::format("{}: expected {} of at least {}, got {}", module, what, least,
                              fmt::join(values, ", ")));
    }
  };
  at_least(1, "in_channels", {o.in_channels()});
  at_least(1, "out_channels", {o.out_channels()});
  at_least(1, "groups", {o.groups()});
  at_least(1, "kernel_size", list(o.kernel_size()));
  at_least(1, "stride", list(o.stride()));
  at_least(0, "padding", list(o.padding()));
  at_least(1, "dilation", list(o.dilation()));
  if constexpr (requires { o.output_padding(); }) {
    at_least(0, "output_padding", list(o.output_padding()));
  }
  if (o.in_channels() % o.groups() != 0 || o.out_channels() % o.groups() != 0) {
    throw Error(fmt::format(
        "{}: expected groups to divide both channels, got {} groups for {} and {} channels", module,
        o.groups(), o.in_channels(), o.out_channels()));
  }
}

template <class Module>
void draw(const Module& m) {
  init::kaiming_uniform_(m.weight, std::sqrt(5.0));
  if (!m.bias.defined()) return;
  const auto [fan_in, fan_out] = init::calculate_fan_in_and_fan_out(m.weight);
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  init::uniform_(m.bias, -bound, bound);
}

// What has its default value is left out, as in PyTorch.
template <class Options>
void print(std::ostream& os, const std::string& name, const Options& o) {
  os << fmt::format("{}({}, {}, kernel_size={}, stride={}", name, o.in_channels(), o.out_channels(),
                    python_tuple(list(o.kernel_size())), python_tuple(list(o.stride())));
  const auto unless = [&](const char* what, const std::vector<int64_t>& values, int64_t standard) {
    if (std::any_of(values.begin(), values.end(), [&](int64_t v) { return v != standard; })) {
      os << fmt::format(", {}={}", what, python_tuple(values));
    }
  };
  unless("padding", list(o.padding()), 0);
  unless("dilation", list(o.dilation()), 1);
  if constexpr (requires { o.output_padding(); }) {
    unless("output_padding", list(o.output_padding()), 0);
  }
  if (o.groups() != 1) os << ", groups=" << o.groups();
  if (!o.bias()) os << ", bias=False";
  os << ")";
}

// The output_padding that makes an output of `wanted`, the last sizes of the output.
template <class Options>
std::vector<int64_t> padding_for(const char* module, const Options& o, const Tensor& input,
                                 const std::optional<IntArrayRef>& wanted) {
  std::vector<int64_t> padding = list(o.output_padding());
  if (!wanted) return padding;
  const size_t n = padding.size(), skip = wanted->size() > n ? wanted->size() - n : 0;
  if (wanted->size() != n && wanted->size() != static_cast<size_t>(input.dim())) {
    throw ShapeError(
        fmt::format("{}: expected an output_size of {} numbers, got {}", module, n, str(*wanted)));
  }
  for (size_t i = 0; i < n; ++i) {
    const int64_t stride = list(o.stride())[i], dilation = list(o.dilation())[i];
    const int64_t least =
        (input.size(static_cast<int64_t>(i) - static_cast<int64_t>(n)) - 1) * stride -
        2 * list(o.padding())[i] + dilation * (list(o.kernel_size())[i] - 1) + 1;
    padding[i] = (*wanted)[skip + i] - least;
    if (padding[i] < 0 || padding[i] >= std::max(stride, dilation)) {
      throw ShapeError(fmt::format("{}: expected an output_size from {} to {}, got {}", module,
                                   least, least + std::max(stride, dilation) - 1,
                                   (*wanted)[skip + i]));
    }
  }
  return padding;
}

}  // namespace

Conv1dImpl::Conv1dImpl(const Conv1dOptions& opts) : options(opts) {
  check("Conv1d", opts);
  Conv1dImpl::reset();
}
void Conv1dImpl::reset() {
  const int64_t out = options.out_channels();
  weight = register_parameter(
      "weight", empty({out, options.in_channels() / options.groups(), options.kernel_size()}));
  bias = register_parameter("bias", options.bias() ? empty({out}) : Tensor(), options.bias());
  reset_parameters();
}
void Conv1dImpl::reset_parameters() { draw(*this); }
Tensor Conv1dImpl::forward(const Tensor& input) {
  return conv1d(input, weight, bias, IntArrayRef(options.stride()), IntArrayRef(options.padding()),
                IntArrayRef(options.dilation()), options.groups());
}
void Conv1dImpl::pretty_print(std::ostream& os) const { print(os, name(), options); }

ConvTranspose1dImpl::ConvTranspose1dImpl(const ConvTranspose1dOptions& opts) : options(opts) {
  check("ConvTranspose1d", opts);
  ConvTranspose1dImpl::reset();
}
void ConvTranspose1dImpl::reset() {
  const int64_t out = options.out_channels();
  weight = register_parameter(
      "weight", empty({options.in_channels(), out / options.groups(), options.kernel_size()}));
  bias = register_parameter("bias", options.bias() ? empty({out}) : Tensor(), options.bias());
  reset_parameters();
}
void ConvTranspose1dImpl::reset_parameters() { draw(*this); }
Tensor ConvTranspose1dImpl::forward(const Tensor& input, std::optional<IntArrayRef> output_size) {
  const std::vector<int64_t> padding = padding_for("ConvTranspose1d", options, input, output_size);
  return conv_transpose1d(input, weight, bias, options.stride(), options.padding(), padding[0],
                          options.groups(), options.dilation());
}
void ConvTranspose1dImpl::pretty_print(std::ostream& os) const { print(os, name(), options); }

ConvTranspose2dImpl::ConvTranspose2dImpl(const ConvTranspose2dOptions& opts) : options(opts) {
  check("ConvTranspose2d", opts);
  ConvTranspose2dImpl::reset();
}
void ConvTranspose2dImpl::reset() {
  const auto [h, w] = static_cast<const Pair&>(options.kernel_size());
  const int64_t out = options.out_channels();
  weight =
      register_parameter("weight", empty({options.in_channels(), out / options.groups(), h, w}));
  bias = register_parameter("bias", options.bias() ? empty({out}) : Tensor(), options.bias());
  reset_parameters();
}
void ConvTranspose2dImpl::reset_parameters() { draw(*this); }
Tensor ConvTranspose2dImpl::forward(const Tensor& input, std::optional<IntArrayRef> output_size) {
  const std::vector<int64_t> padding = padding_for("ConvTranspose2d", options, input, output_size);
  return conv_transpose2d(input, weight, bias, list(options.stride()), list(options.padding()),
                          padding, options.groups(), list(options.dilation()));
}
void ConvTranspose2dImpl::pretty_print(std::ostream& os) const { print(os, name(), options); }

}  // namespace ambit::nn
