// What the dispatcher tells a profile of a call of a kernel.
#pragma once

#include <ambit/api.h>
#include <ambit/device.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ambit {

struct DeviceArg;

/// A call of a kernel, or of what stands in for one, from here to the end of the block, in a
/// profile if one is on.
class AMBIT_API KernelEvent {
 public:
  /// Names stay. `function`: which of a family's; null where the op is none. native: a kernel runs.
  KernelEvent(const char* op, const char* function, Device device, bool native,
              std::span<const DeviceArg> tensors);
  ~KernelEvent();
  KernelEvent(const KernelEvent&) = delete;
  KernelEvent& operator=(const KernelEvent&) = delete;

 private:
  uint64_t profile_ = 0;  // the number of the one that was on; 0: none
};

}  // namespace ambit
