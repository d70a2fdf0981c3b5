#include "blocks.h"

#include <string_view>
#include <utility>

namespace ambit::check {

Blocks& Blocks::get() {
  static auto* const blocks = new Blocks;
  return *blocks;
}

// The block that contains the address.
Blocks::Block* Blocks::find(const void* memory) {
  const auto address = reinterpret_cast<uintptr_t>(memory);
  auto block = blocks_.upper_bound(address);
  if (!memory || block == blocks_.begin()) return nullptr;
  --block;
  return address < block->first + block->second.bytes ? &block->second : nullptr;
}

void Blocks::allocated(Device device, const void* memory, size_t bytes) {
  SharedStack stack = shared_stack();
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(memory);
  if (const auto stale = blocks_.find(address); stale != blocks_.end()) remove(stale);
  Block& block = blocks_[address];
  block.device = device;
  block.begin = static_cast<const char*>(memory);
  block.bytes = bytes;
  block.origin.made = std::move(stack);
  if (device.is_cpu()) return;
  Use& use = uses_[device.str()];
  use.bytes += bytes;
  use.modules[""] += bytes;
  use.is_peak |= use.bytes > use.peak.bytes;
}

size_t Blocks::freed(const void* memory) {
  const std::lock_guard lock(mutex_);
  const auto block = blocks_.find(reinterpret_cast<uintptr_t>(memory));
  if (block == blocks_.end()) return 0;
  const size_t bytes = block->second.bytes;
  remove(block);
  return bytes;
}

void Blocks::remove(Map::iterator block) {
  if (!block->second.device.is_cpu()) {
    Use& use = uses_[block->second.device.str()];
    record_peak(use);
    use.bytes -= block->second.bytes;
    use.modules[block->second.label] -= block->second.bytes;
  }
  blocks_.erase(block);
}

// Modules are known after the allocation, so a peak is recorded before the next change.
void Blocks::record_peak(Use& use) {
  if (use.is_peak) use.peak = {use.bytes, use.modules};
  use.is_peak = false;
}

void Blocks::set_label(Block& block, const std::string& label) {
  if (!block.label.empty() || label.empty()) return;
  block.label = label;
  if (block.device.is_cpu()) return;
  Use& use = uses_[block.device.str()];
  use.modules[""] -= block.bytes;
  use.modules[label] += block.bytes;
}

void Blocks::moved(Device from_device, const void* from, const void* to) {
  SharedStack stack = shared_stack();
  const std::lock_guard lock(mutex_);
  Block* target = find(to);
  if (!target) return;
  const Block* source = find(from);
  if (target->is_new) {
    const SharedStack made = source ? source->origin.made : nullptr;
    target->origin = source ? source->origin : Origin();
    target->origin.made = made;
    target->origin.factories.clear();
  }
  target->is_new = false;
  target->origin.moved = std::move(stack);
  target->origin.from = from_device;
}

Origin Blocks::origin_of(const void* memory) {
  const std::lock_guard lock(mutex_);
  const Block* block = find(memory);
  if (!block) return {};
  Origin origin = block->origin;
  origin.factories = factories_of(*block);
  return origin;
}

size_t Blocks::steps() {
  const std::lock_guard lock(mutex_);
  return updates_ > 0 ? updates_ : reads_;
}

bool Blocks::has_optimizer() {
  const std::lock_guard lock(mutex_);
  return updates_ > 0;
}

std::map<std::string, Peak> Blocks::peaks() {
  const std::lock_guard lock(mutex_);
  std::map<std::string, Peak> peaks;
  for (auto& [device, use] : uses_) {
    record_peak(use);
    peaks[device] = use.peak;
  }
  return peaks;
}

}  // namespace ambit::check
