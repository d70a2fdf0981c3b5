// at::accelerator: the current accelerator, whatever its kind, its devices and streams.
#pragma once

#include <ambit/backend/backend.h>
#include <ambit/backend/registry.h>
#include <ambit/error.h>
#include <ambit/memory.h>
#include <ambit/random.h>
#include <c10/core/DeviceType.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <torch/lacks.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <new>
#include <optional>
#include <utility>

namespace at::accelerator {

/// Return the kind of the default device, if that is not the CPU; else that of best_device(); none
/// if there is only the CPU. So a simulated device or a plugin's can be the accelerator. Errors if
/// checked: BackendError instead of none.
inline std::optional<DeviceType> getAccelerator(bool checked = false) {
  for (const Device device : {ambit::get_default_device(), ambit::best_device()}) {
    if (!device.is_cpu() && !device.is_meta()) return device.type();
  }
  if (!checked) return std::nullopt;
  throw ambit::BackendError("accelerator: expected a device other than the CPU, got none");
}
/// Return true for every kind of device but the CPU and meta.
inline bool isAccelerator(DeviceType type) { return type != kCPU && type != kMeta; }
template <std::same_as<DeviceType>... Types>
bool isAcceleratorExcluded(DeviceType type, DeviceType excluded, Types... more) {
  return isAccelerator(type) && type != excluded && ((type != more) && ...);
}

// A device by its index. Errors of all: BackendError if there is no accelerator, or no such device.
namespace detail {
inline Device device(DeviceIndex index) { return {*getAccelerator(true), index}; }
}  // namespace detail

/// Return the number of the accelerator's devices; never throws.
inline DeviceIndex deviceCount() {
  const auto type = getAccelerator();
  return static_cast<DeviceIndex>(type ? std::min(ambit::device_count(*type), 127) : 0);
}
/// Return the device that the accelerator's name without an index means.
inline DeviceIndex getDeviceIndex() { return static_cast<DeviceIndex>(detail::device(-1).index()); }
/// Set the accelerator's device for this thread, as a DeviceGuard does for a scope.
inline void setDeviceIndex(DeviceIndex index) {
  alignas(ambit::DeviceGuard) std::byte room[sizeof(ambit::DeviceGuard)];
  new (room) ambit::DeviceGuard(detail::device(index));  // not destroyed: that would undo it
}
/// Set the accelerator's device for this thread, and return the previous device. A negative index
/// changes nothing.
inline DeviceIndex exchangeDevice(DeviceIndex index) {
  const DeviceIndex before = getDeviceIndex();
  if (index >= 0) setDeviceIndex(index);
  return before;
}
inline DeviceIndex maybeExchangeDevice(DeviceIndex index) { return exchangeDevice(index); }

/// Make the stream current for this thread.
inline void setCurrentStream(c10::Stream stream) {
  if (stream.cuda_stream()) ambit::cuda::setCurrentCUDAStream(*stream.cuda_stream());
}
inline c10::Stream getCurrentStream(DeviceIndex index) {
  const Device device = detail::device(index);
  if (!c10::detail::has_streams(device)) return c10::Stream(c10::Stream::DEFAULT, device);
  return ambit::cuda::getCurrentCUDAStream(device.index());
}
/// Wait until all work queued on the device is done.
inline void synchronizeDevice(DeviceIndex index) { ambit::synchronize(detail::device(index)); }

/// Release cached memory of all the accelerator's devices.
inline void emptyCache() {
  for (int i = 0; i < deviceCount(); ++i) {
    ambit::empty_cache(detail::device(static_cast<DeviceIndex>(i)));
  }
}
/// Return the free or cached bytes, and the total bytes of the device. Errors: also
/// NotImplementedError if the backend does not know the total.
inline std::pair<size_t, size_t> getMemoryInfo(DeviceIndex index) {
  const Device device = detail::device(index);
  const size_t total = ambit::usable_backend(device).properties(device.index()).total_memory;
  if (total == 0) {
    throw ambit::NotImplementedError(
        "getMemoryInfo: expected a device that knows its memory, got " + device.str());
  }
  return {total - std::min(total, ambit::memory_stats(device).in_use), total};
}
inline const Generator& getDefaultGenerator(DeviceIndex index) {
  return ambit::default_generator(detail::device(index));
}
AMBIT_TORCH_LACKS_FUNCTION(getDeviceStats, "call torch::memory_stats(device)");
AMBIT_TORCH_LACKS_FUNCTION(resetPeakStats, "ambit's peaks are of the whole process");
AMBIT_TORCH_LACKS_FUNCTION(resetAccumulatedStats, "ambit's counts are of the whole process");

}  // namespace at::accelerator

namespace at {
using accelerator::getAccelerator;
using accelerator::isAccelerator;
}  // namespace at
