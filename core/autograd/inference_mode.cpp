#include <ambit/inference_mode.h>

#include <utility>

namespace ambit {
namespace {

bool& enabled() {
  [[gnu::tls_model("initial-exec")]] static constinit thread_local bool on = false;
  return on;
}

}  // namespace

InferenceMode::InferenceMode(bool on) : before_(std::exchange(enabled(), on)), grad_mode_(!on) {}
InferenceMode::~InferenceMode() { enabled() = before_; }
bool InferenceMode::is_enabled() { return enabled(); }

}  // namespace ambit
