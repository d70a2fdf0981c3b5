#include "pinned_allocator.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace ambit::cuda {
namespace {

constexpr size_t kPageBytes = 4096;  // the smallest size that can be pinned

bool all_passed(const std::vector<std::shared_ptr<Fence>>& fences) {
  return std::all_of(fences.begin(), fences.end(), [](const auto& f) { return f->passed(); });
}

}  // namespace

PinnedAllocator::~PinnedAllocator() { release_all(); }

// Sizes are powers of two, so that batches of similar size share blocks.
void* PinnedAllocator::allocate(size_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes > PTRDIFF_MAX) throw_out_of_memory("pinned memory", bytes, stats_, raw_.free_bytes());
  const size_t block_bytes = std::bit_ceil(std::max(bytes, kPageBytes));
  reap();
  char* p;
  if (const auto fit = free_.find(block_bytes); fit != free_.end()) {
    p = fit->second;
    free_.erase(fit);
    stats_.cached -= block_bytes;
  } else {
    const MemoryStats before = stats_;
    ++stats_.system_allocations;
    p = static_cast<char*>(raw_.allocate(block_bytes));
    if (!p) {
      release_all();
      p = static_cast<char*>(raw_.allocate(block_bytes));
    }
    if (!p) throw_out_of_memory("pinned memory", bytes, before, raw_.free_bytes());
  }
  in_use_.emplace(p, Block{block_bytes, {}});
  stats_.in_use += block_bytes;
  stats_.allocated += block_bytes;
  stats_.peak_in_use = std::max(stats_.peak_in_use, stats_.in_use);
  return p;
}

bool PinnedAllocator::use(const void* p, std::unique_ptr<Fence> fence) {
  const std::scoped_lock lock(mutex_);
  Block* block = block_around(p);
  if (!block) return false;
  std::erase_if(block->fences, [](const auto& f) { return f->passed(); });
  block->fences.push_back(std::move(fence));
  return true;
}

// Release the lock while waiting: other threads may allocate, or wait for the same fences.
void PinnedAllocator::wait(const void* p) {
  std::vector<std::shared_ptr<Fence>> fences;
  {
    const std::scoped_lock lock(mutex_);
    if (const Block* block = block_around(p)) fences = block->fences;
  }
  for (const auto& fence : fences) fence->wait();
}

void PinnedAllocator::free(void* p) noexcept {
  const std::scoped_lock lock(mutex_);
  auto block = in_use_.extract(static_cast<char*>(p));
  stats_.in_use -= block.mapped().bytes;
  stats_.cached += block.mapped().bytes;
  waiting_.insert(std::move(block));
  reap();
}

MemoryStats PinnedAllocator::stats() const {
  const std::scoped_lock lock(mutex_);
  return stats_;
}

void PinnedAllocator::empty_cache() {
  const std::scoped_lock lock(mutex_);
  release_all();
}

// Return the block in use around p, null if there is none.
PinnedAllocator::Block* PinnedAllocator::block_around(const void* p) {
  auto* address = static_cast<char*>(const_cast<void*>(p));
  auto block = in_use_.upper_bound(address);
  if (block == in_use_.begin()) return nullptr;
  --block;
  return address < block->first + block->second.bytes ? &block->second : nullptr;
}

void PinnedAllocator::reap() noexcept {
  for (auto block = waiting_.begin(); block != waiting_.end();) {
    if (!all_passed(block->second.fences)) {
      ++block;
      continue;
    }
    free_.emplace(block->second.bytes, block->first);
    block = waiting_.erase(block);
  }
}

void PinnedAllocator::release_all() noexcept {
  reap();
  for (const auto& [bytes, p] : free_) {
    raw_.free(p, bytes);
    stats_.cached -= bytes;
  }
  free_.clear();
}

}  // namespace ambit::cuda
