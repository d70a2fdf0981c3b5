#include "image.h"

#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace ambit::tensorboard {
namespace {

// Truncate, as torch.utils.tensorboard does. The comparison maps NaN to 0.
uint8_t to_byte(float v) { return v > 0 ? static_cast<uint8_t>(std::min(v * 255, 255.0F)) : 0; }
uint8_t to_byte(uint8_t v) { return v; }

void check(const Tensor& image) {
  if (image.dtype() != kUInt8 && !image.is_floating_point()) {
    throw DTypeError(
        fmt::format("add_image: expected uint8 or a float dtype, got {}", name(image.dtype())));
  }
  const bool is_chw = image.dim() == 3 && image.numel() > 0;
  const int64_t channels = is_chw ? image.size(0) : 0;
  if (channels != 1 && channels != 3 && channels != 4) {
    throw ShapeError(
        fmt::format("add_image: expected [C,H,W] with 1, 3 or 4 channels and at least one pixel, "
                    "got {}",
                    str(image.sizes())));
  }
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (image.size(1) > kMost || image.size(2) > kMost) {
    throw ShapeError(fmt::format("add_image: expected sides of at most {} pixels, got {}", kMost,
                                 str(image.sizes())));
  }
}

// chw [C,H,W] -> [H,W,C]
template <class T>
std::vector<uint8_t> interleave(const Tensor& chw) {
  const Tensor hwc = chw.permute({1, 2, 0}).contiguous();
  const T* values = hwc.data_ptr<T>();
  std::vector<uint8_t> pixels(static_cast<size_t>(hwc.numel()));
  std::transform(values, values + hwc.numel(), pixels.begin(), [](T v) { return to_byte(v); });
  return pixels;
}

}  // namespace

Image make_image(const Tensor& image) {
  check(image);
  const Tensor chw = image.detach().cpu();
  return {static_cast<int32_t>(image.size(1)), static_cast<int32_t>(image.size(2)),
          static_cast<int32_t>(image.size(0)),
          chw.dtype() == kUInt8 ? interleave<uint8_t>(chw) : interleave<float>(chw.to(kFloat32))};
}

}  // namespace ambit::tensorboard
