// Padding and rearranging modules: ConstantPad1d-3d, ReflectionPad1d-3d, ReplicationPad1d-3d,
// ZeroPad1d-3d, PixelShuffle, PixelUnshuffle. They have no parameters. Errors and gradients: those
// of pad(), pixel_shuffle() and pixel_unshuffle() in functional/padding.h.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/functional/padding.h>
#include <ambit/nn/options.h>

#include <vector>

namespace ambit::nn {

/// Options of the padding modules except ConstantPad.
template <int dims>
class PaddingOptions : public Options<PaddingOptions<dims>> {
 public:
  PaddingOptions(int64_t all) : padding_(2 * dims, all) {}
  PaddingOptions(std::vector<int64_t> padding) : padding_(std::move(padding)) {}
  PaddingOptions(std::initializer_list<int64_t> padding) : padding_(padding) {}

  /// Elements added {before, after} the last dim, then the dim before it, and so on; one
  /// number: the same on all sides.
  AMBIT_OPTION(PaddingOptions, std::vector<int64_t>, padding);
};
/// Options of ConstantPad.
template <int dims>
class ConstantPadOptions : public Options<ConstantPadOptions<dims>> {
 public:
  ConstantPadOptions(int64_t all, double value) : padding_(2 * dims, all), value_(value) {}
  ConstantPadOptions(std::vector<int64_t> padding, double value)
      : padding_(std::move(padding)), value_(value) {}

