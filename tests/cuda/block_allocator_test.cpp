// The allocator of GPU memory, over a simulated device: streams whose order is followed exactly,
// and memory that can run out.
#include "backends/cuda/memory/block_allocator.h"

#include <ambit/error.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

using namespace ambit;
using ambit::cuda::BlockAllocator;
using ambit::cuda::StreamOrder;

namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr int kStreams = 4;

// Addresses without memory behind them; freeing waits for all streams, as cudaFree does.
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

  // Vector clocks: known_[s][t] is the last work of stream t that stream s comes after.
  void order(int before, int after) override {
    ++orders;
    for (int t = 0; t < kStreams; ++t)
      known_[after][t] = std::max(known_[after][t], known_[before][t]);
  }
  // Queue work of a stream on a block, and fail unless it comes after all work on those bytes.
  void work(const void* p, size_t bytes, int stream) {
    const auto* begin = static_cast<const char*>(p);
    const int now = ++known_[stream][stream];
    for (Use& use : uses_) {
      if (use.end <= begin || begin + bytes <= use.begin) continue;
      REQUIRE(known_[stream][use.stream] >= use.time);
    }
    std::erase_if(uses_, [&](const Use& u) { return begin <= u.begin && u.end <= begin + bytes; });
    uses_.push_back({begin, begin + bytes, stream, now});
  }
  size_t used() const { return used_; }
  int orders = 0;

 private:
  struct Use {
    const char *begin, *end;
    int stream, time;
  };
  const size_t limit_;
  size_t used_ = 0;
  char* next_ = reinterpret_cast<char*>(uintptr_t{1} << 40);
  std::map<char*, size_t> live_;
  std::vector<Use> uses_;
  int known_[kStreams][kStreams] = {};
};

}  // namespace

TEST_CASE("a block freed while its stream is at work serves the same stream at once") {
  FakeGpu gpu(100 * kMiB);
  BlockAllocator a(gpu, gpu, "cuda:0");
  void* p = a.allocate(1000, 0);
  gpu.work(p, 1000, 0);
  a.free(p);
  CHECK(a.allocate(900, 0) == p);
  CHECK(gpu.orders == 0);
  CHECK(a.stats().system_allocations == 1);
}

TEST_CASE("a block freed while its stream is at work is not given to another stream") {
  FakeGpu gpu(100 * kMiB);
  BlockAllocator a(gpu, gpu, "cuda:0");
  void* p = a.allocate(1000, 0);
  gpu.work(p, 1000, 0);
  a.free(p);
  void* q = a.allocate(1000, 1);
  CHECK(q != p);
  gpu.work(q, 1000, 1);
}

TEST_CASE("a stream that uses another's block is ordered behind it, and owns it from then on") {
  FakeGpu gpu(100 * kMiB);
  BlockAllocator a(gpu, gpu, "cuda:0");
  char* p = static_cast<char*>(a.allocate(1000, 0));
  gpu.work(p, 1000, 0);
  a.use(p + 600, 1);  // a view of it
  CHECK(gpu.orders == 1);
  gpu.work(p, 1000, 1);
  a.use(p, 1);
  CHECK(gpu.orders == 1);
  a.free(p);
  CHECK(a.allocate(1000, 0) != p);
  CHECK(a.allocate(1000, 1) == p);
  a.use(&gpu, 0);  // no memory of the allocator
  CHECK(gpu.orders == 1);
}

TEST_CASE("blocks are split from segments and merged again") {
  FakeGpu gpu(100 * kMiB);
  BlockAllocator a(gpu, gpu, "cuda:0");
  std::vector<char*> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(static_cast<char*>(a.allocate(kMiB / 2, 0)));
  CHECK(a.stats().system_allocations == 1);  // a segment of 2 MiB holds all four
  CHECK(blocks[3] - blocks[0] == 3 * kMiB / 2);
  for (const int i : {1, 3, 0, 2}) a.free(blocks[static_cast<size_t>(i)]);
  CHECK(a.stats().in_use == 0);
  CHECK(a.stats().cached == 2 * kMiB);
  CHECK(a.allocate(kMiB, 0) == blocks[0]);
  CHECK(a.allocate(kMiB, 0) == blocks[2]);
  CHECK(a.stats().system_allocations == 1);
}

TEST_CASE("every block is aligned to 512 bytes, and holds what was asked for") {
  FakeGpu gpu(4096 * kMiB);
  BlockAllocator a(gpu, gpu, "cuda:0");
  for (const size_t bytes : {size_t{1}, size_t{511}, size_t{513}, kMiB, kMiB + 1, 30 * kMiB + 7}) {
    const size_t before = a.stats().in_use;
    CHECK(reinterpret_cast<uintptr_t>(a.allocate(bytes, 0)) % 512 == 0);
    CHECK(a.stats().in_use - before >= bytes);
  }
}

