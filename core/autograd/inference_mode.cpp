#include <ambit/inference_mode.h>

namespace ambit {
namespace {

bool& enabled() {
  [[gnu::tls_model("initial-exec")]] static constinit thread_local bool on = false;
  return on;
}

}  // namespace

InferenceMode::InferenceMode(bool on) : grad_mode_(!on), before_(enabled()) { enabled() = on; }
InferenceMode::~InferenceMode() { enabled() = before_; }
bool InferenceMode::is_enabled() { return enabled(); }

}  // namespace ambit
