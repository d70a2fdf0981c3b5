// Seeds and random state, one generator per device, all Philox (backend/philox.h): the same seed
// gives the same numbers on every backend. Generators of one's own can be made beside them.
#pragma once

#include <ambit/device.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace ambit {

class Tensor;

/// Position in a random stream. A handle: copies share the position, clone() makes another. One
/// made by Generator() is undefined. Thread-safe. Errors of all that read or move an undefined one:
/// Error.
class AMBIT_API Generator {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721;  // PyTorch's

  Generator() = default;
  /// Make a generator at the begin of the seed's stream, for random ops on this device.
  explicit Generator(Device device, uint64_t seed = kDefaultSeed);

  bool defined() const { return state_ != nullptr; }
  /// Return whether both are one generator.
  bool operator==(const Generator& other) const { return state_ == other.state_; }
  Device device() const { return state().device; }

  /// Go to the begin of the seed's stream.
  void set_current_seed(uint64_t seed) const;
  void set_seed(uint64_t seed) const { set_current_seed(seed); }
  uint64_t current_seed() const { return state().seed.load(); }
  /// The same. (libtorch's seed() takes a new seed from the system: that is std::random_device.)
  uint64_t seed() const { return current_seed(); }
  /// Blocks of four 32-bit words taken since the seed was set.
  uint64_t offset() const { return state().offset.load(); }
  /// Claim the next `blocks` blocks of four 32-bit words; return the first one's number.
  uint64_t advance(uint64_t blocks) const { return state().offset.fetch_add(blocks); }

  /// Return seed and offset, as bytes: uint8 [16] on the cpu. Errors: OutOfMemoryError.
  Tensor get_state() const;
  /// Go to where a generator was when its get_state() gave this; on whatever device it was.
  /// Errors: DTypeError, ShapeError for what is not uint8 [16]; Error for one that is undefined,
  /// not on the cpu or not contiguous. The generator is then as it was.
  void set_state(const Tensor& new_state) const;
  /// Return another generator at the same position.
  Generator clone() const;
  /// For those who set a seed and draw while no other thread shall; nothing here locks it.
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
/// Seed every device's generator, those of devices not yet used too.
AMBIT_API void manual_seed(uint64_t seed);

}  // namespace ambit
