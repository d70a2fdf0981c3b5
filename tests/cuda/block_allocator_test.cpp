// The allocator of GPU memory, over a simulated device: streams whose order is followed exactly,
// and memory that can run out.
#include "backends/cuda/memory/block_allocator.h"

#include <ambit/error.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

using namespace ambit;
using ambit::cuda::Access;
using ambit::cuda::BlockAllocator;
using ambit::cuda::StreamClock;
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
    const std::lock_guard lock(mutex_);
    ++orders;
    for (int t = 0; t < kStreams; ++t)
      known_[after][t] = std::max(known_[after][t], known_[before][t]);
  }
  // Queue work of a stream on a block; count as a race what it meets there and does not come after:
  // others' writes, and where it writes, all that others do.
  void work(const void* p, size_t bytes, int stream, bool writes = true) {
    const std::lock_guard lock(mutex_);
    const auto* begin = static_cast<const char*>(p);
    const int now = ++known_[stream][stream];
    for (const Use& use : uses_) {
      if (use.end <= begin || begin + bytes <= use.begin || (!writes && !use.writes)) continue;
      races += known_[stream][use.stream] < use.time;
    }
    // What all later work on these bytes must come after this for, it need not be compared with.
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
  std::mutex mutex_;  // guards what follows
  std::vector<Use> uses_;
  int known_[kStreams][kStreams] = {};
};

// An allocator over it, and calls of its streams.
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
  /// A call with memory of its own, which is not enlisted.
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

}  // namespace

TEST_CASE("a block freed while its stream is at work serves the same stream at once") {
  Simulation s(100 * kMiB);
  char* p = s.allocate(1000, 0);
  s.write(0, p, 1000);
  s.a.free(p);
  CHECK(s.allocate(900, 0) == p);
  CHECK(s.gpu.orders == 0);
  CHECK(s.a.stats().system_allocations == 1);
}

TEST_CASE("a block freed while its stream is at work is not given to another stream") {
  Simulation s(100 * kMiB);
  char* p = s.allocate(1000, 0);
  s.write(0, p, 1000);
  s.a.free(p);
  char* q = s.allocate(1000, 1);
  CHECK(q != p);
  s.write(1, q, 1000);
  CHECK(s.gpu.races == 0);
}

TEST_CASE("a stream that uses what another has written is ordered behind it, once") {
  Simulation s(100 * kMiB);
  char* p = s.allocate(1000, 0);
  s.write(0, p, 1000);
  s.read(1, p + 600, 100);  // a view of it
  CHECK(s.gpu.orders == 1);
  s.read(1, p, 1000);
  s.write(1, p, 1000);
  CHECK(s.gpu.orders == 1);
  s.write(0, p, 1000);
  CHECK(s.gpu.orders == 2);
  s.read(1, &s.gpu, 1);  // no memory of the allocator
  CHECK(s.gpu.orders == 2);
  CHECK(s.gpu.races == 0);
}

TEST_CASE("streams that read the same memory do not wait for each other") {
  Simulation s(100 * kMiB);
  char* weights = s.allocate(1000, 0);
  s.write(0, weights, 1000);
  std::array<char*, 3> out{};
  for (int stream = 1; stream < 3; ++stream) {
    out[static_cast<size_t>(stream)] = s.allocate(1000, stream);
    s.call(stream, {{weights, false}, {out[static_cast<size_t>(stream)], true}}, 1000);
  }
  CHECK(s.gpu.orders == 2);  // each behind the writer
  for (int step = 0; step < 100; ++step) {
    for (int stream = 1; stream < 3; ++stream) {
      s.call(stream, {{weights, false}, {out[static_cast<size_t>(stream)], true}}, 1000);
    }
  }
  CHECK(s.gpu.orders == 2);
  s.write(0, weights, 1000);  // behind all readers
  CHECK(s.gpu.orders == 4);
  s.read(1, weights, 1000);
  CHECK(s.gpu.orders == 5);
  CHECK(s.gpu.races == 0);
}

TEST_CASE("what a stream comes after through another it does not wait for again") {
  Simulation s(100 * kMiB);
  char *p = s.allocate(1000, 0), *q = s.allocate(1000, 1);
  s.write(0, p, 1000);
  s.call(1, {{p, false}, {q, true}}, 1000);
  CHECK(s.gpu.orders == 1);
  s.read(2, q, 1000);
  CHECK(s.gpu.orders == 2);
  s.read(2, p, 1000);
  CHECK(s.gpu.orders == 2);
  CHECK(s.gpu.races == 0);
}

