// The comparison of a call's results on both devices.
#pragma once

#include <optional>
#include <string>

#include "call.h"

namespace ambit::shadow {

/// Return the first thing that a kernel did wrong, on one or several lines: it changed an input,
/// wrote outside of its outputs, or computed results beyond their bounds.
std::optional<std::string> find_fault(const Call& call);

}  // namespace ambit::shadow
