#include <ambit/detail/kernel_event.h>

namespace ambit {

// No profile can be on yet.
KernelEvent::KernelEvent(const char*, const char*, Device, bool, std::span<const DeviceArg>) {}
KernelEvent::~KernelEvent() = default;

}  // namespace ambit
