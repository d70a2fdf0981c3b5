// Functions that copy the windows of an image to columns, and that sum columns to an image. Each is
// the gradient of the other.
#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/images.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {
namespace {

/// P x Q windows of size R x S over an image [N,C,H,W].
struct WindowGrid {
  WindowGrid(const char* op, Pair image_size, Pair kernel_size, Pair dilated, Pair padded,
             Pair step)
      : image(image_size), kernel(kernel_size), dilation(dilated), padding(padded), stride(step) {
    for (const size_t k : {0, 1}) {
      if (std::min({image[k], kernel[k], dilation[k], stride[k]}) < 1 || padding[k] < 0) {
        throw Error(fmt::format(
            "{}: expected sizes, dilation and stride of at least 1 and padding of at least 0, got "
            "image size {}, kernel size {}, dilation {}, padding {}, stride {}",
            op, image[k], kernel[k], dilation[k], padding[k], stride[k]));
      }
      const int64_t most = INT32_MAX;  // limits all numbers below, so that no product overflows
      if (std::max({image[k], kernel[k], dilation[k], stride[k], padding[k]}) > most) {
        throw Error(fmt::format("{}: expected sizes up to {}, got more", op, most));
      }
      const int64_t room = image[k] + 2 * padding[k] - dilation[k] * (kernel[k] - 1) - 1;
      if (room < 0) {
        throw ShapeError(
            fmt::format("{}: expected windows no larger than the padded image, got kernel size {}, "
                        "image size {}, dilation {}, padding {}",
                        op, kernel[k], image[k], dilation[k], padding[k]));
      }
      count[k] = room / stride[k] + 1;
    }
  }
  int64_t window_size() const { return kernel.h * kernel.w; }

  Pair image, kernel, dilation, padding, stride, count{0, 0};
};

/// The windows along one dim whose element `r` is in the image, not in the padding: windows first
/// to first + count, with elements starting at `at`.
struct InImage {
  InImage(const WindowGrid& g, size_t k, int64_t r) {
    const int64_t start = r * g.dilation[k] - g.padding[k], step = g.stride[k];  // of window 0
    first = start >= 0 ? 0 : (-start + step - 1) / step;
    const int64_t end = start >= g.image[k] ? 0 : (g.image[k] - 1 - start) / step + 1;
    count = std::max<int64_t>(std::min(end, g.count[k]) - first, 0);
    at = start + first * step;
  }
  int64_t first, count, at;
};

Tensor padded(const char* op, const Tensor& x, const WindowGrid& g) {
  if (g.padding == Pair{0, 0}) return dense(x);
  Tensor out =
      allocate(op, {x.size(0), x.size(1), g.image.h + 2 * g.padding.h, g.image.w + 2 * g.padding.w},
               x.dtype(), x.device());
  kernels::fill(out, 0);
  const IntArrayRef s = out.strides();
  Tensor inside = alias(out, x.sizes(), s, g.padding.h * s[2] + g.padding.w);
  kernels::copy(inside, x);
  return out;
}

Tensor columns_of(const char* op, const Tensor& x, const WindowGrid& g);

// y [N, C R S, P Q] -> [N,C,H,W]
Tensor image_of(const char* op, const Tensor& y, const WindowGrid& g) {
  const int64_t n = y.size(0), c = y.size(1) / g.window_size();
  const Dims sizes{n, c, g.image.h, g.image.w};
  Tensor x = allocate(op, sizes, y.dtype(), y.device());
  kernels::fill(x, 0);
  if (y.numel() > 0) {
    const Tensor columns = dense(y);
    const int64_t w = g.image.w, q = g.count.w, windows = g.count.h * q;
    for (int64_t r = 0; r < g.kernel.h; ++r) {
      for (int64_t s = 0; s < g.kernel.w; ++s) {
        const InImage rows(g, 0, r), cols(g, 1, s);
        if (rows.count == 0 || cols.count == 0) continue;
        const Dims part{n * c, rows.count, cols.count};
        Tensor to =
            alias(x, part, {g.image.h * w, g.stride.h * w, g.stride.w}, rows.at * w + cols.at);
        const Tensor from = alias(columns, part, {g.window_size() * windows, q, 1},
                                  columns.storage_offset() + (r * g.kernel.w + s) * windows +
                                      rows.first * q + cols.first);
        kernels::ternary(to, to, from, {}, 1, TernaryOp::add_scaled);
      }
    }
  }
  return record(op, std::move(x),
                wrt(y, [op, g](const Tensor& dx) { return columns_of(op, dx, g); }));
}

// x [N,C,H,W] -> [N, C R S, P Q]
Tensor columns_of(const char* op, const Tensor& x, const WindowGrid& g) {
  const int64_t n = x.size(0), c = x.size(1), w = g.image.w + 2 * g.padding.w;
  const auto [p, q] = g.count;
  Tensor y = allocate(op, {n, c * g.window_size(), p * q}, x.dtype(), x.device());
  if (y.numel() > 0) {
    const Tensor from = padded(op, x, g);
    const int64_t plane = w * (g.image.h + 2 * g.padding.h);
    const Dims sizes{n * c, g.kernel.h, g.kernel.w, p, q};
    Tensor to = alias(y, sizes);
    kernels::copy(to, alias(from, sizes,
                            {plane, g.dilation.h * w, g.dilation.w, g.stride.h * w, g.stride.w}));
  }
  return record(op, std::move(y),
                wrt(x, [op, g](const Tensor& dy) { return image_of(op, dy, g); }));
}

}  // namespace

Tensor im2col(const Tensor& self, IntOrPair kernel_size, IntOrPair dilation, IntOrPair padding,
              IntOrPair stride) {
  constexpr const char* kOp = "im2col";
  expect_defined(kOp, "self", self);
  expect_inexact(kOp, self);
  if (self.dim() == 3) {
    return squeeze(im2col(unsqueeze(self, 0), kernel_size, dilation, padding, stride), 0);
  }
  if (self.dim() != 4) {
    throw ShapeError(fmt::format("im2col: expected an image [N,C,H,W] or [C,H,W], got shape {}",
                                 str(self.sizes())));
  }
  return columns_of(
      kOp, self,
      WindowGrid(kOp, {self.size(2), self.size(3)}, kernel_size, dilation, padding, stride));
}

Tensor col2im(const Tensor& self, IntOrPair output_size, IntOrPair kernel_size, IntOrPair dilation,
              IntOrPair padding, IntOrPair stride) {
  constexpr const char* kOp = "col2im";
  expect_defined(kOp, "self", self);
  expect_inexact(kOp, self);
  if (self.dim() == 2) {
    const Tensor one = unsqueeze(self, 0);
    return squeeze(col2im(one, output_size, kernel_size, dilation, padding, stride), 0);
  }
  const WindowGrid g(kOp, output_size, kernel_size, dilation, padding, stride);
  const int64_t windows = g.count.h * g.count.w;
  const bool fits = self.dim() == 3 && self.size(1) % g.window_size() == 0 && self.size(1) > 0 &&
                    self.size(2) == windows;
  if (!fits) {
    throw ShapeError(fmt::format(
        "col2im: expected columns [N, C {}, {}] of windows {} x {}, {} x {} of them, or both "
        "without N, got shape {}",
        g.window_size(), windows, g.kernel.h, g.kernel.w, g.count.h, g.count.w, str(self.sizes())));
  }
  return image_of(kOp, self, g);
}

}  // namespace ambit
