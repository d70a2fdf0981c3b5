// libpng's simplified interface, which reports errors without longjmp.
#include "png_bytes.h"

#include <ambit/error.h>
#include <png.h>

namespace ambit::tensorboard {
namespace {

png_uint_32 png_format(int32_t channels) {
  if (channels == 1) return PNG_FORMAT_GRAY;
  return channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
}

}  // namespace

std::string png_bytes(const Image& image) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = png_format(image.channels);
  // An upper bound: determining the exact size would compress the image one more time.
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string bytes(size, '\0');
  if (!png_image_write_to_memory(&png, bytes.data(), &size, /*convert_to_8bit=*/0,
                                 image.pixels.data(), /*row_stride=*/0, /*colormap=*/nullptr)) {
    throw Error(std::string("add_image: expected an image that PNG can hold, got: ") + png.message);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace ambit::tensorboard
