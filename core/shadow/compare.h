// The comparison of a call's results on both devices.
#pragma once

#include <optional>
#include <string>

#include "call.h"

namespace ambit::shadow {

/// Return the first thing that a kernel did wrong, on one or several lines: it changed an input,
/// wrote outside of its outputs, or computed results beyond their bounds.
std::optional<std::string> find_fault(const Call& call);

/// Return how results of an argument's operand differ from those of the shadow by more than the
/// call's bounds; nothing if they do not.
std::optional<std::string> differing_values(const Call& call, size_t argument, const Operand& o);

}  // namespace ambit::shadow
