// One generator per device, created on first use and kept until the process ends.
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/random.h>

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

namespace ambit {

Generator::Generator(Device device, uint64_t seed) {
  typed_memory_errors("Generator", [&] { state_ = std::make_shared<State>(device, seed); });
}

void Generator::throw_undefined() {
  throw Error("Generator: expected a defined generator, got an undefined one");
}

void Generator::set_current_seed(uint64_t seed) const {
  State& s = state();
  s.seed.store(seed);
  s.offset.store(0);
}

// --- state: the two numbers, in native byte order, like libtorch's Philox state on CUDA

namespace {
using Numbers = std::array<uint64_t, 2>;  // seed, offset
}  // namespace

Tensor Generator::get_state() const {
  const State& s = state();
  const Numbers numbers{s.seed.load(), s.offset.load()};
  Tensor bytes = empty({sizeof(Numbers)}, TensorOptions(kUInt8).device(kCPU));
  std::memcpy(bytes.data_ptr(), numbers.data(), sizeof(Numbers));
  return bytes;
}

void Generator::set_state(const Tensor& new_state) const {
  State& s = state();
  if (!new_state.defined()) throw Error("set_state: expected a tensor, got an undefined one");
  if (new_state.dtype() != kUInt8) {
    throw DTypeError(fmt::format("set_state: expected uint8, got {}", name(new_state.dtype())));
  }
  if (new_state.dim() != 1 || new_state.size(0) != sizeof(Numbers)) {
    throw ShapeError(
        fmt::format("set_state: expected [{}], got {}", sizeof(Numbers), str(new_state.sizes())));
  }
  if (!new_state.is_cpu() || !new_state.is_contiguous()) {
    throw Error("set_state: expected a contiguous tensor on the cpu, got another tensor");
  }
  Numbers numbers{};
  std::memcpy(numbers.data(), new_state.data_ptr(), sizeof(Numbers));
  s.seed.store(numbers[0]);
  s.offset.store(numbers[1]);
}

Generator Generator::clone() const {
  const State& s = state();
  Generator other(s.device, s.seed.load());
  other.state_->offset.store(s.offset.load());
  return other;
}

// --- default generators

namespace {

struct Generators {
  std::mutex mutex;
  std::map<std::pair<DeviceKind, int>, Generator> by_device;
  uint64_t seed = Generator::kDefaultSeed;
};

// Leaked: tensors in globals may still use it while the program ends.
Generators& generators() {
  static auto* g = new Generators;
  return *g;
}

}  // namespace

Generator& default_generator(Device device) {
  return typed_memory_errors("default_generator", [device]() -> Generator& {
    Generators& all = generators();
    const std::lock_guard lock(all.mutex);
    Generator& g = all.by_device[{device.kind(), device.index()}];
    if (!g.defined()) g = Generator(device, all.seed);  // also after an earlier lack of memory
    return g;
  });
}

void manual_seed(uint64_t seed) {
  Generators& all = typed_memory_errors("manual_seed", generators);
  const std::lock_guard lock(all.mutex);
  all.seed = seed;
  for (const auto& [device, g] : all.by_device) {
    if (g.defined()) g.set_current_seed(seed);
  }
}

}  // namespace ambit
