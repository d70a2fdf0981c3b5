// Choice of a random op's generator.
#pragma once

#include <ambit/random.h>

#include <optional>

namespace ambit {

/// Return the given generator, or the device's if none or an undefined one is given. Errors: Error
/// for a generator of another device.
Generator stream_for(const char* op, Device device, const std::optional<Generator>& given);

}  // namespace ambit
