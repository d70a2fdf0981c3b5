// Grid sampling composed of lookups: each dim has a few taps with weights that depend on the
// position; every combination of taps is one index_select.
#include <ambit/backend/op.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/by_float32.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/images.h>
#include <ambit/ops/index.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit {
namespace {

enum Mode : int64_t { kBilinearMode, kNearestMode, kBicubicMode };
enum Padding : int64_t { kZeroPadding, kBorderPadding, kReflectionPadding };

struct Sampling {
  int64_t mode, padding;
  bool align_corners;
};

// Convert coordinates from [-1, 1] to elements of a dim.
Tensor in_elements(const Tensor& at, int64_t size, bool align_corners) {
  const auto n = static_cast<double>(size);
  return align_corners ? (at + 1) * ((n - 1) / 2) : (at + 1) * (n / 2) - 0.5;
}

// Clamp positions to the border, where the gradient is 0, and NaN to 0.
Tensor clipped(const Tensor& at, int64_t size) {
  const auto last = static_cast<double>(size - 1);
  return where(at > 0, where(at < last, at, last), 0);
}

// Reflect at `low` and low + span, repeatedly.
Tensor mirrored(const Tensor& at, double low, double span) {
  if (span == 0) return at * 0;
  const Tensor distance = abs(at - low);
  const Tensor beyond = fmod(distance, span);  // distance from the last mirror
  const Tensor is_turned = remainder(floor(distance.detach() / span), 2) != 0;
  return where(is_turned, span - beyond, beyond) + low;
}

Tensor brought_inside(const Tensor& at, int64_t size, const Sampling& s) {
  if (s.padding == kZeroPadding) return at;
  if (s.padding == kBorderPadding) return clipped(at, size);
  const auto n = static_cast<double>(size);
  return clipped(s.align_corners ? mirrored(at, 0, n - 1) : mirrored(at, -0.5, n), size);
}

/// The taps along one dim for all positions [N,M].
struct AxisTaps {
  std::vector<Tensor> index;   // int64 [N,M] each
  std::vector<Tensor> weight;  // [N,M] each; empty: 1
};

// Weights of Keys' cubic convolution with a = -0.75, at distances t + 1, t, 1 - t and 2 - t.
std::vector<Tensor> cubic_weights(const Tensor& t) {
  constexpr double a = -0.75;
  const auto near = [](const Tensor& x) { return (x * (a + 2) - (a + 3)) * x * x + 1; };
  const auto far = [](const Tensor& x) { return ((x * a - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

AxisTaps taps_of(const Tensor& place, int64_t size, const Sampling& s) {
  AxisTaps taps;
  const Tensor all = in_elements(place, size, s.align_corners);
  if (s.mode == kBicubicMode) {
    const Tensor low = floor(all.detach());
    taps.weight = cubic_weights(all - low);
    for (int64_t k = -1; k < 3; ++k) {
      taps.index.push_back(brought_inside(low + k, size, s).to(kInt64));
    }
    return taps;
  }
  const Tensor at = brought_inside(all, size, s);
  if (s.mode == kNearestMode) {
    taps.index = {round(at.detach()).to(kInt64)};
    return taps;
  }
  const Tensor low = floor(at.detach());
  const Tensor first = low.to(kInt64);
  taps.index = {first, first + 1};
  taps.weight = {(low + 1) - at, at - low};
  return taps;
}

// Return the position in a plane that the chosen taps of all dims give; `outside` if any tap is
// outside of the plane.
Tensor position(const std::vector<AxisTaps>& axes, const std::vector<size_t>& chosen,
                IntArrayRef plane, int64_t outside) {
  Tensor at, inside;
  for (size_t d = 0; d < axes.size(); ++d) {
    const Tensor& i = axes[d].index[chosen[d]];
    const Tensor in = logical_and(i >= 0, i < plane[d]);
    inside = inside.defined() ? logical_and(inside, in) : in;
    at = at.defined() ? at * plane[d] + i : i;
  }
  return where(inside, at, outside);
}

Tensor weight_of(const std::vector<AxisTaps>& axes, const std::vector<size_t>& chosen) {
  Tensor weight;
  for (size_t d = 0; d < axes.size(); ++d) {
    if (axes[d].weight.empty()) continue;
    const Tensor& w = axes[d].weight[chosen[d]];
    weight = weight.defined() ? weight * w : w;
  }
  return weight;
}

// Advance to the next combination of one tap of each dim; false after the last.
bool next(std::vector<size_t>& chosen, const std::vector<AxisTaps>& axes) {
  for (size_t d = axes.size(); d-- > 0;) {
    if (++chosen[d] < axes[d].index.size()) return true;
    chosen[d] = 0;
  }
  return false;
}

// x [N,C,plane...], grid [N,places...,dims] -> [N,C,places...]
Tensor sampled(const Tensor& x, const Tensor& grid, const Sampling& s) {
  const IntArrayRef plane = x.sizes().drop_front(2),
                    places = grid.sizes().drop_front(1).drop_back();
  const int64_t n = x.size(0), c = x.size(1), numel = count("grid_sampler", plane),
                m = count("grid_sampler", places);
  const Tensor flat_grid = grid.reshape({n, m, grid.size(-1)});
  std::vector<AxisTaps> axes;
  for (size_t d = 0; d < plane.size(); ++d) {
    // The grid's first coordinate is for the last dim.
    const auto k = static_cast<int64_t>(plane.size() - 1 - d);
    axes.push_back(taps_of(flat_grid.select(2, k), plane[d], s));
  }
  // Store all channels of an element as a row, since selecting rows is faster than selecting single
  // elements. An extra row of 0 stands for positions outside, so that nothing inside is multiplied
  // by 0.
  const Tensor rows =
      cat({x.reshape({n, c, numel}).transpose(1, 2), zeros({n, 1, c}, x.options())}, 1)
          .view({n * (numel + 1), c});
  const Tensor first_row =
      arange(n, TensorOptions(kInt64).device(x.device())).mul_(numel + 1).unsqueeze_(1);
  Tensor out;  // [n m, c]
  std::vector<size_t> chosen(axes.size(), 0);
  do {
    const Tensor at = position(axes, chosen, plane, numel) + first_row;
    Tensor part = index_select(rows, 0, at.view({n * m}));
    const Tensor weight = weight_of(axes, chosen);
    if (weight.defined()) part = part * weight.reshape({n * m, 1});
    out = out.defined() ? out + part : part;
  } while (next(chosen, axes));
  Dims sizes{n, c};
  for (const int64_t size : places) sizes.push_back(size);
  return out.view({n, m, c}).transpose(1, 2).reshape(sizes);
}

void check_grid(const Tensor& input, const Tensor& grid, const Sampling& s) {
  constexpr const char* kOp = "grid_sampler";
  expect_defined(kOp, "input", input);
  expect_defined(kOp, "grid", grid);
  check_devices(kOp, {{"input", input}, {"grid", grid}});
  expect_floating(kOp, input);
  expect_dtype(kOp, "grid", grid, input.dtype());
  if (s.mode < 0 || s.mode > 2 || s.padding < 0 || s.padding > 2) {
    throw Error(fmt::format("{}: expected modes of 0 to 2, got {} and {}", kOp, s.mode, s.padding));
  }
  const int64_t dims = input.dim() - 2;
  const bool fits = (dims == 2 || dims == 3) && grid.dim() == input.dim() &&
                    grid.size(0) == input.size(0) && grid.size(-1) == dims;
  const IntArrayRef sizes = input.sizes();
  if (!fits || std::any_of(sizes.begin() + 2, sizes.end(), [](int64_t n) { return n < 1; })) {
    throw ShapeError(fmt::format(
        "{}: expected input [N,C,H,W] and grid [N,P,Q,2], or [N,C,D,H,W] and [N,O,P,Q,3], got {} "
        "and {}",
        kOp, str(sizes), str(grid.sizes())));
  }
  if (s.mode == kBicubicMode && dims == 3) {
    throw ShapeError(
        fmt::format("{}: expected images of two dims for bicubic, got {}", kOp, str(sizes)));
  }
}

}  // namespace

Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                    int64_t padding_mode, bool align_corners) {
  AMBIT_AUTOCAST(grid_sampler, input, grid, interpolation_mode, padding_mode, align_corners)
  const Sampling s{interpolation_mode, padding_mode, align_corners};
  check_grid(input, grid, s);
  if (is_reduced_floating(input.dtype())) {
    return by_float32(input.dtype(), grid_sampler, input, grid, interpolation_mode, padding_mode,
                      align_corners);
  }
  const Tensor out = sampled(input, grid, s);
  if (s.mode != kNearestMode || !needs_gradient(grid)) return out;
  // The nearest element is a step function of the position; the grid must get a gradient of zeros.
  return record("grid_sampler", out.detach(), wrt(out, ReduceGradTo(out)),
                wrt(grid, ZerosLike(grid)));
}

namespace {

// Return the positions of n elements in [-1, 1].
Tensor places(int64_t n, bool align_corners, const TensorOptions& options) {
  if (n == 1) return zeros({1}, options);
  const Tensor at = linspace(-1, 1, n, options);
  return align_corners ? at : at * (static_cast<double>(n - 1) / static_cast<double>(n));
}

}  // namespace

Tensor affine_grid_generator(const Tensor& theta, IntArrayRef size, bool align_corners) {
  constexpr const char* kOp = "affine_grid_generator";
  expect_defined(kOp, "theta", theta);
  expect_floating(kOp, theta);
  const auto dims = static_cast<int64_t>(size.size()) - 2;
  const bool fits = (dims == 2 || dims == 3) && theta.dim() == 3 && theta.size(0) == size[0] &&
                    theta.size(1) == dims && theta.size(2) == dims + 1 &&
                    std::all_of(size.begin(), size.end(), [](int64_t n) { return n > 0; });
  if (!fits) {
    throw ShapeError(fmt::format(
        "{}: expected theta [N,2,3] and a size of 4 numbers, the first N, or [N,3,4] and 5, all "
        "above 0, got {} and {}",
        kOp, str(theta.sizes()), str(size)));
  }
  const IntArrayRef plane = size.drop_front(2);
  Dims sizes{size[0]}, base_sizes(plane);
  for (const int64_t n : plane) sizes.push_back(n);
  sizes.push_back(dims);
  count(kOp, sizes);
  base_sizes.push_back(dims + 1);
  count(kOp, base_sizes);
  base_sizes[plane.size()] = 1;
  std::vector<Tensor> coordinates;
  for (int64_t d = dims; d-- > 0;) {  // x is the last dim
    Dims along(plane.size() + 1, 1);
    const int64_t n = plane[static_cast<size_t>(d)];
    along[static_cast<size_t>(d)] = n;
    coordinates.push_back(places(n, align_corners, theta.options()).view(along).expand(base_sizes));
  }
  coordinates.push_back(ones({1}, theta.options()).expand(base_sizes));
  const Tensor base = cat(coordinates, -1).view({1, -1, dims + 1});
  return matmul(base, theta.transpose(1, 2)).reshape(sizes);
}

}  // namespace ambit
