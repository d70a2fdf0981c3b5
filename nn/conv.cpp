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

template <size_t D>
std::string class_name(const detail::ConvNdOptions<D>& o) {
  return fmt::format("Conv{}{}d", o.transposed() ? "Transpose" : "", D);
}

/// The numbers of a padding that has some, else none.
template <size_t D>
IntArrayRef numbers(const detail::conv_padding_t<D>& padding) {
  const auto* n = std::get_if<ExpandingArray<D>>(&padding);
  return n ? IntArrayRef(*n) : IntArrayRef();
}

template <size_t D>
void check(const detail::ConvNdOptions<D>& o) {
  const auto at_least = [&](int64_t least, const char* what, IntArrayRef values) {
    if (std::any_of(values.begin(), values.end(), [&](int64_t v) { return v < least; })) {
      throw Error(fmt::format("{}: expected {} of at least {}, got {}", class_name(o), what, least,
                              fmt::join(values, ", ")));
    }
  };
  at_least(1, "in_channels", o.in_channels());
  at_least(1, "out_channels", o.out_channels());
  at_least(1, "groups", o.groups());
  at_least(1, "kernel_size", o.kernel_size());
  at_least(1, "stride", o.stride());
  at_least(0, "padding", numbers<D>(o.padding()));
  at_least(1, "dilation", o.dilation());
  at_least(0, "output_padding", o.output_padding());
  if (o.in_channels() % o.groups() != 0 || o.out_channels() % o.groups() != 0) {
    throw Error(fmt::format(
        "{}: expected groups to divide both channels, got {} groups for {} and {} channels",
        class_name(o), o.groups(), o.in_channels(), o.out_channels()));
  }
  const IntArrayRef stride = o.stride();
  if (std::holds_alternative<SamePadding>(o.padding()) &&
      std::any_of(stride.begin(), stride.end(), [](int64_t n) { return n != 1; })) {
    throw Error(fmt::format("{}: expected stride 1 with padding same, got {}", class_name(o),
                            fmt::join(stride, ", ")));
  }
  if (o.transposed() && (o.padding_mode() != kZeros || numbers<D>(o.padding()).empty())) {
    throw Error(
        fmt::format("{}: expected padding of zeros and in numbers, got another", class_name(o)));
  }
}

const char* mode_name(PadMode mode) {
  constexpr const char* kNames[] = {"zeros", "reflect", "replicate", "circular"};
  return kNames[static_cast<size_t>(mode)];
}

/// The padding as pad() takes it: {before, after} of the last dim, then of the one before it, ...
template <size_t D>
std::vector<int64_t> around(const detail::ConvNdOptions<D>& o) {
  std::vector<int64_t> list;
  for (size_t i = D; i-- > 0;) {
    const int64_t same = (*o.dilation())[i] * ((*o.kernel_size())[i] - 1);
    const IntArrayRef given = numbers<D>(o.padding());
    const bool is_same = std::holds_alternative<SamePadding>(o.padding());
    const int64_t before = is_same ? same / 2 : given.empty() ? 0 : given[i];
    list.insert(list.end(), {before, is_same ? same - before : before});
  }
  return list;
}

