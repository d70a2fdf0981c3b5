// The allocator of GPU memory on a simulated device, with one call at a time.
#include "backends/cuda/memory/block_allocator.h"

#include <ambit/error.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

#include "simulated_gpu.h"

using namespace ambit;
using namespace ambit::cuda;

TEST_CASE("a block freed while its stream is busy is reused by the same stream at once") {
  Simulation s(100 * kMiB);
  char* p = s.allocate(1000, 0);
  s.write(0, p, 1000);
  s.a.free(p);
  CHECK(s.allocate(900, 0) == p);
  CHECK(s.gpu.orders == 0);
  CHECK(s.a.stats().system_allocations == 1);
}

TEST_CASE("a block freed while its stream is busy is not reused by another stream") {
  Simulation s(100 * kMiB);
  char* p = s.allocate(1000, 0);
  s.write(0, p, 1000);
  s.a.free(p);
  char* q = s.allocate(1000, 1);
  CHECK(q != p);
  s.write(1, q, 1000);
  CHECK(s.gpu.races == 0);
}

TEST_CASE("a stream that uses another stream's output waits for that stream, once") {
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
  s.read(1, &s.gpu, 1);  // not memory of the allocator
  CHECK(s.gpu.orders == 2);
  CHECK(s.gpu.races == 0);
}

TEST_CASE("after borrow(), all foreign memory is ordered as one block") {
  Simulation s(100 * kMiB);
  char* own = s.allocate(1000, 0);
  s.write(0, own, 1000);
  s.write(1, own, 1000);  // two streams: from here on uses are recorded
  const int orders = s.gpu.orders;
  char theirs[64];
  s.write(0, theirs, 64);
  s.read(2, theirs + 8, 8);
  CHECK(s.gpu.orders == orders);
  CHECK(s.gpu.races == 1);
  s.a.borrow();
  char borrowed[64];
  s.write(0, borrowed, 64);
  s.read(1, borrowed + 8, 8);
  s.write(3, borrowed + 32, 8);
  CHECK(s.gpu.orders > orders);
  CHECK(s.gpu.races == 1);  // no further race
}

TEST_CASE("other streams wait for the only stream that used borrowed memory") {
  Simulation s(100 * kMiB);
  char theirs[64];
  s.a.borrow();
  s.write(0, theirs, 64);
  s.read(1, theirs, 64);
  CHECK(s.gpu.orders == 1);
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
  CHECK(s.gpu.orders == 2);  // each waits for the writer
  for (int step = 0; step < 100; ++step) {
    for (int stream = 1; stream < 3; ++stream) {
      s.call(stream, {{weights, false}, {out[static_cast<size_t>(stream)], true}}, 1000);
    }
  }
  CHECK(s.gpu.orders == 2);
  s.write(0, weights, 1000);  // waits for all readers
  CHECK(s.gpu.orders == 4);
  s.read(1, weights, 1000);
  CHECK(s.gpu.orders == 5);
  CHECK(s.gpu.races == 0);
}

TEST_CASE("a stream that waited for another one does not wait again for its predecessors") {
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

TEST_CASE("memory that other streams have read is reused by its stream, which waits for them") {
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

TEST_CASE("every block is aligned to 512 bytes, and has the requested size") {
  FakeGpu gpu(4096 * kMiB);
  BlockAllocator a(gpu, gpu, "cuda:0");
  StreamClock stream(0);
  for (const size_t bytes : {size_t{1}, size_t{511}, size_t{513}, kMiB, kMiB + 1, 30 * kMiB + 7}) {
    const size_t before = a.stats().in_use;
    CHECK(reinterpret_cast<uintptr_t>(a.allocate(bytes, stream)) % 512 == 0);
    CHECK(a.stats().in_use - before >= bytes);
  }
}

TEST_CASE("out of memory frees the cache of all streams, then states the figures") {
  FakeGpu gpu(64 * kMiB);
  BlockAllocator a(gpu, gpu, "cuda:0");
  StreamClock first(0), second(1);
  void* kept = a.allocate(30 * kMiB, first);
  void* freed = a.allocate(30 * kMiB, second);
  a.free(freed);
  void* larger = a.allocate(32 * kMiB, first);  // succeeds only after the other segment is freed
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

TEST_CASE(
    "if the system has no memory, small blocks are split from large remainders, and the reverse") {
  Simulation s(30 * kMiB);
  char* large = s.allocate(30 * kMiB, 0);
  s.a.free(large);
  char* held = s.allocate(20 * kMiB, 0);
  REQUIRE(held == large);
  char* small = s.allocate(4, 0);  // the remainder of 10 MiB cannot be freed
  CHECK(small == held + 20 * kMiB);
  s.write(0, small, 4);
  CHECK(s.allocate(4, 1) != small);
  s.a.free(held);
  s.a.free(small);

  Simulation t(2 * kMiB);
  char* first = t.allocate(512, 0);
  CHECK(t.allocate(kMiB + 1, 0) == first + 512);
}

TEST_CASE("emptying the cache keeps only remainders of segments in use") {
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

TEST_CASE("if the system has no memory, a stream waits for a free block of another stream") {
  Simulation s(2 * kMiB);
  char* held = s.allocate(kMiB, 0);  // keeps the segment in use
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

TEST_CASE(
    "blocks never overlap and no work uses memory that other work still uses: 1,000 random "
    "programs") {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
    Simulation s((8 + below(120)) * kMiB);
    std::map<char*, size_t> held;
    size_t held_bytes = 0;
    for (int step = 0; step < 200; ++step) {
      // At first there is only one stream.
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

TEST_CASE("without a cache every request allocates its own bytes, and frees them at once") {
  FakeGpu gpu(64 * kMiB);
  BlockAllocator allocator(gpu, gpu, "cuda:0", /*caches=*/false);
  StreamClock stream(0);
  const size_t before = gpu.free_bytes();
  void* p = allocator.allocate(5, stream);
  CHECK(gpu.free_bytes() == before - 8);  // an atomic operation accesses whole words
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
