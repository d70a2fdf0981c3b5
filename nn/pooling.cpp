// Pooling modules: checks of options, and printing. The computation is in functional/pooling.h.
#include <ambit/error.h>
#include <ambit/nn/pooling.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "print.h"

namespace ambit::nn {
namespace {

namespace F = functional;

std::string text(int64_t n) { return std::to_string(n); }
std::string text(const std::optional<int64_t>& n) { return n ? text(*n) : "None"; }

/// "(5, 3)", "(5,)"
template <size_t D, class T>
std::string tuple_of(const ExpandingArray<D, T>& a) {
  std::string s = "(" + text(a[0]);
  for (size_t i = 1; i < D; ++i) s += ", " + text(a[i]);
  return s + (D == 1 ? ",)" : ")");
}
/// Return "5" if all are equal, else the tuple.
template <size_t D, class T>
std::string int_or_tuple(const ExpandingArray<D, T>& a) {
  const bool one = std::all_of(a->begin(), a->end(), [&](const T& n) { return n == a[0]; });
  return one ? text(a[0]) : tuple_of(a);
}

template <size_t D>
std::string name_of(const char* kind) {
  return fmt::format("{}{}d", kind, D);
}

template <size_t D>
void check_at_least_1(const std::string& module, const char* what, const ExpandingArray<D>& sizes) {
  if (*std::min_element(sizes->begin(), sizes->end()) < 1) {
    throw Error(
        fmt::format("{}: expected {} of at least 1, got {}", module, what, int_or_tuple(sizes)));
  }
}

template <size_t D>
void check_windows(const std::string& module, const ExpandingArray<D>& kernel,
                   const ExpandingArray<D>& stride, const ExpandingArray<D>& padding) {
  check_at_least_1(module, "kernel_size", kernel);
  check_at_least_1(module, "stride", stride);
  for (size_t i = 0; i < D; ++i) {
    if (padding[i] < 0 || padding[i] > kernel[i] / 2) {
      throw Error(fmt::format("{}: expected padding from 0 to half of kernel_size {}, got {}",
                              module, int_or_tuple(kernel), int_or_tuple(padding)));
    }
  }
}

template <size_t D, class T>
void check_output_size(const std::string& module, const ExpandingArray<D, T>& sizes) {
  for (const auto& n : *sizes) {
    if (std::optional<int64_t>(n).value_or(-1) >= -1) continue;
    throw Error(fmt::format("{}: expected output_size of at least 0 or -1, got {}", module,
                            int_or_tuple(sizes)));
  }
}

// Call the function of D dims, so that all modules of a kind share one template.
#define AMBIT_BY_DIMS(name, ...)     \
  if constexpr (D == 1) {            \
    return F::name##1d(__VA_ARGS__); \
  } else if constexpr (D == 2) {     \
    return F::name##2d(__VA_ARGS__); \
  } else {                           \
    return F::name##3d(__VA_ARGS__); \
  }
#define AMBIT_INDICES_BY_DIMS(name, ...)          \
  if constexpr (D == 1) {                         \
    return F::name##1d_with_indices(__VA_ARGS__); \
  } else if constexpr (D == 2) {                  \
    return F::name##2d_with_indices(__VA_ARGS__); \
  } else {                                        \
    return F::name##3d_with_indices(__VA_ARGS__); \
  }

}  // namespace

namespace detail {

template <size_t D, class Derived>
MaxPoolImpl<D, Derived>::MaxPoolImpl(const MaxPoolOptions<D>& opts) : options(opts) {
  check_windows(name_of<D>("MaxPool"), opts.kernel_size(), opts.stride(), opts.padding());
  check_at_least_1(name_of<D>("MaxPool"), "dilation", opts.dilation());
}
template <size_t D, class Derived>
void MaxPoolImpl<D, Derived>::reset() {}
template <size_t D, class Derived>
Tensor MaxPoolImpl<D, Derived>::forward(const Tensor& input) {
  AMBIT_BY_DIMS(max_pool, input, options)
}
template <size_t D, class Derived>
std::tuple<Tensor, Tensor> MaxPoolImpl<D, Derived>::forward_with_indices(const Tensor& input) {
  AMBIT_INDICES_BY_DIMS(max_pool, input, options)
}
template <size_t D, class Derived>
void MaxPoolImpl<D, Derived>::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(kernel_size={}, stride={}, padding={}, dilation={}, ceil_mode={})",
                    this->name(), int_or_tuple(options.kernel_size()),
                    int_or_tuple(options.stride()), int_or_tuple(options.padding()),
                    int_or_tuple(options.dilation()), python_bool(options.ceil_mode()));
}

