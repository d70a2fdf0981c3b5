// Whose numbers a random op takes.
#pragma once

#include <ambit/random.h>

#include <optional>

namespace ambit {

/// Return the generator that is given, or the device's where none is, or an undefined one.
/// Errors: Error for one of another device.
Generator stream_for(const char* op, Device device, const std::optional<Generator>& given);

}  // namespace ambit
