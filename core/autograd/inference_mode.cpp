#include <ambit/inference_mode.h>

#include <utility>

#include "core/memory/inference_flag.h"

namespace ambit {

InferenceMode::InferenceMode(bool on)
    : before_(std::exchange(InferenceFlag::on, on)), grad_mode_(!on) {}
InferenceMode::~InferenceMode() { InferenceFlag::on = before_; }
bool InferenceMode::is_enabled() { return InferenceFlag::on; }

}  // namespace ambit
