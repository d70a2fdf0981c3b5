// Seeds and random state: one generator per device, all Philox (backend/philox.h), so that the same
// seed gives the same numbers on every backend. Programs can create further generators.
#pragma once

#include <ambit/device.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace ambit {

class Tensor;

/// A position in a random stream. A handle: copies share the position, clone() makes an independent
/// one. Generator() is undefined. Thread-safe. Errors of all members that read or advance an
/// undefined one: Error.
class AMBIT_API Generator {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721;  ///< PyTorch's

  /// An undefined generator.
  Generator() = default;
  /// Create a generator at the start of the seed's stream, for random ops on this device.
  explicit Generator(Device device, uint64_t seed = kDefaultSeed);

  /// Return false for Generator().
  bool defined() const { return state_ != nullptr; }
  /// Return true if both are handles to the same generator.
  bool operator==(const Generator& other) const { return state_ == other.state_; }
  /// Return the device that it was created for.
  Device device() const { return state().device; }

  /// Go to the start of the seed's stream.
  void set_current_seed(uint64_t seed) const;
  /// Same as set_current_seed().
  void set_seed(uint64_t seed) const { set_current_seed(seed); }
  /// Return the seed that was set last.
  uint64_t current_seed() const { return state().seed.load(); }
  /// Same as current_seed(). (libtorch's seed() draws a new seed from the system: use
  /// std::random_device.)
  uint64_t seed() const { return current_seed(); }
  /// Return the number of blocks of four 32-bit words used since the seed was set.
  uint64_t offset() const { return state().offset.load(); }
  /// Claim the next `blocks` blocks of four 32-bit words; return the number of the first one.
  uint64_t advance(uint64_t blocks) const { return state().offset.fetch_add(blocks); }

  /// Return seed and offset as a uint8 tensor [16] on the cpu. Errors: OutOfMemoryError.
  Tensor get_state() const;
  /// Restore a state returned by get_state() of a generator on any device. Errors: DTypeError,
  /// ShapeError unless it is uint8 [16]; Error for one that is undefined, not on the cpu or not
  /// contiguous. The generator is then unchanged.
  void set_state(const Tensor& new_state) const;
  /// Return an independent generator at the same position.
  Generator clone() const;
  /// Return a mutex for callers that must set a seed and draw atomically; members of this class do
  /// not lock the mutex.
  std::mutex& mutex() const { return state().mutex; }

 private:
  struct State {
    State(Device d, uint64_t s) : device(d), seed(s) {}
    Device device;
    std::atomic<uint64_t> seed, offset{0};
    std::mutex mutex;
  };
  State& state() const {
    if (!state_) throw_undefined();
    return *state_;
  }
  [[noreturn]] static void throw_undefined();

  std::shared_ptr<State> state_;
};

/// Return the generator that random ops on this device use.
AMBIT_API Generator& default_generator(Device device = {});
/// Seed every device's generator, including devices not used yet.
AMBIT_API void manual_seed(uint64_t seed);

}  // namespace ambit
