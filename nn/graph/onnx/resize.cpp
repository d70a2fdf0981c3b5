// Source: ONNX's specification of Resize and its reference implementation's definitions of
// coordinates and filters.
#include "resize.h"

#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ambit::graph::onnx {
namespace {

// The coordinate in the input of element `o` of the result; see coordinate().
double coordinate_of(int64_t o, int64_t in, const ResizedDim& d, std::string_view how) {
  const auto at = static_cast<double>(o), length = static_cast<double>(in);
  const double exact = d.scale * length;  // the size of the result before it was rounded
  const auto size = static_cast<double>(d.size);
  if (how == "asymmetric") return at / d.scale;
  if (how == "align_corners") return exact == 1 ? 0 : at * (length - 1) / (exact - 1);
  if (how == "pytorch_half_pixel") return exact == 1 ? -0.5 : (at + 0.5) / d.scale - 0.5;
  if (how == "half_pixel") return (at + 0.5) / d.scale - 0.5;
  if (how == "half_pixel_symmetric") {
    const double center = length / 2, offset = center * (1 - size / exact);
    return offset + (at + 0.5) / d.scale - 0.5;
  }
  if (how == "tf_crop_and_resize") {
    if (exact == 1) return (d.end - d.begin) * (length - 1) / 2;
    return d.begin * (length - 1) + at * (d.end - d.begin) * (length - 1) / (exact - 1);
  }
  throw Error(fmt::format("expected a coordinate_transformation_mode, got '{}'", how));
}

// A number beyond 2^52, which a damaged file may contain, becomes 2^52 or -2^52, so that its
// conversion to an integer is defined; NaN becomes -2^52.
double coordinate(int64_t o, int64_t in, const ResizedDim& d, std::string_view how) {
  return std::fmin(std::fmax(coordinate_of(o, in, d, how), -0x1p52), 0x1p52);
}

int64_t nearest(double x, std::string_view rounding) {
  if (rounding == "floor") return static_cast<int64_t>(std::floor(x));
  if (rounding == "ceil") return static_cast<int64_t>(std::ceil(x));
  const double part = x - std::floor(x);
  const bool is_tie = part == 0.5;
  if (is_tie) {
    return static_cast<int64_t>(rounding == "round_prefer_ceil" ? std::ceil(x) : std::floor(x));
  }
  return static_cast<int64_t>(std::floor(x + 0.5));
}

// The weight of an element at distance t.
double filter(double t, std::string_view mode, double a) {
  t = std::abs(t);
  if (mode == "linear") return std::max(0.0, 1 - t);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

// Taps of all elements of the result: [taps][size].
struct Taps {
  std::vector<std::vector<int64_t>> index;
  std::vector<std::vector<double>> weight;
};

Taps taps_of(int64_t in, const ResizedDim& d, const ResizeMode& m) {
  const double scale = m.antialias ? std::min(d.scale, 1.0) : 1.0;
  const double radius = (m.mode == "linear" ? 1 : 2) / scale;
  const auto count = static_cast<size_t>(std::ceil(2 * radius)) + 1;
  Taps taps{std::vector(count, std::vector<int64_t>(static_cast<size_t>(d.size))),
            std::vector(count, std::vector<double>(static_cast<size_t>(d.size)))};
  for (int64_t o = 0; o < d.size; ++o) {
    const double x = coordinate(o, in, d, m.coordinates);
    const auto first = static_cast<int64_t>(std::ceil(x - radius));
    double total = 0;
    for (size_t k = 0; k < count; ++k) {
      const int64_t i = first + static_cast<int64_t>(k);
      const bool is_outside = i < 0 || i >= in;
      const double distance = static_cast<double>(i) - x;
      double w = std::abs(distance) > radius ? 0 : filter(distance * scale, m.mode, m.cubic_a);
      if (is_outside && m.excludes_outside) w = 0;
      taps.index[k][static_cast<size_t>(o)] = std::clamp(i, int64_t{0}, in - 1);
      taps.weight[k][static_cast<size_t>(o)] = w;
      total += w;
    }
    const bool normalizes = (m.antialias || m.excludes_outside) && total != 0;
    for (size_t k = 0; k < count && normalizes; ++k)
      taps.weight[k][static_cast<size_t>(o)] /= total;
  }
  return taps;
}

Dims along(int64_t rank, const ResizedDim& d) {
  Dims sizes(static_cast<size_t>(rank), 1);
  sizes[static_cast<size_t>(d.dim)] = d.size;
  return sizes;
}

}  // namespace

Tensor resized(const Tensor& x, const ResizedDim& d, const ResizeMode& mode) {
  const int64_t in = x.size(d.dim);
  if (in < 1 || d.size < 1) throw ShapeError("expected elements to resize, got an empty dim");
  Tensor out;
  if (mode.mode == "nearest") {
    std::vector<int64_t> index;
    for (int64_t o = 0; o < d.size; ++o) {
      const double at = coordinate(o, in, d, mode.coordinates);
      index.push_back(std::clamp(nearest(at, mode.rounding), int64_t{0}, in - 1));
    }
    out = index_select(x, d.dim, tensor(index).to(x.device()));
  } else {
    if (mode.mode != "linear" && mode.mode != "cubic") {
      throw Error(fmt::format("expected the mode nearest, linear or cubic, got '{}'", mode.mode));
    }
    const Taps taps = taps_of(in, d, mode);
    for (size_t k = 0; k < taps.index.size(); ++k) {
      const std::vector<double>& w = taps.weight[k];
      if (std::all_of(w.begin(), w.end(), [](double v) { return v == 0; })) continue;
      const Tensor part = index_select(x, d.dim, tensor(taps.index[k]).to(x.device())) *
                          tensor(w).to(x.device(), x.dtype()).reshape(along(x.dim(), d));
      out = out.defined() ? out + part : part;
    }
    if (!out.defined()) throw Error("expected an element with a weight, got none");
  }
  if (mode.coordinates != "tf_crop_and_resize") return out;
  std::vector<int64_t> is_outside;
  for (int64_t o = 0; o < d.size; ++o) {
    const double at = coordinate(o, in, d, mode.coordinates);
    is_outside.push_back(at < 0 || at > static_cast<double>(in - 1));
  }
  const Tensor mask = tensor(is_outside).to(x.device(), kBool).reshape(along(x.dim(), d));
  return masked_fill(out, mask, mode.outside);
}

}  // namespace ambit::graph::onnx