template <size_t D, class Derived>
AvgPoolImpl<D, Derived>::AvgPoolImpl(const AvgPoolOptions<D>& opts) : options(opts) {
  check_windows(name_of<D>("AvgPool"), opts.kernel_size(), opts.stride(), opts.padding());
}
template <size_t D, class Derived>
void AvgPoolImpl<D, Derived>::reset() {}
template <size_t D, class Derived>
Tensor AvgPoolImpl<D, Derived>::forward(const Tensor& input) {
  AMBIT_BY_DIMS(avg_pool, input, options)
}
template <size_t D, class Derived>
void AvgPoolImpl<D, Derived>::pretty_print(std::ostream& os) const {
  const auto size = [](const ExpandingArray<D>& n) {
    return D == 1 ? tuple_of(n) : int_or_tuple(n);
  };
  os << fmt::format("{}(kernel_size={}, stride={}, padding={})", this->name(),
                    size(options.kernel_size()), size(options.stride()), size(options.padding()));
}

template <size_t D, class Derived, class Size>
AdaptiveMaxPoolImpl<D, Derived, Size>::AdaptiveMaxPoolImpl(const AdaptiveMaxPoolOptions<Size>& opts)
    : options(opts) {
  check_output_size(name_of<D>("AdaptiveMaxPool"), opts.output_size());
}
template <size_t D, class Derived, class Size>
void AdaptiveMaxPoolImpl<D, Derived, Size>::reset() {}
template <size_t D, class Derived, class Size>
Tensor AdaptiveMaxPoolImpl<D, Derived, Size>::forward(const Tensor& input) {
  AMBIT_BY_DIMS(adaptive_max_pool, input, options)
}
template <size_t D, class Derived, class Size>
std::tuple<Tensor, Tensor> AdaptiveMaxPoolImpl<D, Derived, Size>::forward_with_indices(
    const Tensor& input) {
  AMBIT_INDICES_BY_DIMS(adaptive_max_pool, input, options)
}
template <size_t D, class Derived, class Size>
void AdaptiveMaxPoolImpl<D, Derived, Size>::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(output_size={})", this->name(), int_or_tuple(options.output_size()));
}

template <size_t D, class Derived, class Size>
AdaptiveAvgPoolImpl<D, Derived, Size>::AdaptiveAvgPoolImpl(const AdaptiveAvgPoolOptions<Size>& opts)
    : options(opts) {
  check_output_size(name_of<D>("AdaptiveAvgPool"), opts.output_size());
}
template <size_t D, class Derived, class Size>
void AdaptiveAvgPoolImpl<D, Derived, Size>::reset() {}
template <size_t D, class Derived, class Size>
Tensor AdaptiveAvgPoolImpl<D, Derived, Size>::forward(const Tensor& input) {
  AMBIT_BY_DIMS(adaptive_avg_pool, input, options)
}
template <size_t D, class Derived, class Size>
void AdaptiveAvgPoolImpl<D, Derived, Size>::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(output_size={})", this->name(), int_or_tuple(options.output_size()));
}

template <size_t D, class Derived>
MaxUnpoolImpl<D, Derived>::MaxUnpoolImpl(const MaxUnpoolOptions<D>& opts) : options(opts) {
  check_windows(name_of<D>("MaxUnpool"), opts.kernel_size(), opts.stride(), opts.padding());
}
template <size_t D, class Derived>
void MaxUnpoolImpl<D, Derived>::reset() {}
template <size_t D, class Derived>
Tensor MaxUnpoolImpl<D, Derived>::forward(const Tensor& input, const Tensor& indices,
                                          const std::optional<std::vector<int64_t>>& output_size) {
  const auto with_size = F::MaxUnpoolFuncOptions<D>(options.kernel_size())
                             .stride(options.stride())
                             .padding(options.padding())
                             .output_size(output_size);
  AMBIT_BY_DIMS(max_unpool, input, indices, with_size)
}
template <size_t D, class Derived>
void MaxUnpoolImpl<D, Derived>::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(kernel_size={}, stride={}, padding={})", this->name(),
                    tuple_of(options.kernel_size()), tuple_of(options.stride()),
                    tuple_of(options.padding()));
}

