// What tests may ask of simulated devices: faults, how late they work, and a look at their memory.
// Functions come through a table that the plugin exports, so that a test links nothing but ambit:
//   sim::controls().fail_kernel(Device("sim:0"), "convolution", 1);
#pragma once

#include <ambit/error.h>
#include <ambit/plugins.h>
#include <dlfcn.h>

#include <cstddef>
#include <string_view>

namespace ambit::sim {

/// Every function throws BackendError for a device that is not simulated.
/// Faults count from the call on (1: the next), happen once, and replace the fault of their kind.
struct Controls {
  bool (*is_simulated)(Device device);

  /// Let the nth allocation of the device throw OutOfMemoryError.
  void (*fail_allocation)(Device device, int nth);
  /// Give the device only so many bytes of memory; what is in use already stays.
  void (*limit_memory)(Device device, size_t bytes);
  /// Let the nth copy to the device (from anywhere) or from it to the host fail; as with kernels,
  /// BackendError comes when the host next waits.
  void (*fail_copy)(Device device, int nth);
  /// Let the nth kernel named `op` ("convolution"; "": any) fail. The call returns as if all was
  /// well; BackendError naming the op comes when the host next waits. What came before and after it
  /// runs.
  void (*fail_kernel)(Device device, std::string_view op, int nth);

  /// Let at most `entries` kernels and copies wait in the device's queue (64 unless set): the
  /// device works only when more wait, or when somebody waits for it. 0: at once.
  void (*set_queue_limit)(Device device, size_t entries);
  /// Return how many kernels and copies are not done yet.
  size_t (*queued)(Device device);
  /// Return where the device itself sees a public address of its memory: a way to look without
  /// waiting, which nothing but a test may have.
  const void* (*device_view)(Device device, const void* address);
  /// Take back all faults, and what limit_memory and set_queue_limit set.
  void (*reset)(Device device);
};

/// Return the controls of the simulator. Errors: BackendError when it is not loaded.
inline const Controls& controls() {
  load_all_backends();
  for (const LoadAttempt& attempt : load_report()) {
    if (!attempt.loaded) continue;
    // RTLD_NOLOAD: a handle of what is loaded anyway; the loader keeps it so.
    void* library = dlopen(attempt.file.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (!library) continue;
    void* entry = dlsym(library, "ambit_sim_controls");
    dlclose(library);
    if (entry) return *reinterpret_cast<const Controls* (*)()>(entry)();
  }
  throw BackendError(
      "sim: expected libambit_sim.so to be loaded; load_report() says why it is not");
}

}  // namespace ambit::sim
