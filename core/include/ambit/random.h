// Seeds and random state, one generator per device, all Philox (backend/philox.h): the same seed
// gives the same numbers on every backend.
#pragma once

#include <ambit/device.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace ambit {

/// Position in a random stream: a handle, whose copies share the position. Every device has one,
/// which random ops use that are not given another; one stream may serve tensors of any device.
/// Thread-safe.
class AMBIT_API Generator {
 public:
  /// Make a stream of its own.
  explicit Generator(uint64_t seed = kDefaultSeed) : state_(std::make_shared<State>()) {
    state_->seed = seed;
  }

  /// Begin the stream of this seed.
  void set_seed(uint64_t seed);
  void set_current_seed(uint64_t seed) { set_seed(seed); }
  uint64_t seed() const { return state_->seed.load(); }
  uint64_t current_seed() const { return seed(); }
  uint64_t offset() const { return state_->offset.load(); }
  /// Go to a place in the stream, one that offset() has returned.
  void set_offset(uint64_t offset) { state_->offset.store(offset); }
  /// Claim the next `blocks` blocks of four 32-bit words; return the first one's number.
  uint64_t advance(uint64_t blocks) { return state_->offset.fetch_add(blocks); }
  /// Return another stream at the same position.
  Generator clone() const;
  /// Return whether both are handles on one stream.
  friend bool operator==(const Generator& a, const Generator& b) { return a.state_ == b.state_; }

  static constexpr uint64_t kDefaultSeed = 67280421310721;  ///< PyTorch's

 private:
  struct State {
    std::atomic<uint64_t> seed{kDefaultSeed};
    std::atomic<uint64_t> offset{0};
  };
  std::shared_ptr<State> state_;
};

/// Return the generator that random ops on this device use.
AMBIT_API Generator& default_generator(Device device = {});
/// Seed every device's generator, those of devices not yet used too.
AMBIT_API void manual_seed(uint64_t seed);

}  // namespace ambit
