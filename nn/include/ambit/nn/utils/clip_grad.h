// Gradient clipping before an optimizer step. Parameters without a gradient are skipped.
#pragma once

#include <ambit/tensor.h>

namespace ambit::nn::utils {

/// Scale the gradients of all parameters, in place, by max_norm / (norm + 1e-6) if that is below 1;
/// return their total norm before scaling:
///   norm = (sum of |g|^norm_type over all elements of all gradients)^(1 / norm_type)
/// norm_type: any number; infinity gives the largest |g|, 0 the number of gradients. Gradients may
/// be on several devices. Errors: with error_if_nonfinite, Error for a norm that is NaN or
/// infinite; then nothing has changed. Source: torch.nn.utils.clip_grad_norm_.
AMBIT_API double clip_grad_norm_(TensorList parameters, double max_norm, double norm_type = 2,
                                 bool error_if_nonfinite = false);
inline double clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type = 2,
                              bool error_if_nonfinite = false) {
  return clip_grad_norm_(TensorList(&parameter, 1), max_norm, norm_type, error_if_nonfinite);
}

/// Clamp every element of the gradients, in place, to [-clip_value, clip_value].
AMBIT_API void clip_grad_value_(TensorList parameters, double clip_value);
inline void clip_grad_value_(const Tensor& parameter, double clip_value) {
  clip_grad_value_(TensorList(&parameter, 1), clip_value);
}

}  // namespace ambit::nn::utils
