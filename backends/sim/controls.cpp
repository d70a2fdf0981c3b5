// The function table of ambit/sim.h.
#include <ambit/backend/registry.h>
#include <ambit/sim.h>
#include <fmt/format.h>

#include "backend.h"

namespace ambit::sim {
namespace {

SimulatedDevice* find_device(Device device) {
  if (device.is_meta()) return nullptr;
  auto* backend = dynamic_cast<SimBackend*>(&usable_backend(device));
  return backend ? &backend->device(device.index()) : nullptr;
}

SimulatedDevice& simulated(Device device) {
  if (SimulatedDevice* d = find_device(device)) return *d;
  throw BackendError(fmt::format("sim: expected a simulated device, got {}", device.str()));
}

constexpr Controls kControls{
    .is_simulated = [](Device device) { return find_device(device) != nullptr; },
    .fail_allocation = [](Device device,
                          int nth) { simulated(device).faults().set_allocation(nth); },
    .limit_memory = [](Device device, size_t bytes) { simulated(device).arena().set_limit(bytes); },
    .fail_copy = [](Device device, int nth) { simulated(device).faults().set_copy(nth); },
    .fail_kernel = [](Device device, std::string_view op,
                      int nth) { simulated(device).faults().set_kernel(op, nth); },
    .set_queue_limit = [](Device device,
                          size_t entries) { simulated(device).queue().set_limit(entries); },
    .queued = [](Device device) { return simulated(device).queue().size(); },
    .device_view = [](Device device, const void* address) -> const void* {
      simulated(device);
      return device_view(address);
    },
    .reset =
        [](Device device) {
          SimulatedDevice& d = simulated(device);
          d.faults().set_allocation(0);
          d.faults().set_copy(0);
          d.faults().set_kernel("", 0);
          d.arena().set_limit(Arena::capacity());
          d.queue().set_limit(Queue::kLimit);
        },
};

}  // namespace
}  // namespace ambit::sim

extern "C" AMBIT_API const ambit::sim::Controls* ambit_sim_controls() {
  return &ambit::sim::kControls;
}
