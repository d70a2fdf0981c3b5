// A simulated GPU for tests of the allocator: streams with exactly tracked ordering, and limited
// memory.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <mutex>
#include <vector>

#include "backends/cuda/memory/block_allocator.h"

namespace ambit::cuda {

inline constexpr size_t kMiB = size_t{1} << 20;
inline constexpr int kStreams = 4;

/// Addresses without memory; free waits for all streams, as cudaFree does.
class FakeGpu final : public RawMemory, public StreamOrder {
 public:
  explicit FakeGpu(size_t limit) : limit_(limit) {}

  void* allocate(size_t bytes) override {
    if (bytes > limit_ - used_) return nullptr;
    used_ += bytes;
    char* p = next_;
    next_ += bytes;
    live_[p] = bytes;
    return p;
  }
  void free(void* p, size_t bytes) noexcept override {
    const auto segment = live_.find(static_cast<char*>(p));
    REQUIRE(segment != live_.end());
    REQUIRE(segment->second == bytes);
    live_.erase(segment);
    used_ -= bytes;
  }
  size_t free_bytes() override { return limit_ - used_; }

  /// Vector clocks: known_[s][t] is the last work of stream t that is ordered before stream s.
  void order(int before, int after) override {
    const std::lock_guard lock(mutex_);
    ++orders;
    for (int t = 0; t < kStreams; ++t)
      known_[after][t] = std::max(known_[after][t], known_[before][t]);
  }
  /// Queue work of a stream on a block; count it as a race if it overlaps unordered writes of other
  /// streams or, if it writes, any unordered accesses.
  void work(const void* p, size_t bytes, int stream, bool writes = true) {
    const std::lock_guard lock(mutex_);
    const auto* begin = static_cast<const char*>(p);
    const int now = ++known_[stream][stream];
    for (const Use& use : uses_) {
      if (use.end <= begin || begin + bytes <= use.begin || (!writes && !use.writes)) continue;
      races += known_[stream][use.stream] < use.time;
    }
    // Remove earlier uses within these bytes: later work is compared with this use instead.
    std::erase_if(uses_, [&](const Use& u) {
      return begin <= u.begin && u.end <= begin + bytes &&
             (writes || (u.stream == stream && !u.writes));
    });
    uses_.push_back({begin, begin + bytes, stream, now, writes});
  }
  size_t used() const { return used_; }
  int orders = 0, races = 0;

 private:
  struct Use {
    const char *begin, *end;
    int stream, time;
    bool writes;
  };
  const size_t limit_;
  size_t used_ = 0;
  char* next_ = reinterpret_cast<char*>(uintptr_t{1} << 40);
  std::map<char*, size_t> live_;
  std::mutex mutex_;  // guards the following members
  std::vector<Use> uses_;
  int known_[kStreams][kStreams] = {};
};

/// An allocator on the simulated GPU, and calls on its streams.
struct Simulation {
  explicit Simulation(size_t limit) : gpu(limit), a(gpu, gpu, "cuda:0") {}

  char* allocate(size_t bytes, int stream) {
    return static_cast<char*>(a.allocate(bytes, clock(stream)));
  }
  struct Call {
    explicit Call(StreamClock& of) : clock(of) { clock.begin(); }
    ~Call() { clock.end(); }
    StreamClock& clock;
  };
  void call(int stream, std::initializer_list<Access> accesses, size_t bytes) {
    const Call scope(clock(stream));
    a.use({accesses.begin(), accesses.size()}, clock(stream));
    for (const Access& access : accesses) gpu.work(access.p, bytes, stream, access.writes);
  }
  void write(int stream, const void* p, size_t bytes) { call(stream, {{p, true}}, bytes); }
  void read(int stream, const void* p, size_t bytes) { call(stream, {{p, false}}, bytes); }
  /// A call with its own scratch memory, which is not enlisted.
  void scratch(int stream, size_t bytes) {
    const Call scope(clock(stream));
    char* p = allocate(bytes, stream);
    gpu.work(p, bytes, stream);
    a.free(p);
  }
  StreamClock& clock(int stream) { return clocks[static_cast<size_t>(stream)]; }

  FakeGpu gpu;
  std::array<StreamClock, kStreams> clocks{StreamClock(0), StreamClock(1), StreamClock(2),
                                           StreamClock(3)};
  BlockAllocator a;
};

}  // namespace ambit::cuda
