// The innermost loops of channels-last max pooling: one window, all its channels.
#pragma once

#include <ambit/half.h>

#include <cstdint>
#include <span>

namespace ambit::cpu {

/// Pixels of an image x [pixels, channels] that a window covers, in row-major order.
using Taps = std::span<const int32_t>;

// T is float or BFloat16.

/// y[c] = max over taps of x[tap * channels + c]; NaN wins. index[c] = that tap: the first of equal
/// elements, the last NaN. Requires at least one tap.
template <class T>
using MaxWindow = void (*)(int64_t channels, T* y, int32_t* index, const T* x, Taps taps);
template <class T>
MaxWindow<T> max_window();

/// dx[tap * channels + c] = dy[c] if tap is index[c], else 0: the gradient of windows that do not
/// overlap.
template <class T>
using MaxWindowGrad = void (*)(int64_t channels, T* dx, const T* dy, const int32_t* index,
                               Taps taps);
template <class T>
MaxWindowGrad<T> max_window_grad();

/// Return the largest of n positions as unsigned integers, so that negative ones exceed all others.
uint32_t largest_position(int64_t n, const int32_t* index);

}  // namespace ambit::cpu
