// Conv1d to Conv3d and ConvTranspose1d to ConvTranspose3d.
#include <ambit/detail/activation.h>
#include <ambit/error.h>
#include <ambit/nn/conv.h>
#include <ambit/nn/conv_transpose.h>
#include <ambit/nn/init.h>
#include <ambit/ops/creation.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

#include "print.h"

namespace ambit::nn {
namespace {

/// Options independent of the number of dims, so that the code that uses them is compiled once.
struct Settings {
  template <size_t D>
  explicit Settings(const detail::ConvNdOptions<D>& o)
      : in(o.in_channels()),
        out(o.out_channels()),
        groups(o.groups()),
        kernel_size(o.kernel_size()),
        stride(o.stride()),
        dilation(o.dilation()),
        output_padding(o.output_padding()),
        padding_name(detail::padding_name<D>(o.padding())),
        padding(padding_name ? IntArrayRef() : IntArrayRef(std::get<0>(o.padding()))),
        mode(o.padding_mode()),
        is_same(std::holds_alternative<SamePadding>(o.padding())),
        transposed(o.transposed()),
        bias(o.bias()) {}
  size_t dims() const { return kernel_size.size(); }
  std::string class_name() const {
    return fmt::format("Conv{}{}d", transposed ? "Transpose" : "", dims());
  }

