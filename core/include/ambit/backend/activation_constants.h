// Constants of activations, shared by kernels and composites.
#pragma once

namespace ambit::arithmetic {

/// 2 sqrt(2 / pi), for gelu approximated by tanh.
inline constexpr double kGeluTanhSlope = 1.5957691216057307;
/// Source: Hendrycks & Gimpel 2016, arXiv:1606.08415.
inline constexpr double kGeluTanhCube = 0.044715;

/// For selu, which keeps mean 0 and variance 1. Source: Klambauer et al. 2017, arXiv:1706.02515.
/// @{
inline constexpr double kSeluAlpha = 1.6732632423543772, kSeluScale = 1.0507009873554805;
/// @}

/// softplus(x) is x above this threshold; libtorch's default.
inline constexpr double kSoftplusThreshold = 20;

}  // namespace ambit::arithmetic
