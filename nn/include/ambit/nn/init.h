// nn::init: initialise parameters. All functions work in place without recording gradients, on the
// tensor's device and with its generator, and return the tensor.
#pragma once

#include <ambit/scalar.h>
#include <ambit/tensor.h>

#include <tuple>

namespace ambit::nn::init {

/// Which pass keeps its variance: forward (fan_in) or backward (fan_out).
enum class FanMode : uint8_t { fan_in, fan_out };
/// The nonlinearity that is applied after the weights; it determines their gain: calculate_gain().
enum class Nonlinearity : uint8_t { linear, conv2d, sigmoid, tanh, relu, leaky_relu };

// Names of libtorch.
using FanModeType = FanMode;
using NonlinearityType = Nonlinearity;

/// Fill with values uniform in [low, high). Errors: those of Tensor::uniform_.
AMBIT_API Tensor uniform_(const Tensor& tensor, double low = 0, double high = 1);
/// Fill from the normal distribution N(mean, std^2). Errors: those of Tensor::normal_.
AMBIT_API Tensor normal_(const Tensor& tensor, double mean = 0, double std = 1);
/// Fill with `value`. Errors: DTypeError if the dtype cannot represent it.
AMBIT_API Tensor constant_(const Tensor& tensor, const Scalar& value);
/// Fill with 0.
AMBIT_API Tensor zeros_(const Tensor& tensor);
/// Fill with 1.
AMBIT_API Tensor ones_(const Tensor& tensor);

/// Return the factor by which weights are scaled for a nonlinearity: sqrt(2) for relu, sqrt(2 / (1
/// + param^2)) for leaky_relu with negative slope `param`, 5/3 for tanh, 1 otherwise. Source:
/// torch.nn.init.
AMBIT_API double calculate_gain(Nonlinearity nonlinearity, double param = 0.01);
/// Return fan_in and fan_out of a weight [out, in, ...]: in and out, each times the product of the
/// remaining sizes. Errors: ShapeError for fewer than 2 dims.
AMBIT_API std::tuple<int64_t, int64_t> calculate_fan_in_and_fan_out(const Tensor& tensor);
/// Name of libtorch.
inline std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor) {
  return calculate_fan_in_and_fan_out(tensor);
}

// Errors of all functions below: ShapeError for fewer than 2 dims, DTypeError for a dtype that is
// not floating point. Tensors without elements are unchanged.

/// Fill with values uniform in +-sqrt(3) std, std = calculate_gain(nonlinearity, a) / sqrt(fan),
/// where `mode` selects the fan; the standard deviation is std. Source: He et al. 2015,
/// arXiv:1502.01852.
AMBIT_API Tensor kaiming_uniform_(const Tensor& tensor, double a = 0,
                                  FanMode mode = FanMode::fan_in,
                                  Nonlinearity nonlinearity = Nonlinearity::leaky_relu);
/// Fill from the normal distribution with mean 0 and the std of kaiming_uniform_.
AMBIT_API Tensor kaiming_normal_(const Tensor& tensor, double a = 0, FanMode mode = FanMode::fan_in,
                                 Nonlinearity nonlinearity = Nonlinearity::leaky_relu);
/// Fill with values uniform in +-sqrt(3) std, std = gain sqrt(2 / (fan_in + fan_out)). Source:
/// Glorot & Bengio 2010, AISTATS 9.
AMBIT_API Tensor xavier_uniform_(const Tensor& tensor, double gain = 1);
/// Fill from the normal distribution with mean 0 and the std of xavier_uniform_.
AMBIT_API Tensor xavier_normal_(const Tensor& tensor, double gain = 1);

/// Fill with the identity matrix. Errors: also ShapeError unless the tensor has 2 dims.
AMBIT_API Tensor eye_(const Tensor& matrix);
/// Fill the weight [K, C/groups, ...] of a convolution so that it copies its first input channels
/// to its outputs, group by group: 1 in the centre of the kernel from channel i to channel i, else
/// 0. Errors: also ShapeError unless there are 3 to 5 dims and groups divides K.
AMBIT_API Tensor dirac_(const Tensor& tensor, int64_t groups = 1);
/// Fill with gain times a uniformly random (semi-)orthogonal matrix [size(0), product of the
/// others]: rows or columns, whichever are fewer, are orthogonal and have length gain. Source: Saxe
/// et al. 2014, arXiv:1312.6120; Mezzadri 2007, arXiv:math-ph/0609050.
AMBIT_API Tensor orthogonal_(const Tensor& tensor, double gain = 1);
/// Fill a matrix from the normal distribution with mean 0 and standard deviation `std`, then zero a
/// fraction `sparsity` of each column, rounded up, at random positions. Errors: also ShapeError
/// unless there are 2 dims, Error for a fraction outside [0, 1]. Source: Martens 2010, ICML.
AMBIT_API Tensor sparse_(const Tensor& tensor, double sparsity, double std = 0.01);

}  // namespace ambit::nn::init

namespace ambit {
/// libtorch's names of the modes.
inline constexpr auto kFanIn = nn::init::FanMode::fan_in, kFanOut = nn::init::FanMode::fan_out;
/// libtorch's names of the nonlinearities; options of modules use them, too.
inline constexpr auto kLinear = nn::init::Nonlinearity::linear,
                      kConv2D = nn::init::Nonlinearity::conv2d,
                      kSigmoid = nn::init::Nonlinearity::sigmoid,
                      kTanh = nn::init::Nonlinearity::tanh, kReLU = nn::init::Nonlinearity::relu,
                      kLeakyReLU = nn::init::Nonlinearity::leaky_relu;
}  // namespace ambit