/// The output_padding that makes an output of `wanted`, the last sizes of the output.
template <size_t D>
PerAxis padding_for(const detail::ConvNdOptions<D>& o, const Tensor& input, IntArrayRef wanted) {
  if (wanted.size() != D && wanted.size() != static_cast<size_t>(input.dim())) {
    throw ShapeError(fmt::format("{}: expected an output_size of {} numbers, got {}", class_name(o),
                                 D, str(wanted)));
  }
  if (input.dim() != D + 1 && input.dim() != D + 2) {
    throw ShapeError(fmt::format("{}: expected input of {} or {} dims, got shape {}", class_name(o),
                                 D + 1, D + 2, str(input.sizes())));
  }
  std::array<int64_t, D> padding;
  for (size_t i = 0; i < D; ++i) {
    const int64_t stride = (*o.stride())[i], dilation = (*o.dilation())[i];
    const int64_t size = input.size(static_cast<int64_t>(i) - static_cast<int64_t>(D));
    const int64_t least = (size - 1) * stride - 2 * numbers<D>(o.padding())[i] +
                          dilation * ((*o.kernel_size())[i] - 1) + 1;
    const int64_t got = wanted[wanted.size() - D + i];
    padding[i] = got - least;
    if (padding[i] < 0 || padding[i] >= stride) {
      throw ShapeError(fmt::format("{}: expected an output_size from {} to {}, got {}",
                                   class_name(o), least, least + stride - 1, got));
    }
  }
  return padding;
}

}  // namespace

template <size_t D, class Derived>
ConvNdImpl<D, Derived>::ConvNdImpl(const detail::ConvNdOptions<D>& opts) : options(opts) {
  check(options);
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
  using Plain = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const ConvParams&);
  constexpr Plain kPlain[] = {conv1d, conv2d, conv3d};
  constexpr const char* kNames[] = {"conv1d", "conv2d", "conv3d"};
  const auto& o = options;
  ConvParams p{.stride = o.stride(), .dilation = o.dilation(), .groups = o.groups()};
  const auto by_numbers = [&](const Tensor& x) {
    return activation ? convolution_map(x, weight, bias, p, *activation)
                      : kPlain[D - 1](x, weight, bias, p);
  };
  if (o.padding_mode() != kZeros) {
    return by_numbers(functional::pad(input, around(o), o.padding_mode()));
  }
  if (const char* name = detail::padding_name<D>(o.padding())) {
    const Tensor y = ambit::detail::convolve(kNames[D - 1], D, input, weight, bias, p, name);
    return activation ? activated(y, *activation) : y;
  }
  p.padding = numbers<D>(o.padding());
  return by_numbers(input);
}

template <size_t D, class Derived>
Tensor ConvNdImpl<D, Derived>::convolve_transposed(const Tensor& input,
                                                   const PerAxis& output_padding) const {
  constexpr std::array kTransposed{&conv_transpose1d, &conv_transpose2d, &conv_transpose3d};
  const auto& o = options;
  return kTransposed[D - 1](input, weight, bias, o.stride(), numbers<D>(o.padding()),
                            output_padding, o.groups(), o.dilation());
}

// What has its default value is left out, as in PyTorch.
template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::pretty_print(std::ostream& os) const {
  const auto& o = options;
  os << fmt::format("{}({}, {}, kernel_size={}, stride={}", this->name(), o.in_channels(),
                    o.out_channels(), tuple(o.kernel_size()), tuple(o.stride()));
  const auto unless = [&](const char* what, IntArrayRef values, int64_t standard) {
    if (std::any_of(values.begin(), values.end(), [&](int64_t v) { return v != standard; })) {
      os << fmt::format(", {}={}", what, tuple(values));
    }
  };
  if (const char* name = detail::padding_name<D>(o.padding())) {
    os << ", padding=" << name;
  } else {
    unless("padding", numbers<D>(o.padding()), 0);
  }
  unless("dilation", o.dilation(), 1);
  unless("output_padding", o.output_padding(), 0);
  if (o.groups() != 1) os << ", groups=" << o.groups();
  if (!o.bias()) os << ", bias=False";
  if (o.padding_mode() != kZeros) os << ", padding_mode=" << mode_name(o.padding_mode());
  os << ")";
}

template <size_t D, class Derived>
Tensor ConvTransposeNdImpl<D, Derived>::forward(const Tensor& input,
                                                const std::optional<IntArrayRef>& output_size) {
  const auto& o = this->options;
  return this->convolve_transposed(
      input, output_size ? padding_for(o, input, *output_size) : PerAxis(o.output_padding()));
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
