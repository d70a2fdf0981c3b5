// Uses libpng's simplified interface.
#include "zoo/shared/pictures.h"

#include <ambit/error.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>
#include <png.h>

namespace zoo {
namespace {

using namespace ambit;

// Frees libpng's state between the two calls of a read.
struct Image : png_image {
  Image() : png_image{} { version = PNG_IMAGE_VERSION; }
  ~Image() { png_image_free(this); }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  void check(int succeeded, const char* what, const std::string& path) const {
    if (!succeeded) throw Error(fmt::format("cannot {} '{}': {}", what, path, message));
  }
};

}  // namespace

Tensor grid(const Tensor& pictures, int64_t columns) {
  const int64_t n = pictures.size(0), c = pictures.size(1);
  const int64_t h = pictures.size(2) + 1, w = pictures.size(3) + 1,
                rows = (n + columns - 1) / columns;
  const Tensor all = zeros({c, rows * h + 1, columns * w + 1}, pictures.dtype());
  for (int64_t i = 0; i < n; ++i) {
    const int64_t y = i / columns * h + 1, x = i % columns * w + 1;
    all.narrow(1, y, h - 1).narrow(2, x, w - 1).copy_(pictures[i]);
  }
  return all;
}

void write_png(const std::string& path, const Tensor& picture) {
  if (picture.dim() != 3 || (picture.size(0) != 1 && picture.size(0) != 3)) {
    throw ShapeError(fmt::format("write_png: expected [1,H,W] or [3,H,W], got {} dims, {} channels",
                                 picture.dim(), picture.dim() > 0 ? picture.size(0) : 0));
  }
  const Tensor bytes =
      (picture.detach().cpu().clamp(0, 1) * 255).round().to(kUInt8).permute({1, 2, 0}).contiguous();
  Image image;
  image.width = static_cast<png_uint_32>(bytes.size(1));
  image.height = static_cast<png_uint_32>(bytes.size(0));
  image.format = bytes.size(2) == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  image.check(png_image_write_to_file(&image, path.c_str(), /*convert_to_8_bit=*/0,
                                      bytes.data_ptr<uint8_t>(), /*row_stride=*/0, nullptr),
              "write", path);
}

Tensor read_png(const std::string& path) {
  Image image;
  image.check(png_image_begin_read_from_file(&image, path.c_str()), "read", path);
  image.format = PNG_FORMAT_RGB;
  const Tensor bytes = empty({image.height, image.width, 3}, kUInt8);
  const png_color black{};  // background of transparent pixels
  image.check(
      png_image_finish_read(&image, &black, bytes.data_ptr<uint8_t>(), /*row_stride=*/0, nullptr),
      "read", path);
  return bytes.permute({2, 0, 1}).to(kFloat32).contiguous() / 255;
}

}  // namespace zoo
