// Shape arithmetic of convolution, and values derived from optimizers' options; pooling's is in
// pool_params.cpp.
#include <ambit/params.h>

#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace ambit {
namespace {

// Sizes and parameters must be below 2^31, so that no sum of their products exceeds an int64; the
// kernels' libraries use 32-bit numbers anyway.
constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max();

void check_range(const char* op, const char* what, IntArrayRef got, int64_t min) {
  for (const int64_t v : got) {
    if (v < min || v > kMaxSize) {
      throw ShapeError(
          fmt::format("{}: expected {} from {} to {}, got {}", op, what, min, kMaxSize, str(got)));
    }
  }
}

}  // namespace

IntOrPair::IntOrPair(IntArrayRef sizes) {
  if (sizes.size() != 1 && sizes.size() != 2) {
    throw Error(fmt::format("IntOrPair: expected one number or two, got {}", sizes.size()));
  }
  pair_ = {*sizes.begin(), *(sizes.end() - 1)};
}

void PerAxis::refuse(size_t size) {
  throw Error(fmt::format("PerAxis: expected one to three numbers, got {}", size));
}

namespace {

// Names of shapes and spatial dims, by the number of spatial dims.
constexpr std::string_view kInput[] = {"[N, C, L]", "[N, C, H, W]", "[N, C, D, H, W]"},
                           kConvWeight[] = {"[K, C/groups, R]", "[K, C/groups, R, S]",
                                            "[K, C/groups, T, R, S]"},
                           kTransposedWeight[] = {"[C, K/groups, R]", "[C, K/groups, R, S]",
                                                  "[C, K/groups, T, R, S]"};
std::string_view axis_name(size_t dims, size_t i) {
  constexpr std::string_view kAxes[] = {"depth", "height", "width"};
  return dims == 1 ? "length" : kAxes[PerAxis::kMost - dims + i];
}

// Return the number of spatial dims, clamped if weight has too many or too few dims.
size_t spatial_dims(IntArrayRef weight) {
  return std::clamp<size_t>(weight.size(), 3, PerAxis::kMost + 2) - 2;
}

// Return the number of spatial dims.
size_t check_shapes(const char* op, IntArrayRef input, IntArrayRef weight,
                    const std::string_view* weight_names) {
  const size_t dims = spatial_dims(weight);
  const auto check = [&](const char* argument, IntArrayRef sizes, std::string_view names) {
    if (sizes.size() != dims + 2) {
      throw ShapeError(
          fmt::format("{}: expected {} of shape {}, got {}", op, argument, names, str(sizes)));
    }
    if (std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size > kMaxSize; })) {
      throw ShapeError(fmt::format("{}: expected {} with sizes up to {}, got {}", op, argument,
                                   kMaxSize, str(sizes)));
    }
  };
  check("input", input, kInput[dims - 1]);
  check("weight", weight, weight_names[dims - 1]);
  return dims;
}

void check_numbers(const char* op, const char* what, const PerAxis& list, size_t dims,
                   int64_t min) {
  if (!list.fits(dims)) {
    throw ShapeError(fmt::format("{}: expected {} of {}, got {}", op, what,
                                 dims == 1 ? "one number" : fmt::format("one or {} numbers", dims),
                                 str(list)));
  }
  check_range(op, what, list, min);
}

void check_parameters(const char* op, const ConvParams& p, IntArrayRef weight, size_t dims) {
  check_numbers(op, "stride", p.stride, dims, 1);
  check_numbers(op, "padding", p.padding, dims, 0);
  check_numbers(op, "dilation", p.dilation, dims, 1);
  check_range(op, "sizes of weight", weight, 1);
  if (p.groups < 1 || p.groups > kMaxSize) {
    throw ShapeError(
        fmt::format("{}: expected groups from 1 to {}, got {}", op, kMaxSize, p.groups));
  }
}

void check_channels(const char* op, IntArrayRef input, IntArrayRef weight, int64_t groups) {
  if (input[1] != weight[1] * groups) {
    throw ShapeError(
        fmt::format("{}: expected input with {} channels (weight {}, {} groups), got {}", op,
                    weight[1] * groups, str(weight), groups, str(input)));
  }
  if (weight[0] % groups != 0) {
    throw ShapeError(fmt::format("{}: expected output channels divisible by {} groups, got {}", op,
                                 groups, weight[0]));
  }
}

}  // namespace

Dims ConvParams::out_sizes(const char* op, IntArrayRef input, IntArrayRef weight) const {
  const size_t dims = check_shapes(op, input, weight, kConvWeight);
  check_parameters(op, *this, weight, dims);
  check_channels(op, input, weight, groups);
  Dims out(input);
  out[1] = weight[0];
  for (size_t i = 0; i < dims; ++i) {
    const int64_t padded = input[2 + i] + 2 * padding[i];
    const int64_t window = dilation[i] * (weight[2 + i] - 1) + 1;
    if (window > padded) {
      throw ShapeError(
          fmt::format("{}: expected padded input {} of at least {} (weight {}), got {}", op,
                      axis_name(dims, i), window, str(weight), padded));
    }
    out[2 + i] = (padded - window) / stride[i] + 1;
  }
  return out;
}

Dims ConvParams::transposed_sizes(const char* op, IntArrayRef input, IntArrayRef weight,
                                  const PerAxis& output_padding) const {
  const size_t dims = check_shapes(op, input, weight, kTransposedWeight);
  check_parameters(op, *this, weight, dims);
  check_numbers(op, "output_padding", output_padding, dims, 0);
  if (weight[0] != input[1] || input[1] % groups != 0) {
    throw ShapeError(
        fmt::format("{}: expected input with {} channels (weight {}), divisible by {} groups, got "
                    "{}",
                    op, weight[0], str(weight), groups, str(input)));
  }
  Dims out(input);
  out[1] = weight[1] * groups;
  for (size_t i = 0; i < dims; ++i) {
    if (output_padding[i] >= std::max(stride[i], dilation[i])) {
      throw ShapeError(
          fmt::format("{}: expected output_padding below stride or dilation, got {} with stride {} "
                      "and dilation {}",
                      op, output_padding[i], stride[i], dilation[i]));
    }
    const int64_t window = dilation[i] * (weight[2 + i] - 1) + 1;
    out[2 + i] = (input[2 + i] - 1) * stride[i] - 2 * padding[i] + window + output_padding[i];
    if (input[2 + i] < 1 || out[2 + i] < 1) {
      throw ShapeError(fmt::format("{}: expected output {} of at least 1, got {} of input {}", op,
                                   axis_name(dims, i), out[2 + i], str(input)));
    }
  }
  return out;
}

Dims ConvParams::same_padding(const char* op, IntArrayRef weight) const {
  const size_t dims = spatial_dims(weight);
  check_parameters(op, *this, weight, dims);
  const IntArrayRef given = stride;
  if (std::any_of(given.begin(), given.end(), [](int64_t n) { return n != 1; })) {
    throw ShapeError(
        fmt::format("{}: expected stride 1 with padding same, got {}", op, str(given)));
  }
  Dims total(dims);
  for (size_t i = 0; i < dims; ++i) total[i] = dilation[i] * (weight[2 + i] - 1);
  return total;
}

double AdamParams::step_size() const { return lr / (1 - std::pow(beta1, step)); }
double AdamParams::root_scale() const { return 1 / std::sqrt(1 - std::pow(beta2, step)); }

}  // namespace ambit
