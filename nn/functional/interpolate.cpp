// interpolate: selects the op of ops/images.h.
#include <ambit/error.h>
#include <ambit/nn/functional/interpolate.h>
#include <ambit/ops/images.h>
#include <ambit/ops/pool.h>
#include <fmt/format.h>

#include <cmath>

namespace ambit::nn {

InterpolationMode::InterpolationMode(init::Nonlinearity linear) : mode_(Interpolation::linear) {
  if (linear != init::Nonlinearity::linear) {
    throw Error("interpolate: expected a mode such as kLinear, got another nonlinearity");
  }
}

const char* name_of(Interpolation mode) {
  switch (mode) {
    case Interpolation::nearest:
      return "nearest";
    case Interpolation::linear:
      return "linear";
    case Interpolation::bilinear:
      return "bilinear";
    case Interpolation::bicubic:
      return "bicubic";
    case Interpolation::trilinear:
      return "trilinear";
    case Interpolation::area:
      return "area";
    case Interpolation::nearest_exact:
      return "nearest-exact";
  }
  return "";
}

namespace functional {
namespace {

using Sizes = std::vector<int64_t>;
using Scales = std::vector<std::optional<double>>;

void check(const Tensor& input, const InterpolateFuncOptions& o) {
  const auto refuse = [](const std::string& expected) {
    throw Error("interpolate: expected " + expected);
  };
  if (!input.defined()) refuse("a tensor, got an undefined one");
  if (input.dim() < 3 || input.dim() > 5) {
    throw ShapeError(fmt::format("interpolate: expected an input of 3, 4 or 5 dims, got shape {}",
                                 str(input.sizes())));
  }
  const Interpolation mode = o.mode();
  if (o.size().has_value() == o.scale_factor().has_value()) {
    refuse(fmt::format("either size or scale_factor, got {}", o.size() ? "both" : "none"));
  }
  const auto dims = static_cast<size_t>(input.dim() - 2);
  const size_t given = o.size() ? o.size()->size() : o.scale_factor()->size();
  if (given != dims) {
    refuse(fmt::format("{} of {} numbers, got {}", o.size() ? "a size" : "a scale_factor", dims,
                       given));
  }
  if (o.align_corners() && (mode == Interpolation::nearest || mode == Interpolation::area)) {
    refuse(fmt::format("align_corners with linear, bilinear, bicubic or trilinear only, got {}",
                       name_of(mode)));
  }
  const bool flat = mode == Interpolation::bilinear || mode == Interpolation::bicubic;
  const size_t wanted = mode == Interpolation::linear ? 1 : flat ? 2 : 3;
  if ((flat || mode == Interpolation::linear || mode == Interpolation::trilinear) &&
      wanted != dims) {
    throw ShapeError(fmt::format("interpolate: expected an input of {} dims for {}, got shape {}",
                                 wanted + 2, name_of(mode), str(input.sizes())));
  }
  if (o.antialias() && !flat) {
    refuse(fmt::format("antialias with bilinear or bicubic only, got {}", name_of(mode)));
  }
}

Sizes output_size(const Tensor& input, const InterpolateFuncOptions& o) {
  if (o.size()) return *o.size();
  Sizes sizes;
  for (size_t k = 0; k < o.scale_factor()->size(); ++k) {
    const double size =
        std::floor(static_cast<double>(input.sizes()[k + 2]) * (*o.scale_factor())[k]);
    if (!(size >= 1 && size <= INT32_MAX)) {
      throw Error(
          fmt::format("interpolate: expected scale factors that make sizes from 1 to {}, "
                      "got {} for size {}",
                      INT32_MAX, (*o.scale_factor())[k], input.sizes()[k + 2]));
    }
    sizes.push_back(static_cast<int64_t>(size));
  }
  return sizes;
}

Tensor nearest(const Tensor& x, const Sizes& size, const Scales& s) {
  if (size.size() == 1) return upsample_nearest1d(x, size, s[0]);
  if (size.size() == 2) return upsample_nearest2d(x, size, s[0], s[1]);
  return upsample_nearest3d(x, size, s[0], s[1], s[2]);
}

Tensor nearest_exact(const Tensor& x, const Sizes& size, const Scales& s) {
  if (size.size() == 1) return _upsample_nearest_exact1d(x, size, s[0]);
  if (size.size() == 2) return _upsample_nearest_exact2d(x, size, s[0], s[1]);
  return _upsample_nearest_exact3d(x, size, s[0], s[1], s[2]);
}

Tensor area(const Tensor& x, const Sizes& size) {
  if (size.size() == 1) return adaptive_avg_pool1d(x, size);
  return size.size() == 2 ? adaptive_avg_pool2d(x, size) : adaptive_avg_pool3d(x, size);
}

}  // namespace

Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& o) {
  check(input, o);
  const Sizes size = output_size(input, o);
  Scales s(size.size());
  if (o.scale_factor() && !o.recompute_scale_factor().value_or(false)) {
    for (size_t k = 0; k < s.size(); ++k) s[k] = (*o.scale_factor())[k];
  }
  const bool corners = o.align_corners().value_or(false);
  switch (Interpolation(o.mode())) {
    case Interpolation::nearest:
      return nearest(input, size, s);
    case Interpolation::nearest_exact:
      return nearest_exact(input, size, s);
    case Interpolation::area:
      return area(input, size);
    case Interpolation::linear:
      return upsample_linear1d(input, size, corners, s[0]);
    case Interpolation::bilinear:
      return o.antialias() ? _upsample_bilinear2d_aa(input, size, corners, s[0], s[1])
                           : upsample_bilinear2d(input, size, corners, s[0], s[1]);
    case Interpolation::bicubic:
      return o.antialias() ? _upsample_bicubic2d_aa(input, size, corners, s[0], s[1])
                           : upsample_bicubic2d(input, size, corners, s[0], s[1]);
    case Interpolation::trilinear:
      return upsample_trilinear3d(input, size, corners, s[0], s[1], s[2]);
  }
  return input;
}

}  // namespace functional
}  // namespace ambit::nn
