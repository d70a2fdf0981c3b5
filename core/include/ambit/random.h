// Seeds and random state, one generator per device, all Philox (backend/philox.h): the same seed
// gives the same numbers on every backend.
#pragma once

#include <ambit/device.h>

#include <atomic>
#include <cstdint>

namespace ambit {

/// Position in a device's random stream. Thread-safe.
class AMBIT_API Generator {
 public:
  void set_seed(uint64_t seed);
  uint64_t seed() const { return seed_.load(); }
  uint64_t offset() const { return offset_.load(); }
  /// Claim the next `blocks` blocks of four 32-bit words; return the first one's number.
  uint64_t advance(uint64_t blocks) { return offset_.fetch_add(blocks); }

 private:
  std::atomic<uint64_t> seed_{67280421310721};  // PyTorch's default seed
  std::atomic<uint64_t> offset_{0};
};

/// Return the generator that random ops on this device use.
AMBIT_API Generator& default_generator(Device device = {});
/// Seed every device's generator, those of devices not yet used too.
AMBIT_API void manual_seed(uint64_t seed);

}  // namespace ambit
