// InferenceMode, libtorch's stronger NoGradGuard.
#pragma once

#include <ambit/autograd.h>

namespace ambit {

/// `InferenceMode guard;`: nothing in the scope records gradients; InferenceMode(false) records
/// again inside it. Tensor::is_inference() is true for tensors whose memory was made in the scope,
/// and for their views. libtorch's restrictions on such tensors, such as not saving them for
/// backward, do not exist.
class AMBIT_API InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true);
  ~InferenceMode();
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;

  /// True if the thread's innermost InferenceMode is enabled.
  static bool is_enabled();

 private:
  AutoGradMode grad_mode_;
  bool before_;
};

}  // namespace ambit
