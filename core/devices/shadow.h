// The shadow device: if $AMBIT_SHADOW names a device, each kernel of other backends also runs
// there, and the results are compared. The code is in libambit_shadow.so; this is its interface.
// Private to core.
#pragma once

#include <ambit/backend/op.h>

#include <cstddef>
#include <string>

namespace ambit {

/// The table that late_library("shadow") returns.
struct ShadowLibrary {
  /// Return a kernel of the same signature that runs `kernel`, of the device kind, and compares.
  AnyKernel (*wrap)(const OpBase& op, size_t kind, AnyKernel kernel);
};

/// Return the library that wraps the kernels of a backend; null if $AMBIT_SHADOW is unset or names
/// this backend. Errors: those of late_library().
const ShadowLibrary* shadow_library(const std::string& backend);

}  // namespace ambit
