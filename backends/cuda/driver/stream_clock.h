// Counts the calls on one stream, to determine which calls of other streams must precede new work.
// Independent of CUDA, so that tests run on any machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace ambit::cuda {

class GraphMemory;

/// begin() precedes the ordering after other calls; end() marks that all work of the call is on the
/// stream. Only then can another stream be ordered after it. Used by one thread at a time, except
/// where noted.
class StreamClock {
 public:
  /// `number` identifies the stream on its GPU, from 0.
  explicit StreamClock(int number) : id(number) {}
  StreamClock(const StreamClock&) = delete;
  StreamClock& operator=(const StreamClock&) = delete;

  const int id;

  void begin() {
    // Sequentially consistent, as required by BlockAllocator::is_alone().
    begun_.store(begun_.load(std::memory_order_relaxed) + 1);
  }
  void end() {
    const uint64_t now = begun_.load(std::memory_order_relaxed);
    if (queued_.load(std::memory_order_relaxed) == now) return;
    queued_.store(now, std::memory_order_release);  // publishes the call's work on the stream
    queued_.notify_all();
  }

  /// Thread-safe: return the number of the last call begun, and of the last call queued.
  uint64_t begun() const { return begun_.load(); }
  uint64_t queued() const { return queued_.load(std::memory_order_acquire); }
  /// Thread-safe: block the host until a call is queued.
  void wait_until_queued(uint64_t call) const {
    for (uint64_t q = queued(); q < call; q = queued()) queued_.wait(q, std::memory_order_acquire);
  }

  /// By stream id, the last call after which this stream's next work is ordered. Guarded by the
  /// allocator's mutex.
  std::vector<uint64_t> known;

  /// Memory of the graph being captured from this stream, null if none. Captured work does not run.
  GraphMemory* graph = nullptr;

 private:
  std::atomic<uint64_t> begun_{0}, queued_{0};  // written by one thread, whose loads are relaxed
};

}  // namespace ambit::cuda
