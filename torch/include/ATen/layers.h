// What functions of layers in namespace torch take otherwise than ambit's own, which are the
// others: ambit/nn/functional/aten.h.
#pragma once

#include <ambit/nn/functional/aten.h>
#include <ambit/nn/nn.h>
#include <ambit/ops/pool.h>
#include <torch/namespaces.h>

#include <cstdint>
#include <optional>
#include <tuple>

namespace at {

// No overloads, so that torch::nn::Functional(torch::max_pool2d, 3, 2, 0, 1, false) names one.
inline Tensor max_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                         IntArrayRef padding = 0, IntArrayRef dilation = 1,
                         bool ceil_mode = false) {
  return ambit::max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode);
}
inline std::tuple<Tensor, Tensor> max_pool1d_with_indices(
    const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0,
    IntArrayRef dilation = 1, bool ceil_mode = false) {
  return ambit::max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode);
}
inline Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                         IntArrayRef padding = 0, IntArrayRef dilation = 1,
                         bool ceil_mode = false) {
  return ambit::max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode);
}
inline std::tuple<Tensor, Tensor> max_pool2d_with_indices(
    const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0,
    IntArrayRef dilation = 1, bool ceil_mode = false) {
  return ambit::max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode);
}
inline Tensor max_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                         IntArrayRef padding = 0, IntArrayRef dilation = 1,
                         bool ceil_mode = false) {
  return ambit::max_pool3d(self, kernel_size, stride, padding, dilation, ceil_mode);
}
inline std::tuple<Tensor, Tensor> max_pool3d_with_indices(
    const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0,
    IntArrayRef dilation = 1, bool ceil_mode = false) {
  return ambit::max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode);
}
inline Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                         IntArrayRef padding = 0, bool ceil_mode = false,
                         bool count_include_pad = true) {
  return ambit::avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad);
}
inline Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                         IntArrayRef padding = 0, bool ceil_mode = false,
                         bool count_include_pad = true,
                         std::optional<int64_t> divisor_override = {}) {
  return ambit::avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                           divisor_override);
}
inline Tensor avg_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                         IntArrayRef padding = 0, bool ceil_mode = false,
                         bool count_include_pad = true,
                         std::optional<int64_t> divisor_override = {}) {
  return ambit::avg_pool3d(self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                           divisor_override);
}
/// ambit::elu of Scalars, as libtorch takes them.
inline Tensor elu(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1,
                  const Scalar& input_scale = 1) {
  return ambit::elu(self, alpha.toDouble(), scale.toDouble(), input_scale.toDouble());
}

}  // namespace at
