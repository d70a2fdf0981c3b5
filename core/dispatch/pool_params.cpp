// The shape arithmetic of pooling.
#include <ambit/error.h>
#include <ambit/params.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace ambit {
namespace {

// Sizes and parameters must be below 2^31, so that no sum of their products exceeds an int64; the
// kernels' libraries use 32-bit numbers anyway.
constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max();

const char* axis_name(size_t axis, size_t dims) {
  constexpr const char* kNames[] = {"depth", "height", "width"};
  return dims == 1 ? "length" : kNames[3 - dims + axis];
}

void check_range(const char* op, const char* what, const PerAxis& got, int64_t min, size_t dims) {
  if (!got.fits(dims)) {
    throw ShapeError(
        fmt::format("{}: expected {} of one number or {}, got {}", op, what, dims, str(got)));
  }
  for (const int64_t v : IntArrayRef(got)) {
    if (v < min || v > kMaxSize) {
      throw ShapeError(
          fmt::format("{}: expected {} from {} to {}, got {}", op, what, min, kMaxSize, str(got)));
    }
  }
}

void check_input(const char* op, IntArrayRef sizes) {
  if (sizes.size() < 3 || sizes.size() > 5) {
    throw ShapeError(
        fmt::format("{}: expected input of shape [N, C, L], [N, C, H, W] or "
                    "[N, C, D, H, W], got {}",
                    op, str(sizes)));
  }
  for (const int64_t size : sizes) {
    if (size > kMaxSize) {
      throw ShapeError(
          fmt::format("{}: expected input with sizes up to {}, got {}", op, kMaxSize, str(sizes)));
    }
  }
}

// Return the number of windows along one axis; the last one must start inside the input or its left
// padding.
int64_t window_count(const PoolParams& p, size_t axis, int64_t size) {
  const int64_t stride = p.stride[axis];
  const int64_t room = size + 2 * p.padding[axis] - p.dilation[axis] * (p.kernel[axis] - 1) - 1;
  if (room < 0 && !(p.ceil_mode && room > -stride)) return 0;
  int64_t n = (room + (p.ceil_mode ? stride - 1 : 0)) / stride + 1;
  if (p.ceil_mode && (n - 1) * stride >= size + p.padding[axis]) --n;
  return n;
}

// Return whether each window has an element of the input. A dilation may step over the whole input,
// from the padding before it to the padding after it.
bool all_reach(const PoolParams& p, size_t axis, int64_t size, int64_t windows) {
  const int64_t dilation = p.dilation[axis];
  if (dilation <= size) return true;
  for (int64_t i = 0; i < windows && i * p.stride[axis] < p.padding[axis]; ++i) {
    const int64_t before = p.padding[axis] - i * p.stride[axis];  // padding elements
    const int64_t first = (dilation - before % dilation) % dilation;
    if (first >= size) return false;
  }
  return true;
}

// Check and return the number of windows along one axis.
int64_t windows_along(const char* op, const PoolParams& p, size_t axis, int64_t size,
                      const char* name) {
  if (p.padding[axis] > p.kernel[axis] / 2) {
    throw ShapeError(fmt::format("{}: expected padding of at most half the kernel ({}), got {}", op,
                                 p.kernel[axis] / 2, p.padding[axis]));
  }
  if (size < 1) {
    throw ShapeError(fmt::format("{}: expected input {} of at least 1, got {}", op, name, size));
  }
  const int64_t n = window_count(p, axis, size);
  if (n < 1) {
    throw ShapeError(fmt::format("{}: expected padded input {} of at least {} (kernel {}), got {}",
                                 op, name, p.dilation[axis] * (p.kernel[axis] - 1) + 1,
                                 p.kernel[axis], size + 2 * p.padding[axis]));
  }
  if (!all_reach(p, axis, size, n)) {
    throw ShapeError(
        fmt::format("{}: expected windows that reach the input, got {} {} with dilation {} and "
                    "padding {}",
                    op, name, size, p.dilation[axis], p.padding[axis]));
  }
  return n;
}

}  // namespace

Dims PoolParams::out_sizes(const char* op, IntArrayRef input) const {
  check_input(op, input);
  const size_t dims = input.size() - 2;
  check_range(op, "kernel", kernel, 1, dims);
  check_range(op, "stride", stride, 1, dims);
  check_range(op, "padding", padding, 0, dims);
  check_range(op, "dilation", dilation, 1, dims);
  Dims out(input);
  for (size_t i = 0; i < dims; ++i) {
    out[2 + i] = windows_along(op, *this, i, input[2 + i], axis_name(i, dims));
  }
  return out;
}

}  // namespace ambit