  int64_t in, out, groups;
  IntArrayRef kernel_size, stride, dilation, output_padding;
  const char* padding_name;  ///< null for a padding given in numbers
  IntArrayRef padding;       ///< empty for a named padding
  PadMode mode;
  bool is_same, transposed, bias;
};

void check(const Settings& o) {
  const auto at_least = [&](int64_t least, const char* what, IntArrayRef values) {
    if (std::any_of(values.begin(), values.end(), [&](int64_t v) { return v < least; })) {
      throw Error(fmt::format("{}: expected {} of at least {}, got {}", o.class_name(), what, least,
                              fmt::join(values, ", ")));
    }
  };
  at_least(1, "in_channels", o.in);
  at_least(1, "out_channels", o.out);
  at_least(1, "groups", o.groups);
  at_least(1, "kernel_size", o.kernel_size);
  at_least(1, "stride", o.stride);
  at_least(0, "padding", o.padding);
  at_least(1, "dilation", o.dilation);
  at_least(0, "output_padding", o.output_padding);
  if (o.in % o.groups != 0 || o.out % o.groups != 0) {
    throw Error(fmt::format(
        "{}: expected groups to divide both channels, got {} groups for {} and {} channels",
        o.class_name(), o.groups, o.in, o.out));
  }
  if (o.is_same &&
      std::any_of(o.stride.begin(), o.stride.end(), [](int64_t n) { return n != 1; })) {
    throw Error(fmt::format("{}: expected stride 1 with padding same, got {}", o.class_name(),
                            fmt::join(o.stride, ", ")));
  }
  if (o.transposed && (o.mode != kZeros || o.padding_name)) {
    throw Error(fmt::format("{}: expected padding_mode kZeros and padding as numbers, got another",
                            o.class_name()));
  }
}

const char* mode_name(PadMode mode) {
  constexpr const char* kNames[] = {"zeros", "reflect", "replicate", "circular"};
  return kNames[static_cast<size_t>(mode)];
}

/// Return the argument of pad(): {before, after} of the last dim, then of the one before it, ...
std::vector<int64_t> around(const Settings& o) {
  std::vector<int64_t> list;
  for (size_t i = o.dims(); i-- > 0;) {
    const int64_t same = o.dilation[i] * (o.kernel_size[i] - 1);
    const int64_t before = o.is_same ? same / 2 : o.padding_name ? 0 : o.padding[i];
    list.insert(list.end(), {before, o.is_same ? same - before : before});
  }
  return list;
}

/// Return the output_padding that gives an output of size `wanted`, the last sizes of the output.
PerAxis padding_for(const Settings& o, const Tensor& input, IntArrayRef wanted) {
  const size_t D = o.dims(), all = static_cast<size_t>(input.dim());
  if (wanted.size() != D && wanted.size() != all) {
    throw ShapeError(fmt::format("{}: expected an output_size of {} numbers, got {}",
                                 o.class_name(), D, str(wanted)));
  }
  if (all != D + 1 && all != D + 2) {
    throw ShapeError(fmt::format("{}: expected input of {} or {} dims, got shape {}",
                                 o.class_name(), D + 1, D + 2, str(input.sizes())));
  }
  PerAxis padding(o.output_padding);
  for (size_t i = 0; i < D; ++i) {
    const int64_t size = input.sizes()[all - D + i];
    const int64_t least =
        (size - 1) * o.stride[i] - 2 * o.padding[i] + o.dilation[i] * (o.kernel_size[i] - 1) + 1;
    const int64_t got = wanted[wanted.size() - D + i];
    padding[i] = got - least;
    if (padding[i] < 0 || padding[i] >= o.stride[i]) {
      throw ShapeError(fmt::format("{}: expected an output_size from {} to {}, got {}",
                                   o.class_name(), least, least + o.stride[i] - 1, got));
    }
  }
  return padding;
}

Tensor convolved(const Settings& o, const Tensor& input, const Tensor& weight, const Tensor& bias,
                 std::optional<UnaryOp> activation) {
  using Plain = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const ConvParams&);
  constexpr Plain kPlain[] = {conv1d, conv2d, conv3d};
  constexpr const char* kNames[] = {"conv1d", "conv2d", "conv3d"};
  const size_t D = o.dims();
  ConvParams p{.stride = o.stride, .dilation = o.dilation, .groups = o.groups};
  const auto by_numbers = [&](const Tensor& x) {
    return activation ? convolution_map(x, weight, bias, p, *activation)
                      : kPlain[D - 1](x, weight, bias, p);
  };
  if (o.mode != kZeros) return by_numbers(functional::pad(input, around(o), o.mode));
  if (o.padding_name) {
    const Tensor y =
        ambit::detail::convolve(kNames[D - 1], D, input, weight, bias, p, o.padding_name);
    return activation ? activated(y, *activation) : y;
  }
  p.padding = o.padding;
  return by_numbers(input);
}

// Options with their default value are omitted, as in PyTorch.
void print(std::ostream& os, const std::string& name, const Settings& o) {
  os << fmt::format("{}({}, {}, kernel_size={}, stride={}", name, o.in, o.out, tuple(o.kernel_size),
                    tuple(o.stride));
  const auto unless = [&](const char* what, IntArrayRef values, int64_t standard) {
    if (std::any_of(values.begin(), values.end(), [&](int64_t v) { return v != standard; })) {
      os << fmt::format(", {}={}", what, tuple(values));
    }
  };
  if (o.padding_name) os << ", padding=" << o.padding_name;
  unless("padding", o.padding, 0);
  unless("dilation", o.dilation, 1);
  unless("output_padding", o.output_padding, 0);
  if (o.groups != 1) os << ", groups=" << o.groups;
  if (!o.bias) os << ", bias=False";
  if (o.mode != kZeros) os << ", padding_mode=" << mode_name(o.mode);
  os << ")";
}

}  // namespace

template <size_t D, class Derived>
ConvNdImpl<D, Derived>::ConvNdImpl(const detail::ConvNdOptions<D>& opts) : options(opts) {
  check(Settings(options));
  ConvNdImpl::reset();
}

template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::reset() {
  const int64_t in = options.in_channels(), out = options.out_channels(), g = options.groups();
  Dims sizes = options.transposed() ? Dims{in, out / g} : Dims{out, in / g};
  for (const int64_t n : *options.kernel_size()) sizes.push_back(n);
  weight = this->register_parameter("weight", empty(sizes));
  bias = options.bias() ? this->register_parameter("bias", empty({out}))
                        : this->register_parameter("bias", {}, false);
  reset_parameters();
}

template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const auto [fan_in, fan_out] = init::calculate_fan_in_and_fan_out(weight);
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  init::uniform_(bias, -bound, bound);
}

