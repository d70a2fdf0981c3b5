// Pooling composed of ops: unpooling with the modules' sizes, fractional pooling with random
// windows, LP pooling.
#include <ambit/nn/functional/pooling.h>

#include <ambit/detail/by_float32.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/random.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <cmath>

#include "check.h"

namespace ambit::nn::functional {
namespace {

// Check the input here, because the code below reads its sizes before the op checks it.
void check_input(const char* op, const Tensor& input, size_t dims) {
  if (!input.defined()) throw Error(fmt::format("{}: expected input, got an undefined tensor", op));
  const auto ndim = static_cast<size_t>(input.dim());
  if (ndim != dims + 1 && ndim != dims + 2) {
    throw ShapeError(fmt::format("{}: expected input of {} or {} dims, got {}", op, dims + 1,
                                 dims + 2, str(input.sizes())));
  }
}

std::vector<int64_t> unpooled_sizes(const char* op, const Tensor& input, IntArrayRef kernel_size,
                                    IntArrayRef stride, IntArrayRef padding,
                                    const std::optional<std::vector<int64_t>>& output_size) {
  const size_t D = kernel_size.size();
  check_input(op, input, D);
  std::vector<int64_t> sizes(D);
  const IntArrayRef in = input.sizes().slice(static_cast<size_t>(input.dim()) - D);
  for (size_t i = 0; i < D; ++i) {
    constexpr int64_t kMost = INT32_MAX;
    const int64_t k = kernel_size[i], s = stride[i], p = padding[i];
    if (k < 1 || k > kMost || s < 1 || s > kMost || p < 0 || p > kMost || in[i] > kMost) {
      throw ShapeError(
          fmt::format("{}: expected kernel_size and stride from 1 and padding from 0, "
                      "all to {}, got {}, {} and {} for input {}",
                      op, kMost, k, s, p, str(input.sizes())));
    }
    sizes[i] = (in[i] - 1) * s - 2 * p + k;
  }
  if (!output_size) return sizes;
  const std::vector<int64_t>& asked = *output_size;
  if (asked.size() != D && asked.size() != D + 2) {
    throw ShapeError(fmt::format("{}: expected an output_size of {} or {} numbers, got {}", op, D,
                                 D + 2, str(asked)));
  }
  const size_t first = asked.size() - D;
  for (size_t i = 0; i < D; ++i) {
    const int64_t s = stride[i], n = asked[first + i];
    if (n <= sizes[i] - s || n >= sizes[i] + s) {
      throw ShapeError(fmt::format("{}: expected output_size {} between {} and {}, got {}", op, i,
                                   sizes[i] - s, sizes[i] + s, str(asked)));
    }
    sizes[i] = n;
  }
  return sizes;
}
template <size_t D>
std::vector<int64_t> unpooled_sizes(const char* op, const Tensor& input,
                                    const MaxUnpoolFuncOptions<D>& o) {
  return unpooled_sizes(op, input, *o.kernel_size(), *o.stride(), *o.padding(), o.output_size());
}

template <size_t D>
std::array<int64_t, D> fractional_sizes(const char* op, const Tensor& input,
                                        const FractionalMaxPoolOptions<D>& options) {
  check_input(op, input, D);
  if (options.output_size()) return **options.output_size();
  if (!options.output_ratio()) {
    throw Error(fmt::format("{}: expected output_size or output_ratio, got neither", op));
  }
  std::array<int64_t, D> sizes;
  for (size_t i = 0; i < D; ++i) {
    const double ratio = (*options.output_ratio())[i];
    if (!(ratio > 0 && ratio < 1)) {
      throw Error(fmt::format("{}: expected output_ratio between 0 and 1, got {}", op, ratio));
    }
    const auto size = static_cast<double>(input.size(static_cast<int64_t>(i) - int64_t{D}));
    sizes[i] = static_cast<int64_t>(size * ratio);
  }
  return sizes;
}

// Return the given samples, or random ones for each image and channel.
template <size_t D>
Tensor samples(const Tensor& input, const FractionalMaxPoolOptions<D>& options) {
  if (options._random_samples().defined()) return options._random_samples();
  const bool batch = static_cast<size_t>(input.dim()) == D + 2;
  return rand({batch ? input.size(0) : 1, input.size(-1 - int64_t{D}), int64_t{D}},
              input.options());
}

// Return the norms of the windows; pool(x) returns their means. sign and relu do not change the
// value; they prevent the infinite gradient of the root at 0 from reaching the input.
Tensor lp_pool(const Tensor& input, double norm_type, IntArrayRef kernel, const auto& pool) {
  double elements = 1;  // a product of int64 could overflow
  for (const int64_t size : kernel) elements *= static_cast<double>(size);
  const auto norms = [&](const Tensor& x) {
    const Tensor means = pool(pow(x, norm_type));
    return (sign(means) * relu(abs(means))).mul(elements).pow(1 / norm_type);
  };
  // Powers overflow float16.
  return is_reduced_floating(input.dtype()) ? by_float32(input.dtype(), norms, input)
                                            : norms(input);
}

}  // namespace

Tensor max_unpool1d(const Tensor& input, const Tensor& indices,
                    const MaxUnpool1dFuncOptions& options) {
  check_same_device("max_unpool1d", {{"input", input}, {"indices", indices}});
  std::vector<int64_t> sizes = unpooled_sizes("max_unpool1d", input, options);
  if (!indices.defined()) throw Error("max_unpool1d: expected indices, got an undefined tensor");
  sizes.push_back(1);
  return max_unpool2d(unsqueeze(input, -1), unsqueeze(indices, -1), sizes).squeeze(-1);
}
Tensor max_unpool2d(const Tensor& input, const Tensor& indices,
                    const MaxUnpool2dFuncOptions& options) {
  return ambit::max_unpool2d(input, indices, unpooled_sizes("max_unpool2d", input, options));
}
Tensor max_unpool3d(const Tensor& input, const Tensor& indices,
                    const MaxUnpool3dFuncOptions& options) {
  return ambit::max_unpool3d(input, indices, unpooled_sizes("max_unpool3d", input, options));
}

std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(
    const Tensor& input, const FractionalMaxPool2dFuncOptions& options) {
  const auto sizes = fractional_sizes("fractional_max_pool2d", input, options);
  return ambit::fractional_max_pool2d(input, *options.kernel_size(), sizes,
                                      samples(input, options));
}
std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(
    const Tensor& input, const FractionalMaxPool3dFuncOptions& options) {
  const auto sizes = fractional_sizes("fractional_max_pool3d", input, options);
  return ambit::fractional_max_pool3d(input, *options.kernel_size(), sizes,
                                      samples(input, options));
}
Tensor fractional_max_pool2d(const Tensor& input, const FractionalMaxPool2dFuncOptions& options) {
  return std::get<0>(fractional_max_pool2d_with_indices(input, options));
}
Tensor fractional_max_pool3d(const Tensor& input, const FractionalMaxPool3dFuncOptions& options) {
  return std::get<0>(fractional_max_pool3d_with_indices(input, options));
}

Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& options) {
  const auto& kernel = options.kernel_size();
  return lp_pool(input, options.norm_type(), *kernel, [&](const Tensor& x) {
    return avg_pool1d(x, *kernel, *options.stride(), 0, options.ceil_mode());
  });
}
Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& options) {
  const auto& kernel = options.kernel_size();
  return lp_pool(input, options.norm_type(), *kernel, [&](const Tensor& x) {
    return avg_pool2d(x, *kernel, *options.stride(), 0, options.ceil_mode());
  });
}
Tensor lp_pool3d(const Tensor& input, const LPPool3dFuncOptions& options) {
  const auto& kernel = options.kernel_size();
  return lp_pool(input, options.norm_type(), *kernel, [&](const Tensor& x) {
    return avg_pool3d(x, *kernel, *options.stride(), 0, options.ceil_mode());
  });
}

}  // namespace ambit::nn::functional