template <size_t D, class Derived>
FractionalMaxPoolImpl<D, Derived>::FractionalMaxPoolImpl(const FractionalMaxPoolOptions<D>& opts)
    : options(opts) {
  const std::string module = name_of<D>("FractionalMaxPool");
  check_at_least_1(module, "kernel_size", opts.kernel_size());
  if (opts.output_size().has_value() == opts.output_ratio().has_value()) {
    throw Error(fmt::format("{}: expected either output_size or output_ratio, got {}", module,
                            opts.output_size() ? "both" : "neither"));
  }
  if (opts.output_size()) check_at_least_1(module, "output_size", *opts.output_size());
  if (opts.output_ratio()) {
    for (const double r : **opts.output_ratio()) {
      if (r > 0 && r < 1) continue;
      throw Error(fmt::format("{}: expected output_ratio between 0 and 1, got {}", module, r));
    }
  }
  reset();
}
template <size_t D, class Derived>
void FractionalMaxPoolImpl<D, Derived>::reset() {
  if (options._random_samples().defined()) {
    _random_samples = this->register_buffer("_random_samples", options._random_samples());
  }
}
template <size_t D, class Derived>
Tensor FractionalMaxPoolImpl<D, Derived>::forward(const Tensor& input) {
  return std::get<0>(forward_with_indices(input));
}
template <size_t D, class Derived>
std::tuple<Tensor, Tensor> FractionalMaxPoolImpl<D, Derived>::forward_with_indices(
    const Tensor& input) {
  const FractionalMaxPoolOptions<D> here =
      FractionalMaxPoolOptions<D>(options)._random_samples(_random_samples);
  if constexpr (D == 2) {
    return F::fractional_max_pool2d_with_indices(input, here);
  } else {
    return F::fractional_max_pool3d_with_indices(input, here);
  }
}
template <size_t D, class Derived>
void FractionalMaxPoolImpl<D, Derived>::pretty_print(std::ostream& os) const {
  os << this->name() << "()";
}

template <size_t D, class Derived>
LPPoolImpl<D, Derived>::LPPoolImpl(const LPPoolOptions<D>& opts) : options(opts) {
  check_windows(name_of<D>("LPPool"), opts.kernel_size(), opts.stride(), ExpandingArray<D>(0));
}
template <size_t D, class Derived>
void LPPoolImpl<D, Derived>::reset() {}
template <size_t D, class Derived>
Tensor LPPoolImpl<D, Derived>::forward(const Tensor& input) {
  if constexpr (D == 1) {
    return F::lp_pool1d(input, options);
  } else if constexpr (D == 2) {
    return F::lp_pool2d(input, options);
  } else {
    return F::lp_pool3d(input, options);
  }
}
template <size_t D, class Derived>
void LPPoolImpl<D, Derived>::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(norm_type={}, kernel_size={}, stride={}, ceil_mode={})", this->name(),
                    options.norm_type(), int_or_tuple(options.kernel_size()),
                    int_or_tuple(options.stride()), python_bool(options.ceil_mode()));
}

template class MaxPoolImpl<1, MaxPool1dImpl>;
template class MaxPoolImpl<2, MaxPool2dImpl>;
template class MaxPoolImpl<3, MaxPool3dImpl>;
template class AvgPoolImpl<1, AvgPool1dImpl>;
template class AvgPoolImpl<2, AvgPool2dImpl>;
template class AvgPoolImpl<3, AvgPool3dImpl>;
template class AdaptiveMaxPoolImpl<1, AdaptiveMaxPool1dImpl, ExpandingArray<1>>;
template class AdaptiveMaxPoolImpl<2, AdaptiveMaxPool2dImpl, ExpandingArrayWithOptionalElem<2>>;
template class AdaptiveMaxPoolImpl<3, AdaptiveMaxPool3dImpl, ExpandingArrayWithOptionalElem<3>>;
template class AdaptiveAvgPoolImpl<1, AdaptiveAvgPool1dImpl, ExpandingArray<1>>;
template class AdaptiveAvgPoolImpl<2, AdaptiveAvgPool2dImpl, ExpandingArrayWithOptionalElem<2>>;
template class AdaptiveAvgPoolImpl<3, AdaptiveAvgPool3dImpl, ExpandingArrayWithOptionalElem<3>>;
template class MaxUnpoolImpl<1, MaxUnpool1dImpl>;
template class MaxUnpoolImpl<2, MaxUnpool2dImpl>;
template class MaxUnpoolImpl<3, MaxUnpool3dImpl>;
template class FractionalMaxPoolImpl<2, FractionalMaxPool2dImpl>;
template class FractionalMaxPoolImpl<3, FractionalMaxPool3dImpl>;
template class LPPoolImpl<1, LPPool1dImpl>;
template class LPPoolImpl<2, LPPool2dImpl>;
template class LPPoolImpl<3, LPPool3dImpl>;

}  // namespace detail
}  // namespace ambit::nn
