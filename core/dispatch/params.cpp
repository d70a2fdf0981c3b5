// The shape arithmetic of convolution, and what optimizers derive from their options; pooling's is
// in pool_params.cpp.
#include <ambit/params.h>

#include <ambit/error.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string_view>

namespace ambit {
namespace {

// Sizes and parameters stay below 2^31, so that no sum of their products exceeds an int64; the
// libraries behind the kernels take 32-bit numbers anyway.
constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max();

constexpr std::string_view kAxis[2] = {"height", "width"};

Dims list(const Pair& pair) { return {pair.h, pair.w}; }

void check_range(const char* op, const char* what, IntArrayRef got, int64_t min) {
  for (const int64_t v : got) {
    if (v < min || v > kMaxSize) {
      throw ShapeError(
          fmt::format("{}: expected {} from {} to {}, got {}", op, what, min, kMaxSize, str(got)));
    }
  }
}

void check_4d(const char* op, const char* argument, IntArrayRef sizes, const char* names) {
  if (sizes.size() != 4) {
    throw ShapeError(
        fmt::format("{}: expected {} of shape {}, got {}", op, argument, names, str(sizes)));
  }
  for (const int64_t size : sizes) {
    if (size > kMaxSize) {
      throw ShapeError(fmt::format("{}: expected {} with sizes up to {}, got {}", op, argument,
                                   kMaxSize, str(sizes)));
    }
  }
}

void check_channels(const char* op, IntArrayRef input, IntArrayRef weight, int64_t groups) {
  if (groups < 1 || groups > kMaxSize) {
    throw ShapeError(fmt::format("{}: expected groups from 1 to {}, got {}", op, kMaxSize, groups));
  }
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

IntOrPair::IntOrPair(IntArrayRef sizes) {
  if (sizes.size() != 1 && sizes.size() != 2) {
    throw Error(fmt::format("IntOrPair: expected one number or two, got {}", sizes.size()));
  }
  pair_ = {*sizes.begin(), *(sizes.end() - 1)};
}

void PerAxis::refuse(size_t size) {
  throw Error(fmt::format("PerAxis: expected one to three numbers, got {}", size));
}

Dims Conv2dParams::out_sizes(const char* op, IntArrayRef input, IntArrayRef weight) const {
  check_4d(op, "input", input, "[N, C, H, W]");
  check_4d(op, "weight", weight, "[K, C/groups, R, S]");
  check_range(op, "stride", list(stride), 1);
  check_range(op, "padding", list(padding), 0);
  check_range(op, "dilation", list(dilation), 1);
  check_range(op, "sizes of weight", weight, 1);
  check_channels(op, input, weight, groups);
  Dims out{input[0], weight[0], 0, 0};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t padded = input[2 + i] + 2 * padding[i];
    const int64_t window = dilation[i] * (weight[2 + i] - 1) + 1;
    if (window > padded) {
      throw ShapeError(
          fmt::format("{}: expected padded input {} of at least {} (weight {}), got {}", op,
                      kAxis[i], window, str(weight), padded));
    }
    out[2 + i] = (padded - window) / stride[i] + 1;
  }
  return out;
}

double AdamParams::step_size() const { return lr / (1 - std::pow(beta1, step)); }
double AdamParams::root_scale() const { return 1 / std::sqrt(1 - std::pow(beta2, step)); }

}  // namespace ambit
