// nn::init: ways to fill a parameter before training. All work in place, without recording, on the
// tensor's device and from its generator, and return the tensor.
#pragma once

#include <ambit/scalar.h>
#include <ambit/tensor.h>

#include <tuple>

namespace ambit::nn::init {

/// Which side keeps its variance: the forward pass (fan_in) or the backward pass (fan_out).
enum class FanMode : uint8_t { fan_in, fan_out };
enum class Nonlinearity : uint8_t { linear, conv2d, sigmoid, tanh, relu, leaky_relu };

AMBIT_API Tensor uniform_(const Tensor& tensor, double low = 0, double high = 1);
AMBIT_API Tensor normal_(const Tensor& tensor, double mean = 0, double std = 1);
AMBIT_API Tensor constant_(const Tensor& tensor, const Scalar& value);
AMBIT_API Tensor zeros_(const Tensor& tensor);
AMBIT_API Tensor ones_(const Tensor& tensor);

/// Return the factor by which a nonlinearity wants its weights scaled; `param` is leaky_relu's
/// slope.
AMBIT_API double calculate_gain(Nonlinearity nonlinearity, double param = 0.01);
/// Return the numbers of inputs and outputs that an element of a weight [out, in, ...] connects.
/// Errors: ShapeError for less than 2 dims.
AMBIT_API std::tuple<int64_t, int64_t> calculate_fan_in_and_fan_out(const Tensor& tensor);

// Errors of all below: ShapeError for less than 2 dims.

/// Uniform in +-sqrt(3) std, std = calculate_gain(nonlinearity, a) / sqrt(fan).
/// Source: He et al. 2015, arXiv:1502.01852.
AMBIT_API Tensor kaiming_uniform_(const Tensor& tensor, double a = 0,
                                  FanMode mode = FanMode::fan_in,
                                  Nonlinearity nonlinearity = Nonlinearity::leaky_relu);
/// Normal with that std.
AMBIT_API Tensor kaiming_normal_(const Tensor& tensor, double a = 0, FanMode mode = FanMode::fan_in,
                                 Nonlinearity nonlinearity = Nonlinearity::leaky_relu);
/// Uniform in +-sqrt(3) std, std = gain sqrt(2 / (fan_in + fan_out)).
/// Source: Glorot & Bengio 2010, AISTATS 9.
AMBIT_API Tensor xavier_uniform_(const Tensor& tensor, double gain = 1);
/// Normal with that std.
AMBIT_API Tensor xavier_normal_(const Tensor& tensor, double gain = 1);

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
