// nn::init: ways to fill a parameter before training. All work in place, without recording, on the
// tensor's device and from its generator, and return the tensor.
#pragma once

#include <ambit/scalar.h>
#include <ambit/tensor.h>

#include <tuple>

namespace ambit::nn::init {

/// Which side keeps its variance: the forward pass (fan_in) or the backward pass (fan_out).
enum class FanMode : uint8_t { fan_in, fan_out };
/// What follows the weights: it decides their gain; see calculate_gain().
enum class Nonlinearity : uint8_t { linear, conv2d, sigmoid, tanh, relu, leaky_relu };

// libtorch's names.
using FanModeType = FanMode;
using NonlinearityType = Nonlinearity;

/// Fill with numbers uniform in [low, high). Errors: those of Tensor::uniform_.
AMBIT_API Tensor uniform_(const Tensor& tensor, double low = 0, double high = 1);
/// Fill with normal numbers of this mean and standard deviation. Errors: those of Tensor::normal_.
AMBIT_API Tensor normal_(const Tensor& tensor, double mean = 0, double std = 1);
/// Fill with `value`. Errors: DTypeError where it does not fit the dtype.
AMBIT_API Tensor constant_(const Tensor& tensor, const Scalar& value);
/// Fill with 0.
AMBIT_API Tensor zeros_(const Tensor& tensor);
/// Fill with 1.
AMBIT_API Tensor ones_(const Tensor& tensor);

/// Return the factor by which a nonlinearity wants its weights scaled: relu sqrt(2), leaky_relu
/// sqrt(2 / (1 + param^2)) with its slope `param`, tanh 5/3, the others 1. Source: torch.nn.init.
AMBIT_API double calculate_gain(Nonlinearity nonlinearity, double param = 0.01);
/// Return fan_in and fan_out of a weight [out, in, ...]: on how many inputs an output depends and
/// how many outputs an input reaches, in and out times the product of the sizes left.
/// Errors: ShapeError for less than 2 dims.
AMBIT_API std::tuple<int64_t, int64_t> calculate_fan_in_and_fan_out(const Tensor& tensor);
/// The same, by libtorch's name.
inline std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor) {
  return calculate_fan_in_and_fan_out(tensor);
}

// Errors of all below: ShapeError for less than 2 dims, DTypeError for what is not floating point.
// Without elements there is nothing to do.

/// Fill with numbers uniform in +-sqrt(3) std, std = calculate_gain(nonlinearity, a) / sqrt(fan),
/// fan that of `mode`; so the standard deviation is std.
/// Source: He et al. 2015, arXiv:1502.01852.
AMBIT_API Tensor kaiming_uniform_(const Tensor& tensor, double a = 0,
                                  FanMode mode = FanMode::fan_in,
                                  Nonlinearity nonlinearity = Nonlinearity::leaky_relu);
/// Fill with normal numbers of mean 0 and the std of kaiming_uniform_.
AMBIT_API Tensor kaiming_normal_(const Tensor& tensor, double a = 0, FanMode mode = FanMode::fan_in,
                                 Nonlinearity nonlinearity = Nonlinearity::leaky_relu);
/// Fill with numbers uniform in +-sqrt(3) std, std = gain sqrt(2 / (fan_in + fan_out)).
/// Source: Glorot & Bengio 2010, AISTATS 9.
AMBIT_API Tensor xavier_uniform_(const Tensor& tensor, double gain = 1);
/// Fill with normal numbers of mean 0 and the std of xavier_uniform_.
AMBIT_API Tensor xavier_normal_(const Tensor& tensor, double gain = 1);

/// Fill a matrix with 1 on its diagonal, else 0. Errors also: ShapeError for other than 2 dims.
AMBIT_API Tensor eye_(const Tensor& matrix);
/// Fill the weight [K, C/groups, ...] of a convolution so that it hands its inputs through, as many
/// as there are outputs, group by group: 1 in the middle of the kernels from channel i to i, else
/// 0. Errors also: ShapeError for other than 3 to 5 dims, and where groups does not divide K.
AMBIT_API Tensor dirac_(const Tensor& tensor, int64_t groups = 1);
/// Fill with a random (semi-)orthogonal matrix [size(0), the others' product] times gain: rows or
/// columns, whichever are fewer, are of length gain and at right angles. Uniform over all such.
/// Source: Saxe et al. 2014, arXiv:1312.6120; Mezzadri 2007, arXiv:math-ph/0609050.
AMBIT_API Tensor orthogonal_(const Tensor& tensor, double gain = 1);
/// Fill a matrix with normal numbers of mean 0 and this standard deviation, and in each column a
/// part `sparsity` of them, rounded up, in random places, with 0. Errors also: ShapeError for other
/// than 2 dims, Error for a part outside [0, 1]. Source: Martens 2010, ICML.
AMBIT_API Tensor sparse_(const Tensor& tensor, double sparsity, double std = 0.01);

}  // namespace ambit::nn::init

namespace ambit {
// libtorch's names.
inline constexpr auto kFanIn = nn::init::FanMode::fan_in, kFanOut = nn::init::FanMode::fan_out;
inline constexpr auto kLinear = nn::init::Nonlinearity::linear,
                      kConv2D = nn::init::Nonlinearity::conv2d,
                      kSigmoid = nn::init::Nonlinearity::sigmoid,
                      kTanh = nn::init::Nonlinearity::tanh, kReLU = nn::init::Nonlinearity::relu,
                      kLeakyReLU = nn::init::Nonlinearity::leaky_relu;
}  // namespace ambit
