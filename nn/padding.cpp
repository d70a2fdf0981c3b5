// Padding and rearranging modules.
#include <ambit/nn/padding.h>

#include <ostream>

#include "print.h"

namespace ambit::nn {

namespace detail {

template <int dims, class Derived>
void ConstantPadImpl<dims, Derived>::reset() {}
template <int dims, class Derived>
Tensor ConstantPadImpl<dims, Derived>::forward(const Tensor& input) {
  return functional::pad(input, options.padding(), PadMode::constant, options.value());
}
template <int dims, class Derived>
void ConstantPadImpl<dims, Derived>::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(padding={}, value={})", this->name(), tuple(options.padding()),
                    number(options.value()));
}

template <PadMode mode, int dims, class Derived>
void ModePadImpl<mode, dims, Derived>::reset() {}
template <PadMode mode, int dims, class Derived>
Tensor ModePadImpl<mode, dims, Derived>::forward(const Tensor& input) {
  return functional::pad(input, options.padding(), mode);
}
template <PadMode mode, int dims, class Derived>
void ModePadImpl<mode, dims, Derived>::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({})", this->name(), tuple(options.padding()));
}

template class ConstantPadImpl<1, ConstantPad1dImpl>;
template class ConstantPadImpl<2, ConstantPad2dImpl>;
template class ConstantPadImpl<3, ConstantPad3dImpl>;
template class ModePadImpl<PadMode::reflect, 1, ReflectionPad1dImpl>;
template class ModePadImpl<PadMode::reflect, 2, ReflectionPad2dImpl>;
template class ModePadImpl<PadMode::reflect, 3, ReflectionPad3dImpl>;
template class ModePadImpl<PadMode::replicate, 1, ReplicationPad1dImpl>;
template class ModePadImpl<PadMode::replicate, 2, ReplicationPad2dImpl>;
template class ModePadImpl<PadMode::replicate, 3, ReplicationPad3dImpl>;
template class ModePadImpl<PadMode::constant, 1, ZeroPad1dImpl>;
template class ModePadImpl<PadMode::constant, 2, ZeroPad2dImpl>;
template class ModePadImpl<PadMode::constant, 3, ZeroPad3dImpl>;

}  // namespace detail

PixelShuffleImpl::PixelShuffleImpl(const PixelShuffleOptions& opts) : options(opts) {}
void PixelShuffleImpl::reset() {}
Tensor PixelShuffleImpl::forward(const Tensor& input) {
  return functional::pixel_shuffle(input, options.upscale_factor());
}
void PixelShuffleImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(upscale_factor={})", name(), options.upscale_factor());
}

PixelUnshuffleImpl::PixelUnshuffleImpl(const PixelUnshuffleOptions& opts) : options(opts) {}
void PixelUnshuffleImpl::reset() {}
Tensor PixelUnshuffleImpl::forward(const Tensor& input) {
  return functional::pixel_unshuffle(input, options.downscale_factor());
}
void PixelUnshuffleImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(downscale_factor={})", name(), options.downscale_factor());
}

}  // namespace ambit::nn
