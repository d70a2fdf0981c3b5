// Adaptive pooling: windows that divide the input evenly use plain pooling, which has faster
// kernels; others use the kernels' adaptive mode.
#include <ambit/ops/pool.h>

#include <ambit/error.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <limits>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/operand_grad.h"
#include "pool.h"

namespace ambit {
namespace {

/// An adaptive pooling resolved to kernel parameters.
struct Adaptive {
  Adaptive(const char* op, const Tensor& input, size_t dims, IntArrayRef wanted)
      : x(op, input, dims), out(x.batch.sizes()) {
    const PerAxis asked(wanted);
    if (!asked.fits(dims)) {
      throw Error(fmt::format("{}: expected an output size of one number or {}, got {}", op, dims,
                              str(asked)));
    }
    PerAxis window(x.batch.sizes().slice(2));
    bool even = true;
    for (size_t i = 0; i < dims; ++i) {
      const int64_t in = out[2 + i], n = asked[i] == -1 ? in : asked[i];
      constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
      if (n < 0 || n > kMost || in < 1 || in > kMost) {
        throw ShapeError(
            fmt::format("{}: expected spatial sizes of the input from 1 and of the output from 0, "
                        "up to {}, got input {} and output {}",
                        op, kMost, str(input.sizes()), str(asked)));
      }
      out[2 + i] = n;
      empty = empty || n == 0;
      even = even && n > 0 && in % n == 0;
      if (n > 0) window[i] = in / n;
    }
    allocate(op, out, input.dtype(), kMeta);  // throws if too large
    if (even) {
      params = {.kernel = window};
    } else {
      params.adaptive = true;
    }
  }
  /// Return an empty result, whose gradient is zeros.
  Tensor nothing() const { return x.like_input(reshape(narrow(x.batch, -1, 0, 0), out)); }

  pooling::Images x;
  Dims out;
  PoolParams params;
  bool empty = false;
};

constexpr const char* kMax[] = {"adaptive_max_pool1d", "adaptive_max_pool2d",
                                "adaptive_max_pool3d"};
constexpr const char* kMean[] = {"adaptive_avg_pool1d", "adaptive_avg_pool2d",
                                 "adaptive_avg_pool3d"};

Tensor adaptive_mean(size_t dims, const Tensor& input, IntArrayRef output_size) {
  const Adaptive a(kMean[dims - 1], input, dims, output_size);
  if (a.empty) return a.nothing();
  return a.x.like_input(pooling::mean(kMean[dims - 1], a.x.batch, a.out, a.params));
}

std::tuple<Tensor, Tensor> adaptive_max(size_t dims, const Tensor& input, IntArrayRef output_size) {
  const Adaptive a(kMax[dims - 1], input, dims, output_size);
  if (a.empty) {
    const Tensor none = a.nothing();
    return {none, none.detach().to(kInt64)};
  }
  const auto [out, index] = pooling::max(kMax[dims - 1], a.x.batch, a.out, a.params, true);
  return {a.x.like_input(out), a.x.like_input(index.to(kInt64))};
}

}  // namespace

Tensor adaptive_avg_pool1d(const Tensor& input, IntArrayRef output_size) {
  return adaptive_mean(1, input, output_size);
}
Tensor adaptive_avg_pool2d(const Tensor& input, IntArrayRef output_size) {
  return adaptive_mean(2, input, output_size);
}
Tensor adaptive_avg_pool3d(const Tensor& input, IntArrayRef output_size) {
  return adaptive_mean(3, input, output_size);
}
std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& input, IntArrayRef output_size) {
  return adaptive_max(1, input, output_size);
}
std::tuple<Tensor, Tensor> adaptive_max_pool2d(const Tensor& input, IntArrayRef output_size) {
  return adaptive_max(2, input, output_size);
}
std::tuple<Tensor, Tensor> adaptive_max_pool3d(const Tensor& input, IntArrayRef output_size) {
  return adaptive_max(3, input, output_size);
}

}  // namespace ambit
