// One generator per device, made when first asked for and kept for ever.
#include <ambit/detail/memory_errors.h>
#include <ambit/random.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace ambit {

void Generator::set_seed(uint64_t seed) {
  state_->seed.store(seed);
  state_->offset.store(0);
}

Generator Generator::clone() const {
  Generator copy(seed());
  copy.set_offset(offset());
  return copy;
}

namespace {

struct Generators {
  std::mutex mutex;
  std::map<std::pair<DeviceKind, int>, std::unique_ptr<Generator>> by_device;
  uint64_t seed = Generator().seed();
};

// Leaked: tensors in globals may still draw numbers while the program ends.
Generators& generators() {
  static auto* g = new Generators;
  return *g;
}

}  // namespace

Generator& default_generator(Device device) {
  return typed_memory_errors("default_generator", [device]() -> Generator& {
    Generators& all = generators();
    const std::lock_guard lock(all.mutex);
    std::unique_ptr<Generator>& g = all.by_device[{device.kind(), device.index()}];
    if (!g) {  // also where there was no memory for it before
      auto made = std::make_unique<Generator>();
      made->set_seed(all.seed);
      g = std::move(made);
    }
    return *g;
  });
}

void manual_seed(uint64_t seed) {
  Generators& all = typed_memory_errors("manual_seed", generators);
  const std::lock_guard lock(all.mutex);
  all.seed = seed;
  for (auto& [device, g] : all.by_device) {
    if (g) g->set_seed(seed);
  }
}

}  // namespace ambit
