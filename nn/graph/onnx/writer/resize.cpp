// Forms: images of other sizes, and sampling of images.
#include <ambit/backend/interpolation.h>
#include <ambit/ops/creation.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "forms.h"

namespace ambit::graph::onnx {
namespace {

bool are_fixed(const Dims& sizes) {
  for (const int64_t size : sizes) {
    if (size < 0) return false;
  }
  return true;
}

// Gather the elements that PyTorch's nearest mode selects, which depend on float32's rounding where
// a factor is a fraction.
void nearest_by_index(Site& s, const std::vector<double>& factors) {
  Ref x = s.tensor(0);
  const Dims in = s.sizes(0), out = s.result_sizes();
  InterpolateParams p;
  p.mode = InterpolateParams::Mode::nearest;
  for (size_t d = 0; d < factors.size(); ++d) {
    p.scale[d] = factors[d];
    const interpolation::Axis axis(p, d, in[d + 2], out[d + 2], x.dtype == kFloat64);
    Dims index;
    for (int64_t i = 0; i < out[d + 2]; ++i) index.push_back(axis.first(i));
    const auto dim = static_cast<int64_t>(d) + 2;
    x = s.e.op("Gather", {x, s.e.integers(index)}, {attribute("axis", dim)});
  }
  s.give(x);
}

bool has_fraction(const std::vector<double>& factors) {
  return std::any_of(factors.begin(), factors.end(), [](double f) { return f != std::floor(f); });
}

// `size`: the argument with the spatial sizes, or None if `factors` are given. PyTorch's nearest
// mode is "floor" with "asymmetric" coordinates, which are not ONNX's defaults. Its linear mode is
// "half_pixel", for outputs of one pixel too; "pytorch_half_pixel" differs for those.
void resize(Site& s, std::string_view mode, size_t size, std::vector<double> factors,
            bool align_corners) {
  Emitter& e = s.e;
  const Ref x = s.tensor(0);
  Ref scales, sizes;
  const Dims in = s.sizes(0), out = s.result_sizes();
  if (mode == "nearest" && has_fraction(factors) && are_fixed(in) && are_fixed(out)) {
    return nearest_by_index(s, factors);
  }
  for (size_t d = 0; d < factors.size(); ++d) {
    if (in[d + 2] >= 0 && in[d + 2] == out[d + 2]) factors[d] = 1;
  }
  // With aligned corners the positions depend only on the sizes, even if a factor gives a fraction.
  if (align_corners && are_fixed(out)) factors.clear();
  if (!factors.empty()) {
    std::vector<double> all{1, 1};
    all.insert(all.end(), factors.begin(), factors.end());
    scales = e.constant(ambit::tensor(all, TensorOptions(kFloat32)));
  } else if (are_fixed(out)) {
    sizes = e.integers(out);
  } else {
    sizes = e.concat({e.sizes(x, 0, 2), s.shape(size)}, 0);
  }
  const bool is_nearest = mode == "nearest";
  Attributes attributes{attribute("mode", mode.data())};
  if (is_nearest) attributes.push_back(attribute("nearest_mode", "floor"));
  if (mode == "cubic") attributes.push_back(attribute("cubic_coeff_a", -0.75));
  attributes.push_back(attribute("coordinate_transformation_mode", is_nearest      ? "asymmetric"
                                                                   : align_corners ? "align_corners"
                                                                                   : "half_pixel"));
  s.give(e.op("Resize", {x, Ref(), scales, sizes}, attributes));
}

void nearest(Site& s) { resize(s, "nearest", 1, s.reals(2), false); }

void linear(Site& s) { resize(s, "linear", 1, s.reals(3), s.flag(2)); }
void cubic(Site& s) { resize(s, "cubic", 1, s.reals(3), s.flag(2)); }

// The overloads with one factor for each dim; either all factors are given or none.
std::vector<double> factors_at(Site& s, size_t i) {
  if (!s.has(i) || !s.has(i + 1)) return {};
  return {s.real(i), s.real(i + 1)};
}

void grid_sample(Site& s) {
  if (s.rank(0) != 4) Site::refuse("images other than [N, C, H, W]");
  constexpr const char* kModes[] = {"bilinear", "nearest", "bicubic"};
  constexpr const char* kPaddings[] = {"zeros", "border", "reflection"};
  s.give(s.e.op(
      "GridSample", {s.tensor(0), s.tensor(1)},
      {attribute("mode", kModes[s.integer(2)]), attribute("padding_mode", kPaddings[s.integer(3)]),
       attribute("align_corners", int{s.flag(4)})}));
}

// The positions of pixels times the matrices [N, 2, 3].
void affine_grid(Site& s) {
  const Dims size = s.integers(1);
  if (size.size() != 4) Site::refuse("images other than [N, C, H, W]");
  const bool align = s.flag(2);
  const auto positions = [&](int64_t n) {
    std::vector<double> out;
    for (int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<double>(2 * i), all = static_cast<double>(n);
      out.push_back(!align ? (at + 1) / all - 1 : n == 1 ? 0 : at / (all - 1) - 1);
    }
    return out;
  };
  const std::vector<double> rows = positions(size[2]), columns = positions(size[3]);
  std::vector<double> base;
  for (const double y : rows) {
    for (const double x : columns) base.insert(base.end(), {x, y, 1});
  }
  Emitter& e = s.e;
  const Ref theta = s.tensor(0);
  const Ref points = e.constant(
      ambit::tensor(base, TensorOptions(theta.dtype)).reshape({1, size[2] * size[3], 3}));
  const Ref grid = e.op("MatMul", {points, e.transpose(theta, {0, 2, 1})});
  s.give(e.reshape(grid, {size[0], size[2], size[3], 2}));
}

constexpr Form kRows[] = {
    // clang-format off
    {"upsample_nearest1d.vec", nearest},
    {"upsample_nearest2d.vec", nearest},
    {"upsample_nearest3d.vec", nearest},
    {"upsample_linear1d.vec", linear},
    {"upsample_bilinear2d.vec", linear},
    {"upsample_trilinear3d.vec", linear},
    {"upsample_bicubic2d.vec", cubic},
    {"upsample_nearest2d.default", [](Site& s) {
       resize(s, "nearest", 1, factors_at(s, 2), false); }},
    {"upsample_bilinear2d.default", [](Site& s) {
       resize(s, "linear", 1, factors_at(s, 3), s.flag(2)); }},
    {"grid_sampler.default", grid_sample},
    {"grid_sampler_2d.default", grid_sample},
    {"affine_grid_generator.default", affine_grid},
    // clang-format on
};

}  // namespace

constinit const std::span<const Form> kResizeForms = kRows;

}  // namespace ambit::graph::onnx
