// Operators: images.
#include <ambit/error.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/images.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "operators.h"
#include "resize.h"

namespace ambit::graph::onnx {
namespace {

// Return floor(size). Errors: Error for NaN, negative and huge numbers.
int64_t whole_size(double size) {
  if (!(size >= 0 && size < 1e15)) throw Error(fmt::format("expected a size, got {}", size));
  return static_cast<int64_t>(std::floor(size));
}

// Sizes and scales of the axes, from `scales` or `sizes`.
std::vector<ResizedDim> dims_of(const Call& c, const Tensor& x) {
  Dims dims;
  if (c.has(5)) {
    dims = axes(c.integers(5), x.dim());
  } else {
    for (int64_t i = 0; i < x.dim(); ++i) dims.push_back(i);
  }
  const std::vector<double> scales = host_reals(c, 2), region = host_reals(c, 1);
  const Dims sizes = host_integers(c, 3);
  const size_t n = dims.size();
  if ((sizes.empty() ? scales.size() : sizes.size()) != n) {
    throw Error(fmt::format("expected a scale or a size for each of {} axes, got {} and {}", n,
                            scales.size(), sizes.size()));
  }
  const std::string_view policy = c.text(10);
  double common = policy == "not_larger" ? INFINITY : 0;  // scale of all axes, to keep their ratio
  std::vector<ResizedDim> out;
  for (size_t i = 0; i < n; ++i) {
    ResizedDim d{dims[i]};
    const auto length = static_cast<double>(x.size(d.dim));
    if (sizes.empty()) {
      d.scale = scales[i];
      if (!(d.scale > 0) || !(length * d.scale < 1e15)) throw Error("expected positive scales");
      d.size = whole_size(length * d.scale);
    } else {
      d.size = sizes[i];
      d.scale = static_cast<double>(d.size) / length;
      common = policy == "not_larger" ? std::min(common, d.scale) : std::max(common, d.scale);
    }
    if (region.size() == 2 * n) {
      d.begin = region[i];
      d.end = region[n + i];
    }
    out.push_back(d);
  }
  for (ResizedDim& d : out) {
    if (sizes.empty() || policy == "stretch") break;
    d.scale = common;
    d.size = whole_size(common * static_cast<double>(x.size(d.dim)) + 0.5);
  }
  return out;
}

Tensor resize(const Call& c) {
  Tensor x = c.tensor(0);
  ResizeMode mode{c.text(11), c.text(6), c.text(12)};
  mode.cubic_a = c.real(7);
  mode.outside = c.real(9);
  mode.antialias = c.flag(4);
  mode.excludes_outside = c.flag(8);
  const DType dtype = x.dtype();
  const bool is_exact = mode.mode == "nearest" || is_floating_point(dtype);
  if (!is_exact) x = x.to(kFloat32);
  for (const ResizedDim& d : dims_of(c, x)) {
    const bool is_whole = d.size == x.size(d.dim) && d.scale == 1;
    if (is_whole && mode.coordinates != "tf_crop_and_resize") continue;
    x = resized(x, d, mode);
  }
  return is_exact ? x : x.to(dtype);
}

Tensor upsampled(const Call& c) {
  Tensor x = c.tensor(0);
  const std::vector<double> scales = host_reals(c, 1);
  if (std::cmp_not_equal(scales.size(), x.dim())) throw Error("expected a scale for each dim");
  for (int64_t i = 0; i < x.dim(); ++i) {
    const double scale = scales[static_cast<size_t>(i)];
    if (scale == 1) continue;
    const int64_t size = whole_size(static_cast<double>(x.size(i)) * scale);
    x = resized(x, {i, size, scale}, {c.text(2), "asymmetric", "floor"});
  }
  return x;
}

Tensor sampled(const Call& c) {
  const std::string_view mode = c.text(3), padding = c.text(4);
  const int64_t how = mode == "nearest" ? 1 : mode == "cubic" || mode == "bicubic" ? 2 : 0;
  const int64_t outside = padding == "border" ? 1 : padding == "reflection" ? 2 : 0;
  const Tensor& grid = c.tensor(1);
  return grid_sampler(c.tensor(0), grid.to(c.tensor(0).dtype()), how, outside, c.flag(2));
}

constexpr Operator kRows[] = {
    // clang-format off
    {{"Resize", "X roi=None scales=None sizes=None antialias=0 axes=None "
      "coordinate_transformation_mode=half_pixel cubic_coeff_a=-0.75 exclude_outside=0 "
      "extrapolation_value=0.0 keep_aspect_ratio_policy=stretch mode=nearest "
      "nearest_mode=round_prefer_floor", one([](Call& c) { return resize(c); })}, 4, 0b1110},
    {{"Upsample", "X scales mode=nearest", one([](Call& c) { return upsampled(c); })}, 2, 0b10},
    {{"GridSample", "X grid align_corners=0 mode=linear padding_mode=zeros", one([](Call& c) {
       return sampled(c); })}, 2},
    {{"AffineGrid", "theta size align_corners=0", one([](Call& c) {
       return affine_grid_generator(c.tensor(0), host_integers(c, 1), c.flag(2)); })}, 2, 0b10},
    // clang-format on
};

}  // namespace

constinit const std::span<const Operator> kImageOperators = kRows;

}  // namespace ambit::graph::onnx
