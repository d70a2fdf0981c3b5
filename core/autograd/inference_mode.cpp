#include <ambit/inference_mode.h>

#include <utility>

#include "inference_flag.h"

namespace ambit {

constinit thread_local bool InferenceFlag::on = false;

InferenceMode::InferenceMode(bool on)
    : before_(std::exchange(InferenceFlag::on, on)), grad_mode_(!on) {}
InferenceMode::~InferenceMode() { InferenceFlag::on = before_; }
bool InferenceMode::is_enabled() { return InferenceFlag::on; }

}  // namespace ambit
