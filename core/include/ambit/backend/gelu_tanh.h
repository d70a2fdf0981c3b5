// What the kernels of gelu by tanh and its second derivative, which is written in ops, share.
#pragma once

namespace ambit::arithmetic {

/// 2 sqrt(2 / pi)
inline constexpr double kGeluTanhSlope = 1.5957691216057307;
/// Source: Hendrycks & Gimpel 2016, arXiv:1606.08415.
inline constexpr double kGeluTanhCube = 0.044715;

}  // namespace ambit::arithmetic