TEST_CASE("memory that others have read goes back to its stream, which waits for them") {
  Simulation s(100 * kMiB);
  char* p = s.allocate(1000, 0);
  s.write(0, p, 1000);
  s.read(1, p, 1000);
  s.read(2, p, 1000);
  s.a.free(p);
  CHECK(s.allocate(1000, 1) != p);
  CHECK(s.gpu.orders == 2);
  CHECK(s.allocate(1000, 0) == p);
  CHECK(s.gpu.orders == 4);
  s.write(3, p, 1000);
  CHECK(s.gpu.races == 0);
}

TEST_CASE("a stream that was alone until now is waited for, whatever it has used") {
  Simulation s(100 * kMiB);
  char *p = s.allocate(1000, 0), *freed = s.allocate(1000, 0);
  s.read(0, p, 1000);
  s.write(0, freed, 1000);
  s.a.free(freed);
  s.clock(0).begin();
  REQUIRE(s.a.is_alone(s.clock(0)));
  std::thread other([&] { s.write(1, p, 1000); });
  // The other has come by, and waits for the call that is begun here.
  while (s.a.is_alone(s.clock(0))) std::this_thread::yield();
  s.gpu.work(p, 1000, 0);
  s.clock(0).end();
  other.join();
  CHECK(s.gpu.races == 0);
}

TEST_CASE("a call that has begun, but not said what it uses, holds up nobody for long") {
  Simulation s(100 * kMiB);
  char* p = s.allocate(1000, 0);
  s.clock(0).begin();
  std::thread other([&] { s.write(1, p, 1000); });  // has to wait: the call may use p already
  while (s.a.is_alone(s.clock(0))) std::this_thread::yield();
  const Access write{p, true};
  s.a.use({&write, 1}, s.clock(0));  // but now it is the later one, or the earlier
  s.gpu.work(p, 1000, 0);
  s.clock(0).end();
  other.join();
  CHECK(s.gpu.races == 0);
}

TEST_CASE("two calls of two allocators, each other's operands in turn, do not wait in a circle") {
  Simulation s(100 * kMiB), t(100 * kMiB);
  char *p = s.allocate(1000, 0), *q = t.allocate(1000, 0);
  s.write(1, p, 1000);
  t.write(1, q, 1000);
  std::mutex mutex;  // as Call::use() has it
  const auto copy = [&](int stream, Simulation& from, char* read, Simulation& to, char* written) {
    for (int i = 0; i < 1000; ++i) {
      StreamClock &reader = from.clock(stream), &writer = to.clock(stream);
      reader.begin();
      writer.begin();
      const Access reads{read, false}, writes{written, true};
      cuda::StreamCalls before_reads, before_writes;
      {
        const std::lock_guard lock(mutex);
        before_reads = from.a.enlist({&reads, 1}, reader);
        before_writes = to.a.enlist({&writes, 1}, writer);
      }
      from.a.follow(before_reads, reader);
      to.a.follow(before_writes, writer);
      from.gpu.work(read, 1000, stream, false);
      to.gpu.work(written, 1000, stream, true);
      reader.end();
      writer.end();
    }
  };
  std::thread other([&] { copy(2, t, q, s, p); });
  copy(3, s, p, t, q);
  other.join();
  CHECK(s.gpu.races + t.gpu.races == 0);
}

TEST_CASE("blocks are split from segments and merged again") {
  FakeGpu gpu(100 * kMiB);
  BlockAllocator a(gpu, gpu, "cuda:0");
  StreamClock stream(0);
  std::vector<char*> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(static_cast<char*>(a.allocate(kMiB / 2, stream)));
  CHECK(a.stats().system_allocations == 1);  // a segment of 2 MiB holds all four
  CHECK(blocks[3] - blocks[0] == 3 * kMiB / 2);
  for (const int i : {1, 3, 0, 2}) a.free(blocks[static_cast<size_t>(i)]);
  CHECK(a.stats().in_use == 0);
  CHECK(a.stats().cached == 2 * kMiB);
  CHECK(a.allocate(kMiB, stream) == blocks[0]);
  CHECK(a.allocate(kMiB, stream) == blocks[2]);
  CHECK(a.stats().system_allocations == 1);
}

TEST_CASE("every block is aligned to 512 bytes, and holds what was asked for") {
  FakeGpu gpu(4096 * kMiB);
  BlockAllocator a(gpu, gpu, "cuda:0");
  StreamClock stream(0);
  for (const size_t bytes : {size_t{1}, size_t{511}, size_t{513}, kMiB, kMiB + 1, 30 * kMiB + 7}) {
    const size_t before = a.stats().in_use;
    CHECK(reinterpret_cast<uintptr_t>(a.allocate(bytes, stream)) % 512 == 0);
    CHECK(a.stats().in_use - before >= bytes);
  }
}

