#include <ambit/backend/registry.h>
#include <ambit/detail/planned_memory.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "planned_blocks.h"

namespace ambit {
namespace {

constexpr size_t kAlignment = 64;  // of memory that Backend::allocate() returns

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool live_together(const PlannedBlock& a, const PlannedBlock& b) {
  return a.first < b.last && b.first < a.last;
}

}  // namespace

size_t arrange(std::span<PlannedBlock> blocks) {
  std::vector<PlannedBlock*> largest_first, placed;  // `placed` is sorted by offset
  for (PlannedBlock& b : blocks) {
    if (!b.outlives_run()) largest_first.push_back(&b);
  }
  std::stable_sort(
      largest_first.begin(), largest_first.end(),
      [](const PlannedBlock* a, const PlannedBlock* b) { return a->bytes > b->bytes; });
  size_t total = 0;
  for (PlannedBlock* b : largest_first) {
    size_t offset = 0;
    for (const PlannedBlock* other : placed) {
      if (!live_together(*b, *other)) continue;
      if (other->offset >= offset + aligned(b->bytes)) break;
      offset = std::max(offset, other->offset + aligned(other->bytes));
    }
    b->offset = offset;
    total = std::max(total, offset + aligned(b->bytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), b,
                                   [](const PlannedBlock* x, const PlannedBlock* y) {
                                     return x->offset < y->offset;
                                   }),
                  b);
  }
  return total;
}

constinit thread_local PlannedMemory::Blocks* running = nullptr;

PlannedMemory::Blocks::Blocks(Device device) : device_(device), inner_(usable_backend(device)) {}

PlannedMemory::Blocks::~Blocks() {
  if (arena_) inner_.free(device_.index(), arena_, arena_bytes_);
  for (size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i].data) inner_.free(device_.index(), kept_[i].data, blocks_[i].bytes);
  }
}

void PlannedMemory::Blocks::begin_run() {
  const std::lock_guard lock(lock_);
  if (!is_arranged_) {
    blocks_.clear();
    recorded_.clear();
    first_of_step_.clear();
    now_ = 0;
  }
  step_ = 0;
  next_ = end_ = 0;
  phase_ = is_arranged_ ? Phase::replaying : Phase::recording;
}

void PlannedMemory::Blocks::end_run() {
  const std::lock_guard lock(lock_);
  phase_ = Phase::idle;
  recorded_.clear();
}

void PlannedMemory::Blocks::step(uint32_t i) {
  const std::lock_guard lock(lock_);
  step_ = i;
  if (phase_ == Phase::recording) {
    first_of_step_.resize(size_t{i} + 1, blocks_.size());
  } else if (size_t{i} + 1 < first_of_step_.size()) {
    next_ = first_of_step_[i];
    end_ = first_of_step_[size_t{i} + 1];
  } else {
    next_ = end_ = 0;
  }
}

void PlannedMemory::Blocks::arrange() {
  const std::lock_guard lock(lock_);
  first_of_step_.push_back(blocks_.size());
  arena_bytes_ = ambit::arrange(blocks_);
  kept_.resize(blocks_.size());
  places_.reserve(blocks_.size());
  if (arena_bytes_ > 0) {
    arena_ = static_cast<char*>(inner_.allocate(device_.index(), arena_bytes_));
  }
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (!blocks_[i].outlives_run()) continue;
    kept_[i].data = inner_.allocate(device_.index(), blocks_[i].bytes);
  }
  is_arranged_ = true;
}

void* PlannedMemory::Blocks::allocate(int index, size_t bytes) {
  const std::lock_guard lock(lock_);
  void* p = nullptr;
  const bool runs = running == this;  // false if a result is converted after the run
  if (runs && phase_ == Phase::recording) {
    p = record(bytes);
  } else if (runs && phase_ == Phase::replaying) {
    p = replay(bytes);
  }
  if (!p) p = inner_.allocate(index, bytes);
  if (p && tensors_++ == 0) self_ = shared_from_this();
  return p;
}

void* PlannedMemory::Blocks::record(size_t bytes) {
  void* const p = inner_.allocate(device_.index(), bytes);
  if (!p) return p;
  recorded_[p] = static_cast<uint32_t>(blocks_.size());
  blocks_.push_back({.bytes = bytes, .step = step_, .first = now_++});
  return p;
}

void* PlannedMemory::Blocks::replay(size_t bytes) {
  for (size_t i = next_; i < end_; ++i) {
    if (blocks_[i].bytes != bytes) continue;
    next_ = i + 1;
    if (void* p = take(i)) return p;
    break;
  }
  ++unplanned_;
  return nullptr;
}

// Return the memory of block i, or null if it is in use: a tensor of an earlier call or run lives
// longer than in the recorded run.
void* PlannedMemory::Blocks::take(size_t i) {
  const PlannedBlock& b = blocks_[i];
  if (b.outlives_run()) {
    Kept& kept = kept_[i];
    if (kept.in_use) return nullptr;
    kept.in_use = kept.data != nullptr;
    return kept.data;
  }
  if (!arena_) return nullptr;
  const Place place{b.offset, b.offset + aligned(b.bytes)};
  for (const Place& other : places_) {
    if (place.begin < other.end && other.begin < place.end) return nullptr;
  }
  places_.push_back(place);
  return arena_ + b.offset;
}

// Return false if p is memory of the backend.
bool PlannedMemory::Blocks::give_back(void* p) noexcept {
  auto* const at = static_cast<char*>(p);
  if (arena_ && at >= arena_ && at < arena_ + arena_bytes_) {
    const auto begin = static_cast<size_t>(at - arena_);
    const auto place = std::find_if(places_.begin(), places_.end(),
                                    [&](const Place& other) { return other.begin == begin; });
    if (place != places_.end()) {
      *place = places_.back();
      places_.pop_back();
    }
    return true;
  }
  for (Kept& kept : kept_) {
    if (kept.data != p) continue;
    kept.in_use = false;
    return true;
  }
  return false;
}

void PlannedMemory::Blocks::free(int index, void* p, size_t bytes) noexcept {
  std::shared_ptr<Blocks> last;  // destroyed after the lock is released
  {
    const std::lock_guard lock(lock_);
    if (phase_ == Phase::recording) {
      const auto block = recorded_.find(p);
      if (block != recorded_.end()) {
        blocks_[block->second].last = now_++;
        recorded_.erase(block);
      }
    }
    if (!give_back(p)) inner_.free(index, p, bytes);
    if (--tensors_ == 0) last = std::move(self_);
  }
}

PlannedMemory::PlannedMemory(Device device) : blocks_(std::make_shared<Blocks>(device)) {}
PlannedMemory::~PlannedMemory() = default;

PlannedMemory::Run::Run(PlannedMemory& memory) : blocks_(*memory.blocks_), before_(running) {
  blocks_.begin_run();
  running = &blocks_;
}

PlannedMemory::Run::~Run() {
  running = before_;
  blocks_.end_run();
}

void PlannedMemory::Run::step(uint32_t i) { blocks_.step(i); }

void PlannedMemory::arrange() { blocks_->arrange(); }
std::span<const PlannedBlock> PlannedMemory::blocks() const { return blocks_->blocks(); }
size_t PlannedMemory::arena_bytes() const { return blocks_->arena_bytes(); }
size_t PlannedMemory::unplanned() const { return blocks_->unplanned(); }

}  // namespace ambit
