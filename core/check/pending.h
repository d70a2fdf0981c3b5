// Finds copies that may end after their call and whose memory is used too early.
#pragma once

#include <ambit/device.h>

#include <cstddef>
#include <mutex>
#include <vector>

#include "stack.h"

namespace ambit::check {

/// A copy between pinned memory of the host and a device.
struct PendingCopy {
  Device device;
  bool to_device = false;
  const char* host = nullptr;
  size_t bytes = 0;
  size_t contents = 0;  ///< a hash of the source on the host at the call
  SharedStack stack;
};

class PendingCopies {
 public:
  /// Return the copies of the process. They are never destroyed.
  static PendingCopies& get();

  void add(PendingCopy copy);
  /// The host waits for all work of the device. Return the copies whose sources have changed.
  std::vector<PendingCopy> finish(Device device);
  /// The host reads the block and waits for the device's copies to it. Return those that it had not
  /// waited for.
  std::vector<PendingCopy> read(Device device, const void* host);
  /// The memory is freed, after all copies have ended. Return the copies whose sources have
  /// changed.
  std::vector<PendingCopy> forget(const void* memory, size_t bytes);
  /// A kernel writes the memory. Return the copies that read it.
  std::vector<PendingCopy> written(const void* memory, size_t bytes);

 private:
  template <class Select, class Report>
  std::vector<PendingCopy> take(const Select& select, const Report& report);

  std::mutex mutex_;
  std::vector<PendingCopy> copies_;
};

/// Return a hash of at most a megabyte; not 0.
size_t hash_of(const void* data, size_t bytes);

}  // namespace ambit::check
