// The functions of nn::functional that are not plain aliases of ops.
#include <ambit/detail/autocast.h>
#include <ambit/nn/functional.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/shape.h>

#include <cmath>

#include "nn/functional/check.h"

namespace ambit::nn::functional {
namespace {

// True if the input is returned unchanged, whatever its dtype and shape, as in libtorch.
bool drops_none(const char* function, const Tensor& input, double p, bool training) {
  if (!input.defined()) {
    throw Error(fmt::format("{}: expected a tensor, got an undefined one", function));
  }
  if (!(p >= 0 && p <= 1)) {
    throw Error(fmt::format("{}: expected p in [0, 1], got {}", function, p));
  }
  return !training || p == 0 || input.numel() == 0;
}

// Return [N,C,1,...] for x [N,C,...], or [C,1,...] for one sample.
Dims per_channel(const Tensor& x, bool batched) {
  Dims sizes(static_cast<size_t>(x.dim()), 1);
  for (size_t i = 0; i < (batched ? 2 : 1); ++i) sizes[i] = x.size(static_cast<int64_t>(i));
  return sizes;
}

// As in libtorch, an input whose number of dims differs from [N,C,...] is one sample, whose dim 0
// has the channels.
Tensor drop_channels(const char* function, const Tensor& input, int64_t dims, double p,
                     bool training, bool inplace) {
  if (drops_none(function, input, p, training)) return input;
  check_floating_or_complex(function, input);
  if (input.dim() == 0) {
    throw ShapeError(
        fmt::format("{}: expected an input with dims, got shape {}", function, str(input.sizes())));
  }
  const Tensor factor = ambit::dropout(
      ones(per_channel(input, input.dim() == dims + 2), input.options()), p, training);
  return inplace ? input.mul_(factor) : input * factor;
}

// a (x kept ? x : -1.758...) + b, with a and b such that mean 0 and variance 1 are preserved. The
// mask `kept` has shape `sizes`, which broadcasts.
Tensor drop_alpha(const char* function, const Tensor& input, IntArrayRef sizes, double p,
                  bool training, bool inplace) {
  constexpr double kLowest = -1.7580993408473766;  // SELU(-inf)
  if (drops_none(function, input, p, training)) return input;
  check_floating_or_complex(function, input);
  if (p == 1) return inplace ? input.mul_(0) : input * 0;
  const double a = 1 / std::sqrt((1 - p) * (1 + p * kLowest * kLowest)), b = -a * kLowest * p;
  const Tensor kept =
      empty(sizes, input.options().dtype(real_dtype(input.dtype()))).bernoulli_(1 - p);
  const Tensor out = input * (kept * a) + ((1 - kept) * (a * kLowest) + b);
  return inplace ? input.copy_(out) : out;
}

}  // namespace

Tensor dropout2d(const Tensor& input, double p, bool training, bool inplace) {
  return drop_channels("dropout2d", input, 2, p, training, inplace);
}
Tensor dropout3d(const Tensor& input, double p, bool training, bool inplace) {
  return drop_channels("dropout3d", input, 3, p, training, inplace);
}
Tensor alpha_dropout(const Tensor& input, double p, bool training, bool inplace) {
  return drop_alpha("alpha_dropout", input, input.defined() ? input.sizes() : IntArrayRef(), p,
                    training, inplace);
}
Tensor feature_alpha_dropout(const Tensor& input, double p, bool training, bool inplace) {
  if (drops_none("feature_alpha_dropout", input, p, training)) return input;
  if (input.dim() < 2) {
    throw ShapeError(fmt::format("feature_alpha_dropout: expected 2 dims or more, got shape {}",
                                 str(input.sizes())));
  }
  return drop_alpha("feature_alpha_dropout", input, per_channel(input, true), p, training, inplace);
}

Tensor dropout(const Tensor& input, double p, bool training, bool inplace) {
  if (!inplace || !training) return ambit::dropout(input, p, training);
  // dropout of ones gives the mask, whose elements are 0 or 1 / (1 - p).
  return input.mul_(ambit::dropout(ones_like(input), p, training));
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias) {
  AMBIT_AUTOCAST(bilinear, input1, input2, weight, bias)
  check_floating_or_complex("bilinear", input1);
  check_same_device("bilinear",
                    {{"input1", input1}, {"input2", input2}, {"weight", weight}, {"bias", bias}});
  const bool fits = weight.dim() == 3 && input1.dim() > 0 && input1.dim() == input2.dim() &&
                    input1.size(-1) == weight.size(1) && input2.size(-1) == weight.size(2) &&
                    input1.sizes().drop_back() == input2.sizes().drop_back();
  if (!fits) {
    throw ShapeError(fmt::format(
        "bilinear: expected inputs [..., I] and [..., J] and weight [K,I,J], got {}, {} and {}",
        str(input1.sizes()), str(input2.sizes()), str(weight.sizes())));
  }
  const int64_t k = weight.size(0), i = weight.size(1), j = weight.size(2);
  int64_t n = 1;  // reshape cannot infer a -1 if a size is 0
  for (const int64_t size : input1.sizes().drop_back()) n *= size;
  // Multiply [N, I] by [I, K J] to get [N, K, J], multiply by x2 [N, 1, J], and sum over J.
  const Tensor left = matmul(input1.reshape({n, i}), weight.transpose(0, 1).reshape({i, k * j}));
  const Tensor out = matmul(left.view({n, k, j}), input2.reshape({n, j, 1})).squeeze(2);
  Dims sizes(input1.sizes());
  sizes[sizes.size() - 1] = k;
  return bias.defined() ? out.view(sizes) + bias : out.view(sizes);
}

}  // namespace ambit::nn::functional