  /// As in PaddingOptions.
  AMBIT_OPTION(ConstantPadOptions, std::vector<int64_t>, padding);
  /// Value of the added elements.
  AMBIT_OPTION(ConstantPadOptions, double, value);
};

/// The name of PaddingOptions for ReflectionPad.
template <int dims>
using ReflectionPadOptions = PaddingOptions<dims>;
/// The name of PaddingOptions for ReplicationPad.
template <int dims>
using ReplicationPadOptions = PaddingOptions<dims>;
using ConstantPad1dOptions = ConstantPadOptions<1>;
using ReflectionPad1dOptions = PaddingOptions<1>;
using ReplicationPad1dOptions = PaddingOptions<1>;
using ConstantPad2dOptions = ConstantPadOptions<2>;
using ReflectionPad2dOptions = PaddingOptions<2>;
using ReplicationPad2dOptions = PaddingOptions<2>;
using ConstantPad3dOptions = ConstantPadOptions<3>;
using ReflectionPad3dOptions = PaddingOptions<3>;
using ReplicationPad3dOptions = PaddingOptions<3>;
using ZeroPad1dOptions = PaddingOptions<1>;
using ZeroPad2dOptions = PaddingOptions<2>;
using ZeroPad3dOptions = PaddingOptions<3>;

namespace detail {

/// Base of ConstantPad1d-3d: `dims` padded dims.
template <int dims, class Derived>
class AMBIT_API ConstantPadImpl : public Cloneable<Derived> {
 public:
  ConstantPadImpl(int64_t all, double value) : options(all, value) {}
  explicit ConstantPadImpl(const ConstantPadOptions<dims>& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ConstantPadOptions<dims> options;
};

/// Base of the modules whose name contains the padding mode.
template <PadMode mode, int dims, class Derived>
class AMBIT_API ModePadImpl : public Cloneable<Derived> {
 public:
  explicit ModePadImpl(const PaddingOptions<dims>& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  PaddingOptions<dims> options;
};

}  // namespace detail

/// Pad x [C,L] or [N,C,L] with options.value.
class AMBIT_API ConstantPad1dImpl : public detail::ConstantPadImpl<1, ConstantPad1dImpl> {
 public:
  using ConstantPadImpl::ConstantPadImpl;
};
AMBIT_MODULE(ConstantPad1d);
/// Pad x [C,H,W] or [N,C,H,W] with options.value.
class AMBIT_API ConstantPad2dImpl : public detail::ConstantPadImpl<2, ConstantPad2dImpl> {
 public:
  using ConstantPadImpl::ConstantPadImpl;
};
AMBIT_MODULE(ConstantPad2d);
/// Pad x [C,D,H,W] or [N,C,D,H,W] with options.value.
class AMBIT_API ConstantPad3dImpl : public detail::ConstantPadImpl<3, ConstantPad3dImpl> {
 public:
  using ConstantPadImpl::ConstantPadImpl;
};
AMBIT_MODULE(ConstantPad3d);

/// Pad x [C,L] or [N,C,L] by reflection, without repeating the border element.
class AMBIT_API ReflectionPad1dImpl
    : public detail::ModePadImpl<PadMode::reflect, 1, ReflectionPad1dImpl> {
 public:
  using ModePadImpl::ModePadImpl;
};
AMBIT_MODULE(ReflectionPad1d);
/// Pad x [C,H,W] or [N,C,H,W] by reflection, without repeating the border element.
class AMBIT_API ReflectionPad2dImpl
    : public detail::ModePadImpl<PadMode::reflect, 2, ReflectionPad2dImpl> {
 public:
  using ModePadImpl::ModePadImpl;
};
AMBIT_MODULE(ReflectionPad2d);
/// Pad x [C,D,H,W] or [N,C,D,H,W] by reflection, without repeating the border element.
class AMBIT_API ReflectionPad3dImpl
    : public detail::ModePadImpl<PadMode::reflect, 3, ReflectionPad3dImpl> {
 public:
  using ModePadImpl::ModePadImpl;
};
AMBIT_MODULE(ReflectionPad3d);

/// Pad x [C,L] or [N,C,L] with copies of the border element.
class AMBIT_API ReplicationPad1dImpl
    : public detail::ModePadImpl<PadMode::replicate, 1, ReplicationPad1dImpl> {
 public:
  using ModePadImpl::ModePadImpl;
};
AMBIT_MODULE(ReplicationPad1d);
/// Pad x [C,H,W] or [N,C,H,W] with copies of the border element.
class AMBIT_API ReplicationPad2dImpl
    : public detail::ModePadImpl<PadMode::replicate, 2, ReplicationPad2dImpl> {
 public:
  using ModePadImpl::ModePadImpl;
};
AMBIT_MODULE(ReplicationPad2d);
/// Pad x [C,D,H,W] or [N,C,D,H,W] with copies of the border element.
class AMBIT_API ReplicationPad3dImpl
    : public detail::ModePadImpl<PadMode::replicate, 3, ReplicationPad3dImpl> {
 public:
  using ModePadImpl::ModePadImpl;
};
AMBIT_MODULE(ReplicationPad3d);

/// Pad x [C,L] or [N,C,L] with zeros.
class AMBIT_API ZeroPad1dImpl : public detail::ModePadImpl<PadMode::constant, 1, ZeroPad1dImpl> {
 public:
  using ModePadImpl::ModePadImpl;
};
AMBIT_MODULE(ZeroPad1d);
/// Pad x [C,H,W] or [N,C,H,W] with zeros.
class AMBIT_API ZeroPad2dImpl : public detail::ModePadImpl<PadMode::constant, 2, ZeroPad2dImpl> {
 public:
  using ModePadImpl::ModePadImpl;
};
AMBIT_MODULE(ZeroPad2d);
/// Pad x [C,D,H,W] or [N,C,D,H,W] with zeros.
class AMBIT_API ZeroPad3dImpl : public detail::ModePadImpl<PadMode::constant, 3, ZeroPad3dImpl> {
 public:
  using ModePadImpl::ModePadImpl;
};
AMBIT_MODULE(ZeroPad3d);

/// Options of PixelShuffle.
class PixelShuffleOptions : public Options<PixelShuffleOptions> {
 public:
  PixelShuffleOptions(int64_t upscale_factor) : upscale_factor_(upscale_factor) {}

  /// r, the factor of the spatial sizes; r^2 divides the channels.
  AMBIT_OPTION(PixelShuffleOptions, int64_t, upscale_factor);
};

/// Move channels to space: [..., C r^2, H, W] -> [..., C, H r, W r].
class AMBIT_API PixelShuffleImpl : public Cloneable<PixelShuffleImpl> {
 public:
  explicit PixelShuffleImpl(const PixelShuffleOptions& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  PixelShuffleOptions options;
};
AMBIT_MODULE(PixelShuffle);

/// Options of PixelUnshuffle.
class PixelUnshuffleOptions : public Options<PixelUnshuffleOptions> {
 public:
  PixelUnshuffleOptions(int64_t downscale_factor) : downscale_factor_(downscale_factor) {}

  /// r, the divisor of the spatial sizes.
  AMBIT_OPTION(PixelUnshuffleOptions, int64_t, downscale_factor);
};

/// Move space to channels: [..., C, H r, W r] -> [..., C r^2, H, W].
class AMBIT_API PixelUnshuffleImpl : public Cloneable<PixelUnshuffleImpl> {
 public:
  explicit PixelUnshuffleImpl(const PixelUnshuffleOptions& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  PixelUnshuffleOptions options;
};
AMBIT_MODULE(PixelUnshuffle);

}  // namespace ambit::nn