TEST_CASE("out of memory gives back the cache of all streams, then says what there was") {
  FakeGpu gpu(64 * kMiB);
  BlockAllocator a(gpu, gpu, "cuda:0");
  StreamClock first(0), second(1);
  void* kept = a.allocate(30 * kMiB, first);
  void* freed = a.allocate(30 * kMiB, second);
  a.free(freed);
  void* larger = a.allocate(32 * kMiB, first);  // only when the other segment is gone
  CHECK_THROWS_WITH_AS(
      a.allocate(40 * kMiB, first),
      "allocate: expected 41943040 bytes (40.0 MiB) on cuda:0, got out of memory: in use 65011712 "
      "bytes (62.0 MiB), cached 0 bytes, free 2097152 bytes (2.0 MiB)",
      OutOfMemoryError);
  CHECK_THROWS_AS(a.allocate(SIZE_MAX, first), OutOfMemoryError);
  a.free(larger);
  CHECK(a.allocate(32 * kMiB, first) == larger);
  a.free(larger);
  a.free(kept);
  a.empty_cache();
  CHECK(gpu.used() == 0);
  CHECK(a.stats().cached == 0);
}

TEST_CASE("where the system has no more, small memory is cut from large rests, and the other way") {
  Simulation s(30 * kMiB);
  char* large = s.allocate(30 * kMiB, 0);
  s.a.free(large);
  char* held = s.allocate(20 * kMiB, 0);
  REQUIRE(held == large);
  char* small = s.allocate(4, 0);  // the rest of 10 MiB cannot go back
  CHECK(small == held + 20 * kMiB);
  s.write(0, small, 4);
  CHECK(s.allocate(4, 1) != small);
  s.a.free(held);
  s.a.free(small);

  Simulation t(2 * kMiB);
  char* first = t.allocate(512, 0);
  CHECK(t.allocate(kMiB + 1, 0) == first + 512);
}

TEST_CASE("what stays in the cache when it is emptied are rests of segments in use") {
  Simulation s(100 * kMiB);
  char *kept = s.allocate(1000, 0), *large = s.allocate(30 * kMiB, 0);
  s.a.free(large);
  s.a.empty_cache();
  CHECK(s.gpu.used() == 2 * kMiB);
  CHECK(s.a.stats().in_use == 1024);
  CHECK(s.a.stats().cached == 2 * kMiB - 1024);
  s.a.free(kept);
  s.a.empty_cache();
  CHECK(s.a.stats().cached == 0);
  CHECK(s.gpu.used() == 0);
}

TEST_CASE("where the system has no more, a stream waits for another's free block") {
  Simulation s(2 * kMiB);
  char* held = s.allocate(kMiB, 0);  // keeps the segment from going back
  char* p = s.allocate(kMiB, 0);
  s.write(0, p, kMiB);
  s.a.free(p);
  CHECK(s.allocate(kMiB, 1) == p);
  CHECK(s.gpu.orders == 1);
  s.write(1, p, kMiB);
  s.write(2, p, kMiB);
  CHECK(s.gpu.races == 0);
  s.a.free(held);
}

TEST_CASE("blocks never overlap and no work meets memory in flight: 1,000 random programs") {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
    Simulation s((8 + below(120)) * kMiB);
    std::map<char*, size_t> held;
    size_t held_bytes = 0;
    for (int step = 0; step < 200; ++step) {
      // The first stream is alone for a while.
      const auto stream = static_cast<int>(below(step < 20 ? 1 : kStreams));
      const size_t action = below(12);
      if (action < 5) {
        const size_t bytes = 1 + below(size_t{1} << (6 + below(20)));
        try {
          auto* p = s.allocate(bytes, stream);
          const auto after = held.lower_bound(p);
          REQUIRE((after == held.end() || p + bytes <= after->first));
          REQUIRE(
              (after == held.begin() || std::prev(after)->first + std::prev(after)->second <= p));
          held.emplace(p, bytes);
          held_bytes += bytes;
          if (below(4) > 0)
            s.write(below(3) > 0 ? stream : static_cast<int>(below(kStreams)), p, bytes);
        } catch (const OutOfMemoryError&) {
        }
      } else if (action < 11 && !held.empty()) {
        const auto some = [&] {
          return std::next(held.begin(), static_cast<long>(below(held.size())));
        };
        const auto block = some();
        if (action < 8) {
          const size_t offset = below(block->second);
          s.call(stream, {{block->first + offset, action < 6}}, block->second - offset);
        } else if (action < 9) {
          const auto other = some();
          const size_t bytes = std::min(block->second, other->second);
          s.call(stream, {{other->first, false}, {block->first, true}}, bytes);
        } else if (action < 10) {
          try {
            s.scratch(stream, 1 + below(size_t{1} << (6 + below(20))));
          } catch (const OutOfMemoryError&) {
          }
        } else {
          s.a.free(block->first);
          held_bytes -= block->second;
          held.erase(block);
        }
      } else if (below(20) == 0) {
        s.a.empty_cache();
      }
      const MemoryStats stats = s.a.stats();
      REQUIRE(s.gpu.races == 0);
      REQUIRE(stats.in_use >= held_bytes);
      REQUIRE(stats.in_use + stats.cached == s.gpu.used());
    }
    for (const auto& [p, bytes] : held) s.a.free(p);
    s.a.empty_cache();
    REQUIRE(s.gpu.used() == 0);
  }
}

