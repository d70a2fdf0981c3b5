// Devices that fail on purpose, to test how a program handles it. They are simulated: every machine
// has sim:0, and with AMBIT_SIM=cuda:1 also cuda:0, unless there is a real one.
#pragma once

#include <ambit/device.h>
#include <ambit/error.h>
#include <ambit/sim.h>
#include <ambit/testing/mismatch.h>
#include <ambit/testing/report.h>

#include <exception>
#include <functional>
#include <string>
#include <string_view>

namespace ambit::test {

/// Return whether the device supports injected faults. Never throws.
inline bool can_fail(Device device) noexcept try {
  return sim::controls().is_simulated(device);
} catch (...) {
  return false;
}

/// Make the nth allocation of a device from now on (1: the next) throw OutOfMemoryError, once. The
/// destructor cancels a fault that has not occurred. Only one per device at a time.
/// Errors: BackendError for a device that is not simulated.
class FailingAllocation {
 public:
  /// nth: 1 is the next allocation.
  FailingAllocation(Device device, int nth) : device_(device) {
    sim::controls().fail_allocation(device, nth);
  }
  /// Cancel the fault if it has not occurred.
  ~FailingAllocation() { sim::controls().fail_allocation(device_, 0); }
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;

 private:
  Device device_;
};

/// Make the nth kernel of a device from now on fail, once; with a name, the nth of that name, such
/// as "matmul". As on a GPU, the call returns without an error: a BackendError naming the kernel is
/// thrown when the program next waits: in synchronize(), item() or a copy to the host. The
/// destructor cancels a fault that has not occurred. Only one per device at a time.
/// Errors: BackendError for a device that is not simulated.
class FailingKernel {
 public:
  /// nth: 1 is the next kernel, or the next of that name.
  FailingKernel(Device device, int nth, std::string_view kernel = "") : device_(device) {
    sim::controls().fail_kernel(device, kernel, nth);
  }
  /// Cancel the fault if it has not occurred.
  ~FailingKernel() { sim::controls().fail_kernel(device_, "", 0); }
  FailingKernel(const FailingKernel&) = delete;
  FailingKernel& operator=(const FailingKernel&) = delete;

 private:
  Device device_;
};

/// The result of injecting faults into `work`.
struct FaultReport {
  int faults = 0;      ///< number of faults, one in each attempt
  std::string report;  ///< "" if each gave the expected exception and no leak
};

/// Run the work repeatedly with the 1st, 2nd, ... fault until none occurs; each must cause Expected
/// and no leak. `name` begins the report.
template <class Expected, class Fault>
FaultReport with_each_fault(const char* name, Device device, const std::function<void()>& work) {
  FaultReport all;
  for (int nth = 1;; ++nth) {
    const MemoryInUse memory;
    bool failed = false;
    try {
      const Fault fault(device, nth);
      work();
      synchronize(device);
    } catch (const Expected&) {
      failed = true;
    } catch (const std::exception& e) {
      all.report = std::string(name) + ": of fault " + std::to_string(nth) +
                   " got another error: " + e.what();
      return all;
    }
    if (!failed) return all;  // no fault occurred: done
    all.faults = nth;
    const std::string grown = memory.grown();
    if (grown.empty()) continue;
    all.report = std::string(name) + ": after fault " + std::to_string(nth) +
                 " tensors hold more than before: " + grown;
    return all;
  }
}

/// Run the work repeatedly, with its 1st, 2nd, ... allocation on a simulated device failing, until
/// no fault occurs. The work must propagate OutOfMemoryError and keep no tensors: the memory in use
/// by tensors must not grow. Run it once before, so that its caches are filled. Errors:
/// BackendError for a device that is not simulated.
inline FaultReport with_each_allocation_failing(Device device, const std::function<void()>& work) {
  return with_each_fault<OutOfMemoryError, FailingAllocation>("with_each_allocation_failing",
                                                              device, work);
}
/// As above, with the 1st, 2nd, ... kernel failing; the work must propagate BackendError.
inline FaultReport with_each_kernel_failing(Device device, const std::function<void()>& work) {
  return with_each_fault<BackendError, FailingKernel>("with_each_kernel_failing", device, work);
}

}  // namespace ambit::test
