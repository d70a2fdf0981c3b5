#include "simulated_device.h"

#include <ambit/error.h>
#include <fmt/format.h>

#include <utility>

namespace ambit::sim {
namespace {

[[noreturn]] void fail(const char* op, const std::string& device) {
  throw BackendError(fmt::format(
      "{}: expected it to succeed on {}, got the fault that a test requested", op, device));
}

}  // namespace

SimulatedDevice::SimulatedDevice(std::string name) : name_(std::move(name)) {}

void* SimulatedDevice::allocate(size_t bytes) {
  if (!faults_.strikes_allocation()) return allocator_.allocate(bytes);
  const MemoryStats stats = allocator_.stats();
  const size_t limit = arena_.limit(), held = stats.in_use + stats.cached;
  throw OutOfMemoryError(fmt::format(
      "allocate: expected {} bytes on {}, got out of memory, the fault that a test requested: in "
      "use {} bytes, cached {} bytes, free {} bytes",
      bytes, name_, stats.in_use, stats.cached, limit > held ? limit - held : 0));
}

void SimulatedDevice::launch(const char* op, std::function<void()> work) {
  if (faults_.strikes_kernel(op)) work = [op, this] { fail(op, name_); };
  queue_.push(op, std::move(work));
}

Queue::Ticket SimulatedDevice::launch_copy(std::function<void()> work) {
  if (faults_.strikes_copy()) work = [this] { fail("copy", name_); };
  return queue_.push("copy", std::move(work));
}

void SimulatedDevice::synchronize() {
  queue_.wait();
  queue_.throw_error();
}

}  // namespace ambit::sim