// Each thread a stream: calls are enlisted, queued and ended while those of others are.
TEST_CASE("no work meets memory in flight where threads queue it at the same time") {
  struct Held {
    Held(BlockAllocator& from, char* address, size_t size) : a(from), p(address), bytes(size) {}
    ~Held() { a.free(p); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    BlockAllocator& a;
    char* const p;
    const size_t bytes;
  };
  for (unsigned seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    Simulation s(16 * kMiB);
    std::mutex mutex;  // of the list; who copies from it keeps the block, as tensors do
    std::vector<std::shared_ptr<Held>> list(8);
    std::barrier start(kStreams);
    const auto program = [&](int stream) {
      std::mt19937 random(seed * kStreams + static_cast<unsigned>(stream));
      const auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
      const auto take = [&](size_t at) {
        const std::lock_guard lock(mutex);
        return list[at];
      };
      start.arrive_and_wait();
      for (int step = 0; step < 500; ++step) {
        const size_t at = below(list.size());
        std::shared_ptr<Held> out = take(at), in = take(below(list.size()));
        if (!out || below(8) == 0) {
          const size_t bytes = 512 + below(size_t{1} << 16);
          out = std::make_shared<Held>(s.a, s.allocate(bytes, stream), bytes);
          const std::lock_guard lock(mutex);
          list[at] = out;
        }
        const bool writes = below(3) == 0;
        s.clock(stream).begin();
        if (in) {
          const std::array<Access, 2> both{Access{in->p, false}, Access{out->p, writes}};
          s.a.use(both, s.clock(stream));
          s.gpu.work(in->p, in->bytes, stream, false);
        } else {
          const Access one{out->p, writes};
          s.a.use({&one, 1}, s.clock(stream));
        }
        if (below(4) == 0) std::this_thread::yield();
        s.gpu.work(out->p, out->bytes, stream, writes);
        if (below(4) == 0) {
          const size_t bytes = 1 + below(size_t{1} << 14);
          char* scratch = s.allocate(bytes, stream);
          s.gpu.work(scratch, bytes, stream);
          s.a.free(scratch);
        }
        s.clock(stream).end();
        if (below(200) == 0) s.a.empty_cache();
      }
    };
    std::vector<std::thread> threads;
    for (int stream = 1; stream < kStreams; ++stream) threads.emplace_back(program, stream);
    program(0);
    for (std::thread& t : threads) t.join();
    CHECK(s.gpu.races == 0);
    list.clear();
    s.a.empty_cache();
    CHECK(s.gpu.used() == 0);
  }
}

TEST_CASE(
    "without a cache every request goes to the system, with its own bytes, and back at once") {
  FakeGpu gpu(64 * kMiB);
  BlockAllocator allocator(gpu, gpu, "cuda:0", /*caches=*/false);
  StreamClock stream(0);
  const size_t before = gpu.free_bytes();
  void* p = allocator.allocate(5, stream);
  CHECK(gpu.free_bytes() == before - 8);  // an atomic reaches whole words
  void* q = allocator.allocate(3 * kMiB, stream);
  CHECK(gpu.free_bytes() == before - 8 - 3 * kMiB);
  CHECK(allocator.stats().in_use == 8 + 3 * kMiB);
  allocator.free(p);
  CHECK(gpu.free_bytes() == before - 3 * kMiB);
  allocator.free(q);
  CHECK(gpu.free_bytes() == before);
  CHECK(allocator.stats().cached == 0);
  CHECK(allocator.stats().system_allocations == 2);
}
