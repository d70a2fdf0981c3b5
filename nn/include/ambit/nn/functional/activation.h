// nn::functional: activations. Input and output have the same shape, any shape unless dims are
// named; floating point. `inplace` overwrites the input and returns it. Gradient: input. Errors of
// all: DTypeError; with `inplace` AutogradError for a leaf that requires grad; Error for an
// undefined tensor.
#pragma once

#include <ambit/tensor.h>

#include <optional>
#include <string_view>

namespace ambit::nn::functional {

/// x > 0 ? x : alpha (e^x - 1). Source: Clevert et al. 2015, arXiv:1511.07289.
AMBIT_API Tensor elu(const Tensor& input, double alpha = 1, bool inplace = false);
/// scale * elu(x, alpha) with scale 1.0507..., alpha 1.6732... that keep mean 0 and variance 1.
/// Source: Klambauer et al. 2017, arXiv:1706.02515.
AMBIT_API Tensor selu(const Tensor& input, bool inplace = false);
/// x > 0 ? x : alpha (e^(x / alpha) - 1). Source: Barron 2017, arXiv:1704.07483.
AMBIT_API Tensor celu(const Tensor& input, double alpha = 1, bool inplace = false);
/// x > 0 ? x : negative_slope * x. Source: Maas et al. 2013.
AMBIT_API Tensor leaky_relu(const Tensor& input, double negative_slope = 0.01,
                            bool inplace = false);
/// x > 0 ? x : weight * x; weight [1], or [C] for dim 1 of x [N,C,...]. Errors: ShapeError.
/// Gradient: weight too. Source: He et al. 2015, arXiv:1502.01852.
AMBIT_API Tensor prelu(const Tensor& input, const Tensor& weight);
/// x > 0 ? x : r * x; in training r is uniform in [lower, upper) per element, else it is their
/// mean.
/// Source: Xu et al. 2015, arXiv:1505.00853.
AMBIT_API Tensor rrelu(const Tensor& input, double lower = 1. / 8, double upper = 1. / 3,
                       bool training = false, bool inplace = false);
/// Clamp x to [0, 6]; the gradient is 0 at the limits. Integers too.
AMBIT_API Tensor relu6(const Tensor& input, bool inplace = false);
/// Clamp x to [min_val, max_val]; the gradient is 0 at the limits. Integers are accepted with
/// integer limits, as by relu6 and threshold; softsign and tanhshrink convert integers to floating
/// point. A NaN bound gives NaN. Errors: Error if min_val >= max_val.
AMBIT_API Tensor hardtanh(const Tensor& input, double min_val = -1, double max_val = 1,
                          bool inplace = false);
/// x * sigmoid(x), Swish. Source: Elfwing et al. 2017, arXiv:1702.03118.
AMBIT_API Tensor silu(const Tensor& input);
/// relu6(x + 3) / 6. Source: Howard et al. 2019, arXiv:1905.02244.
AMBIT_API Tensor hardsigmoid(const Tensor& input, bool inplace = false);
/// x * hardsigmoid(x). Source: as hardsigmoid.
AMBIT_API Tensor hardswish(const Tensor& input, bool inplace = false);
/// x * tanh(softplus(x)). Source: Misra 2019, arXiv:1908.08681.
AMBIT_API Tensor mish(const Tensor& input);
/// log(1 + e^(beta x)) / beta; x itself where beta x > threshold.
AMBIT_API Tensor softplus(const Tensor& input, double beta = 1, double threshold = 20);
/// log(sigmoid(x)), accurate for large |x| too.
AMBIT_API Tensor logsigmoid(const Tensor& input);
/// x / (1 + |x|)
AMBIT_API Tensor softsign(const Tensor& input);
/// x - tanh(x)
AMBIT_API Tensor tanhshrink(const Tensor& input);
/// x where |x| > lambda, else 0. Errors: Error for a negative lambda.
AMBIT_API Tensor hardshrink(const Tensor& input, double lambda = 0.5);
/// sign(x) * max(|x| - lambda, 0). Errors: Error for a negative lambda.
AMBIT_API Tensor softshrink(const Tensor& input, double lambda = 0.5);
/// x > threshold ? x : value
AMBIT_API Tensor threshold(const Tensor& input, double threshold, double value,
                           bool inplace = false);
/// a * sigmoid(b), where a and b are the halves of x along dim: [..., 2 n, ...] -> [..., n, ...].
/// Errors: ShapeError for an odd size, IndexError. Source: Dauphin et al. 2016, arXiv:1612.08083.
AMBIT_API Tensor glu(const Tensor& input, int64_t dim = -1);
/// softmax(-x) along dim; dtype as softmax's. Errors: IndexError.
AMBIT_API Tensor softmin(const Tensor& input, int64_t dim, std::optional<DType> dtype = {});
/// softmax((x + g) / tau) along dim with Gumbel-distributed g: a differentiable sample of the
/// classes with logits x. hard: return one-hot samples with the gradient of the soft ones. Errors:
/// Error unless tau > 0; IndexError. Source: Jang et al. 2016, arXiv:1611.01144.
AMBIT_API Tensor gumbel_softmax(const Tensor& input, double tau = 1, bool hard = false,
                                int64_t dim = -1);

}  // namespace ambit::nn::functional

namespace ambit {

// Also available outside nn::functional. Declared before the overloads with options, so that each
// name here is a single function, which programs can pass by name.
using nn::functional::celu;
using nn::functional::glu;
using nn::functional::hardshrink;
using nn::functional::hardsigmoid;
using nn::functional::hardswish;
using nn::functional::hardtanh;
using nn::functional::leaky_relu;
using nn::functional::mish;
using nn::functional::prelu;
using nn::functional::relu6;
using nn::functional::rrelu;
using nn::functional::selu;
using nn::functional::silu;
using nn::functional::softplus;
using nn::functional::softshrink;
using nn::functional::threshold;

}  // namespace ambit
