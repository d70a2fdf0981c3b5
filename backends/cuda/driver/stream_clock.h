// Counts the calls of one stream, so that it can be told which of them others come after. No CUDA
// here: tested on any machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace ambit::cuda {

class GraphMemory;

/// A call is begun before it orders itself behind others, and queued when all its work is on the
/// stream: only from then on can another stream be ordered behind it. Of one thread at a time, but
/// for what says otherwise.
class StreamClock {
 public:
  /// `number` tells streams of one GPU apart, from 0.
  explicit StreamClock(int number) : id(number) {}
  StreamClock(const StreamClock&) = delete;
  StreamClock& operator=(const StreamClock&) = delete;

  const int id;

  void begin() {
    // Sequentially consistent, as BlockAllocator::is_alone() needs it.
    begun_.store(begun_.load(std::memory_order_relaxed) + 1);
  }
  void end() {
    const uint64_t now = begun_.load(std::memory_order_relaxed);
    if (queued_.load(std::memory_order_relaxed) == now) return;
    queued_.store(now, std::memory_order_release);
    queued_.notify_all();
  }

  /// Any thread's: the number of the last call begun, and of the last that is queued.
  uint64_t begun() const { return begun_.load(); }
  uint64_t queued() const { return queued_.load(std::memory_order_acquire); }
  /// Any thread's: wait, on the host, until a call is queued.
  void wait_until_queued(uint64_t call) const {
    for (uint64_t q = queued(); q < call; q = queued()) queued_.wait(q, std::memory_order_acquire);
  }

  /// By id, the last call of each stream that this one's next work comes after. The allocator's: it
  /// guards it.
  std::vector<uint64_t> known;

  /// Of the graph that is captured from the stream, whose work then runs at no time; else null.
  GraphMemory* graph = nullptr;

 private:
  std::atomic<uint64_t> begun_{0}, queued_{0};
};

}  // namespace ambit::cuda
