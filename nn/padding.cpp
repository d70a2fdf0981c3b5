// Padding and rearranging layers.
#include <ambit/nn/padding.h>

#include <ostream>

#include "print.h"

namespace ambit::nn {

void ConstantPad1dImpl::reset() {}
Tensor ConstantPad1dImpl::forward(const Tensor& input) {
  return functional::pad(input, options.padding(), PadMode::constant, options.value());
}
void ConstantPad1dImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(padding={}, value={})", name(), tuple(options.padding()),
                    number(options.value()));
}

void ConstantPad2dImpl::reset() {}
Tensor ConstantPad2dImpl::forward(const Tensor& input) {
  return functional::pad(input, options.padding(), PadMode::constant, options.value());
}
void ConstantPad2dImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(padding={}, value={})", name(), tuple(options.padding()),
                    number(options.value()));
}

void ConstantPad3dImpl::reset() {}
Tensor ConstantPad3dImpl::forward(const Tensor& input) {
  return functional::pad(input, options.padding(), PadMode::constant, options.value());
}
void ConstantPad3dImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(padding={}, value={})", name(), tuple(options.padding()),
                    number(options.value()));
}

void ReflectionPad1dImpl::reset() {}
Tensor ReflectionPad1dImpl::forward(const Tensor& input) {
  return functional::pad(input, options.padding(), PadMode::reflect);
}
void ReflectionPad1dImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({})", name(), tuple(options.padding()));
}

void ReflectionPad2dImpl::reset() {}
Tensor ReflectionPad2dImpl::forward(const Tensor& input) {
  return functional::pad(input, options.padding(), PadMode::reflect);
}
void ReflectionPad2dImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({})", name(), tuple(options.padding()));
}

void ReflectionPad3dImpl::reset() {}
Tensor ReflectionPad3dImpl::forward(const Tensor& input) {
  return functional::pad(input, options.padding(), PadMode::reflect);
}
void ReflectionPad3dImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({})", name(), tuple(options.padding()));
}

void ReplicationPad1dImpl::reset() {}
Tensor ReplicationPad1dImpl::forward(const Tensor& input) {
  return functional::pad(input, options.padding(), PadMode::replicate);
}
void ReplicationPad1dImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({})", name(), tuple(options.padding()));
}

void ReplicationPad2dImpl::reset() {}
Tensor ReplicationPad2dImpl::forward(const Tensor& input) {
  return functional::pad(input, options.padding(), PadMode::replicate);
}
void ReplicationPad2dImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({})", name(), tuple(options.padding()));
}

void ReplicationPad3dImpl::reset() {}
Tensor ReplicationPad3dImpl::forward(const Tensor& input) {
  return functional::pad(input, options.padding(), PadMode::replicate);
}
void ReplicationPad3dImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({})", name(), tuple(options.padding()));
}

void ZeroPad2dImpl::reset() {}
Tensor ZeroPad2dImpl::forward(const Tensor& input) {
  return functional::pad(input, options.padding(), PadMode::constant);
}
void ZeroPad2dImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({})", name(), tuple(options.padding()));
}

void PixelShuffleImpl::reset() {}
Tensor PixelShuffleImpl::forward(const Tensor& input) {
  return functional::pixel_shuffle(input, options.upscale_factor());
}
void PixelShuffleImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(upscale_factor={})", name(), options.upscale_factor());
}

void PixelUnshuffleImpl::reset() {}
Tensor PixelUnshuffleImpl::forward(const Tensor& input) {
  return functional::pixel_unshuffle(input, options.downscale_factor());
}
void PixelUnshuffleImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(downscale_factor={})", name(), options.downscale_factor());
}

}  // namespace ambit::nn
