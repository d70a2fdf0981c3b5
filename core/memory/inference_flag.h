// The state of InferenceMode, inline for the allocation of storages. Private to core.
#pragma once

namespace ambit {

struct InferenceFlag {
  /// True if InferenceMode is enabled on this thread.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local bool on;
};

}  // namespace ambit
