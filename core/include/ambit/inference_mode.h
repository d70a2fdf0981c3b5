// InferenceMode, libtorch's stronger NoGradGuard.
#pragma once

#include <ambit/autograd.h>

namespace ambit {

/// `InferenceMode guard;`: nothing in the scope records gradients; InferenceMode(false) records
/// again inside of it. What a tensor made here may do later is as under NoGradGuard, which
/// costs nothing in ambit: libtorch's refusals, such as of saving it for a backward, are not made.
class AMBIT_API InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true);
  ~InferenceMode();
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;

  /// Whether the innermost one of this thread is on.
  static bool is_enabled();

 private:
  AutoGradMode grad_mode_;
  bool before_;
};

}  // namespace ambit
