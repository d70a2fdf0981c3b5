// Reports a kernel call from the dispatcher to a profile.
#pragma once

#include <ambit/api.h>
#include <ambit/device.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ambit {

struct DeviceArg;

/// Scope of a call of a kernel, composite or CPU fallback, recorded if a profile is active.
class AMBIT_API KernelEvent {
 public:
  /// Names have static lifetime. `function`: the function of a family, or null. native: a kernel
  /// runs.
  KernelEvent(const char* op, const char* function, Device device, bool native,
              std::span<const DeviceArg> tensors);
  ~KernelEvent();
  KernelEvent(const KernelEvent&) = delete;
  KernelEvent& operator=(const KernelEvent&) = delete;

 private:
  uint64_t profile_ = 0;  // number of the active profile; 0: none
};

}  // namespace ambit