TEST_CASE("out of memory gives back the cache of all streams, then says what there was") {
  FakeGpu gpu(64 * kMiB);
  BlockAllocator a(gpu, gpu, "cuda:0");
  void* kept = a.allocate(30 * kMiB, 0);
  void* freed = a.allocate(30 * kMiB, 1);
  a.free(freed);
  void* larger = a.allocate(32 * kMiB, 0);  // only when the other segment is gone
  CHECK_THROWS_WITH_AS(
      a.allocate(40 * kMiB, 0),
      "allocate: expected 41943040 bytes (40.0 MiB) on cuda:0, got out of memory: in use 65011712 "
      "bytes (62.0 MiB), cached 0 bytes, free 2097152 bytes (2.0 MiB)",
      OutOfMemoryError);
  CHECK_THROWS_AS(a.allocate(SIZE_MAX, 0), OutOfMemoryError);
  a.free(larger);
  CHECK(a.allocate(32 * kMiB, 0) == larger);
  a.free(larger);
  a.free(kept);
  a.empty_cache();
  CHECK(gpu.used() == 0);
  CHECK(a.stats().cached == 0);
}

TEST_CASE("where the system has no more, a stream waits for another's free block") {
  FakeGpu gpu(2 * kMiB);
  BlockAllocator a(gpu, gpu, "cuda:0");
  void* held = a.allocate(kMiB, 0);  // keeps the segment from going back
  void* p = a.allocate(kMiB, 0);
  gpu.work(p, kMiB, 0);
  a.free(p);
  CHECK(a.allocate(kMiB, 1) == p);
  CHECK(gpu.orders == 1);
  gpu.work(p, kMiB, 1);
  a.free(held);
}

TEST_CASE("blocks never overlap and no work meets memory in flight: 1,000 random programs") {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
    FakeGpu gpu((8 + below(120)) * kMiB);
    BlockAllocator a(gpu, gpu, "cuda:0");
    std::map<char*, size_t> held;
    size_t held_bytes = 0;
    for (int step = 0; step < 200; ++step) {
      const auto stream = static_cast<int>(below(kStreams));
      const size_t action = below(10);
      if (action < 5) {
        const size_t bytes = 1 + below(size_t{1} << (6 + below(20)));
        try {
          auto* p = static_cast<char*>(a.allocate(bytes, stream));
          const auto after = held.lower_bound(p);
          REQUIRE((after == held.end() || p + bytes <= after->first));
          REQUIRE(
              (after == held.begin() || std::prev(after)->first + std::prev(after)->second <= p));
          held.emplace(p, bytes);
          held_bytes += bytes;
          gpu.work(p, bytes, stream);
        } catch (const OutOfMemoryError&) {
        }
      } else if (action < 9 && !held.empty()) {
        const auto block = std::next(held.begin(), static_cast<long>(below(held.size())));
        if (action < 7) {
          a.use(block->first + below(block->second), stream);
          gpu.work(block->first, block->second, stream);
        } else {
          a.free(block->first);
          held_bytes -= block->second;
          held.erase(block);
        }
      } else if (below(20) == 0) {
        a.empty_cache();
      }
      const MemoryStats stats = a.stats();
      REQUIRE(stats.in_use >= held_bytes);
      REQUIRE(stats.in_use + stats.cached == gpu.used());
    }
    for (const auto& [p, bytes] : held) a.free(p);
    a.empty_cache();
    REQUIRE(gpu.used() == 0);
  }
}

TEST_CASE(
    "without a cache every request goes to the system, with its own bytes, and back at once") {
  FakeGpu gpu(64 * kMiB);
  BlockAllocator allocator(gpu, gpu, "cuda:0", /*caches=*/false);
  const size_t before = gpu.free_bytes();
  void* p = allocator.allocate(5, 0);
  CHECK(gpu.free_bytes() == before - 8);  // an atomic reaches whole words
  void* q = allocator.allocate(3 * kMiB, 0);
  CHECK(gpu.free_bytes() == before - 8 - 3 * kMiB);
  CHECK(allocator.stats().in_use == 8 + 3 * kMiB);
  allocator.free(p);
  CHECK(gpu.free_bytes() == before - 3 * kMiB);
  allocator.free(q);
  CHECK(gpu.free_bytes() == before);
  CHECK(allocator.stats().cached == 0);
  CHECK(allocator.stats().system_allocations == 2);
}
