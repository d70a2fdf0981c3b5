// InferenceMode, libtorch's stronger NoGradGuard.
#pragma once

#include <ambit/autograd.h>

namespace ambit {

/// `InferenceMode guard;`: nothing in the scope records gradients; InferenceMode(false) records
/// again inside it. Tensor::is_inference() is true for tensors whose memory was made in the scope,
/// and for their views. Outside of the scope it is an AutogradError to write such a tensor in
/// place, to make it require grad, or to save it for backward; its clone() is an ordinary tensor.
class AMBIT_API InferenceMode {
 public:
  /// enabled: true: do not record gradients, and mark new memory; false: record again.
  explicit InferenceMode(bool enabled = true);
  ~InferenceMode();  ///< restores the previous modes
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;

  /// True if the thread's innermost InferenceMode is enabled.
  static bool is_enabled();

 private:
  bool before_;
  AutoGradMode grad_mode_;
};

}  // namespace ambit
