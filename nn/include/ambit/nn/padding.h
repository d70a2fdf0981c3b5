// Padding and rearranging layers: ConstantPad1d-3d, ZeroPad2d, ReflectionPad1d-3d,
// ReplicationPad1d-3d, PixelShuffle, PixelUnshuffle. They have no parameters. Errors and gradients:
// those of pad(), pixel_shuffle() and pixel_unshuffle() in functional/padding.h.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/functional/padding.h>
#include <ambit/nn/options.h>

#include <vector>

namespace ambit::nn {

/// Options of the layers with a mode in their name. padding: {before, after} of the last dim, then
/// of the one before it, ...; one number: all of them.
template <int dims>
class PaddingOptions : public Options<PaddingOptions<dims>> {
 public:
  PaddingOptions(int64_t all) : padding_(2 * dims, all) {}
  PaddingOptions(std::vector<int64_t> padding) : padding_(std::move(padding)) {}
  PaddingOptions(std::initializer_list<int64_t> padding) : padding_(padding) {}

  AMBIT_OPTION(PaddingOptions, std::vector<int64_t>, padding);
};
/// The same with the value that is put there.
template <int dims>
class ConstantPadOptions : public Options<ConstantPadOptions<dims>> {
 public:
  ConstantPadOptions(int64_t all, double value) : padding_(2 * dims, all), value_(value) {}
  ConstantPadOptions(std::vector<int64_t> padding, double value)
      : padding_(std::move(padding)), value_(value) {}

  AMBIT_OPTION(ConstantPadOptions, std::vector<int64_t>, padding);
  AMBIT_OPTION(ConstantPadOptions, double, value);
};

template <int dims>
using ReflectionPadOptions = PaddingOptions<dims>;
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
using ZeroPad2dOptions = PaddingOptions<2>;

/// Pad [C,L] or [N,C,L] with a number.
class AMBIT_API ConstantPad1dImpl : public Cloneable<ConstantPad1dImpl> {
 public:
  ConstantPad1dImpl(int64_t all, double value) : options(all, value) {}
  explicit ConstantPad1dImpl(const ConstantPad1dOptions& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ConstantPad1dOptions options;
};
AMBIT_MODULE(ConstantPad1d);

/// Pad [C,H,W] or [N,C,H,W] with a number.
class AMBIT_API ConstantPad2dImpl : public Cloneable<ConstantPad2dImpl> {
 public:
  ConstantPad2dImpl(int64_t all, double value) : options(all, value) {}
  explicit ConstantPad2dImpl(const ConstantPad2dOptions& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ConstantPad2dOptions options;
};
AMBIT_MODULE(ConstantPad2d);

/// Pad [C,D,H,W] or [N,C,D,H,W] with a number.
class AMBIT_API ConstantPad3dImpl : public Cloneable<ConstantPad3dImpl> {
 public:
  ConstantPad3dImpl(int64_t all, double value) : options(all, value) {}
  explicit ConstantPad3dImpl(const ConstantPad3dOptions& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ConstantPad3dOptions options;
};
AMBIT_MODULE(ConstantPad3d);

/// Pad [C,L] or [N,C,L] with its reflection.
class AMBIT_API ReflectionPad1dImpl : public Cloneable<ReflectionPad1dImpl> {
 public:
  explicit ReflectionPad1dImpl(const ReflectionPad1dOptions& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ReflectionPad1dOptions options;
};
AMBIT_MODULE(ReflectionPad1d);

/// Pad [C,H,W] or [N,C,H,W] with its reflection.
class AMBIT_API ReflectionPad2dImpl : public Cloneable<ReflectionPad2dImpl> {
 public:
  explicit ReflectionPad2dImpl(const ReflectionPad2dOptions& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ReflectionPad2dOptions options;
};
AMBIT_MODULE(ReflectionPad2d);

/// Pad [C,D,H,W] or [N,C,D,H,W] with its reflection.
class AMBIT_API ReflectionPad3dImpl : public Cloneable<ReflectionPad3dImpl> {
 public:
  explicit ReflectionPad3dImpl(const ReflectionPad3dOptions& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ReflectionPad3dOptions options;
};
AMBIT_MODULE(ReflectionPad3d);

/// Pad [C,L] or [N,C,L] with its border.
class AMBIT_API ReplicationPad1dImpl : public Cloneable<ReplicationPad1dImpl> {
 public:
  explicit ReplicationPad1dImpl(const ReplicationPad1dOptions& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ReplicationPad1dOptions options;
};
AMBIT_MODULE(ReplicationPad1d);

/// Pad [C,H,W] or [N,C,H,W] with its border.
class AMBIT_API ReplicationPad2dImpl : public Cloneable<ReplicationPad2dImpl> {
 public:
  explicit ReplicationPad2dImpl(const ReplicationPad2dOptions& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ReplicationPad2dOptions options;
};
AMBIT_MODULE(ReplicationPad2d);

/// Pad [C,D,H,W] or [N,C,D,H,W] with its border.
class AMBIT_API ReplicationPad3dImpl : public Cloneable<ReplicationPad3dImpl> {
 public:
  explicit ReplicationPad3dImpl(const ReplicationPad3dOptions& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ReplicationPad3dOptions options;
};
AMBIT_MODULE(ReplicationPad3d);

/// Pad [C,H,W] or [N,C,H,W] with zeros.
class AMBIT_API ZeroPad2dImpl : public Cloneable<ZeroPad2dImpl> {
 public:
  explicit ZeroPad2dImpl(const ZeroPad2dOptions& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  ZeroPad2dOptions options;
};
AMBIT_MODULE(ZeroPad2d);

/// Options of PixelShuffle: r.
class PixelShuffleOptions : public Options<PixelShuffleOptions> {
 public:
  PixelShuffleOptions(int64_t upscale_factor) : upscale_factor_(upscale_factor) {}

  AMBIT_OPTION(PixelShuffleOptions, int64_t, upscale_factor);
};

/// [..., C r^2, H, W] -> [..., C, H r, W r].
class AMBIT_API PixelShuffleImpl : public Cloneable<PixelShuffleImpl> {
 public:
  explicit PixelShuffleImpl(const PixelShuffleOptions& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  PixelShuffleOptions options;
};
AMBIT_MODULE(PixelShuffle);

/// Options of PixelUnshuffle: r.
class PixelUnshuffleOptions : public Options<PixelUnshuffleOptions> {
 public:
  PixelUnshuffleOptions(int64_t downscale_factor) : downscale_factor_(downscale_factor) {}

  AMBIT_OPTION(PixelUnshuffleOptions, int64_t, downscale_factor);
};

/// [..., C, H r, W r] -> [..., C r^2, H, W].
class AMBIT_API PixelUnshuffleImpl : public Cloneable<PixelUnshuffleImpl> {
 public:
  explicit PixelUnshuffleImpl(const PixelUnshuffleOptions& opts) : options(opts) {}
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  PixelUnshuffleOptions options;
};
AMBIT_MODULE(PixelUnshuffle);

}  // namespace ambit::nn
