// A simulated device: memory, a queue of work, and the faults requested by tests.
#pragma once

#include <ambit/backend/caching_allocator.h>

#include <cstddef>
#include <functional>
#include <string>

#include "arena.h"
#include "faults.h"
#include "queue.h"

namespace ambit::sim {

/// Thread-safe. Memory is reused in queue order: a freed block that queued work still uses is only
/// reused by later work, as on CUDA.
class SimulatedDevice {
 public:
  /// `name`: the device's name, such as "sim:0".
  explicit SimulatedDevice(std::string name);

  const std::string& name() const { return name_; }
  Queue& queue() { return queue_; }
  Faults& faults() { return faults_; }
  Arena& arena() { return arena_; }
  CachingAllocator& allocator() { return allocator_; }

  /// Errors: OutOfMemoryError.
  void* allocate(size_t bytes);
  /// Queue a kernel of `op`; `work` accesses memory through device_view().
  void launch(const char* op, std::function<void()> work);
  /// Queue a copy to or from this device.
  Queue::Ticket launch_copy(std::function<void()> work);
  /// Wait for all work. Errors: the first error since the last call.
  void synchronize();

 private:
  const std::string name_;
  Queue queue_{name_.c_str()};
  Faults faults_;
  Arena arena_{name_.c_str(), queue_};
  CachingAllocator allocator_{arena_, name_};
};

}  // namespace ambit::sim
