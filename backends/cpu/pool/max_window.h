// The innermost loops of max pooling where channels lie innermost: one window, all its channels.
#pragma once

#include <cstdint>
#include <span>

namespace ambit::cpu {

/// Elements of one image x [pixels, channels] that a window covers, by pixel, row-major.
using Taps = std::span<const int32_t>;

/// y[c] = max over taps of x[tap * channels + c], NaN wins; index[c] = that tap, the first of
/// equals, the last of NaNs. At least one tap.
using MaxWindow = void (*)(int64_t channels, float* y, int32_t* index, const float* x, Taps taps);
MaxWindow max_window();

/// dx[tap * channels + c] = dy[c] where tap is index[c], else 0: the gradient where windows do not
/// overlap.
using MaxWindowGrad = void (*)(int64_t channels, float* dx, const float* dy, const int32_t* index,
                               Taps taps);
MaxWindowGrad max_window_grad();

}  // namespace ambit::cpu