template <size_t D, class Derived>
Tensor ConvNdImpl<D, Derived>::convolve(const Tensor& input,
                                        std::optional<UnaryOp> activation) const {
  return convolved(Settings(options), input, weight, bias, activation);
}

template <size_t D, class Derived>
Tensor ConvNdImpl<D, Derived>::convolve_transposed(const Tensor& input,
                                                   const PerAxis& output_padding) const {
  constexpr std::array kTransposed{&conv_transpose1d, &conv_transpose2d, &conv_transpose3d};
  const auto& o = options;
  return kTransposed[D - 1](input, weight, bias, o.stride(), std::get<0>(o.padding()),
                            output_padding, o.groups(), o.dilation());
}

template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::pretty_print(std::ostream& os) const {
  print(os, this->name(), Settings(options));
}

template <size_t D, class Derived>
Tensor ConvTransposeNdImpl<D, Derived>::forward(const Tensor& input,
                                                const std::optional<IntArrayRef>& output_size) {
  const Settings o(this->options);
  return this->convolve_transposed(
      input, output_size ? padding_for(o, input, *output_size) : PerAxis(o.output_padding));
}

template class ConvNdImpl<1, Conv1dImpl>;
template class ConvNdImpl<2, Conv2dImpl>;
template class ConvNdImpl<3, Conv3dImpl>;
template class ConvNdImpl<1, ConvTranspose1dImpl>;
template class ConvNdImpl<2, ConvTranspose2dImpl>;
template class ConvNdImpl<3, ConvTranspose3dImpl>;
template class ConvTransposeNdImpl<1, ConvTranspose1dImpl>;
template class ConvTransposeNdImpl<2, ConvTranspose2dImpl>;
template class ConvTransposeNdImpl<3, ConvTranspose3dImpl>;

Conv1dImpl::Conv1dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<1> kernel_size)
    : Conv1dImpl(Conv1dOptions(in_channels, out_channels, kernel_size)) {}
Conv1dImpl::Conv1dImpl(const Conv1dOptions& opts) : ConvNdImpl(opts) {}
Conv2dImpl::Conv2dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<2> kernel_size,
                       ExpandingArray<2> stride, ExpandingArray<2> padding)
    : Conv2dImpl(
          Conv2dOptions(in_channels, out_channels, kernel_size).stride(stride).padding(padding)) {}
Conv2dImpl::Conv2dImpl(const Conv2dOptions& opts) : ConvNdImpl(opts) {}
Conv3dImpl::Conv3dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<3> kernel_size)
    : Conv3dImpl(Conv3dOptions(in_channels, out_channels, kernel_size)) {}
Conv3dImpl::Conv3dImpl(const Conv3dOptions& opts) : ConvNdImpl(opts) {}

ConvTranspose1dImpl::ConvTranspose1dImpl(int64_t in_channels, int64_t out_channels,
                                         ExpandingArray<1> kernel_size)
    : ConvTranspose1dImpl(ConvTranspose1dOptions(in_channels, out_channels, kernel_size)) {}
ConvTranspose1dImpl::ConvTranspose1dImpl(const ConvTranspose1dOptions& opts)
    : ConvTransposeNdImpl(opts) {}
ConvTranspose2dImpl::ConvTranspose2dImpl(int64_t in_channels, int64_t out_channels,
                                         ExpandingArray<2> kernel_size)
    : ConvTranspose2dImpl(ConvTranspose2dOptions(in_channels, out_channels, kernel_size)) {}
ConvTranspose2dImpl::ConvTranspose2dImpl(const ConvTranspose2dOptions& opts)
    : ConvTransposeNdImpl(opts) {}
ConvTranspose3dImpl::ConvTranspose3dImpl(int64_t in_channels, int64_t out_channels,
                                         ExpandingArray<3> kernel_size)
    : ConvTranspose3dImpl(ConvTranspose3dOptions(in_channels, out_channels, kernel_size)) {}
ConvTranspose3dImpl::ConvTranspose3dImpl(const ConvTranspose3dOptions& opts)
    : ConvTransposeNdImpl(opts) {}

}  // namespace ambit::nn
