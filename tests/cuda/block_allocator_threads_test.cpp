// The allocator of GPU memory on simulated devices: several threads queue work at the same time,
// and a call involves two GPUs.
#include "backends/cuda/memory/block_allocator.h"

#include <doctest/doctest.h>

#include <array>
#include <barrier>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "simulated_gpu.h"

using namespace ambit;
using namespace ambit::cuda;

TEST_CASE("other streams wait for a stream that was alone before, whatever it has used") {
  Simulation s(100 * kMiB);
  char *p = s.allocate(1000, 0), *freed = s.allocate(1000, 0);
  s.read(0, p, 1000);
  s.write(0, freed, 1000);
  s.a.free(freed);
  s.clock(0).begin();
  REQUIRE(s.a.is_alone(s.clock(0)));
  std::thread other([&] { s.write(1, p, 1000); });
  // The other stream has appeared, and waits for the call that begins here.
  while (s.a.is_alone(s.clock(0))) std::this_thread::yield();
  s.gpu.work(p, 1000, 0);
  s.clock(0).end();
  other.join();
  CHECK(s.gpu.races == 0);
}

TEST_CASE("a call that has not yet declared its operands delays others only briefly") {
  Simulation s(100 * kMiB);
  char* p = s.allocate(1000, 0);
  s.clock(0).begin();
  std::thread other([&] { s.write(1, p, 1000); });  // must wait: the call may already use p
  while (s.a.is_alone(s.clock(0))) std::this_thread::yield();
  const Access write{p, true};
  s.a.use({&write, 1}, s.clock(0));  // now its position is after or before the other one
  s.gpu.work(p, 1000, 0);
  s.clock(0).end();
  other.join();
  CHECK(s.gpu.races == 0);
}

TEST_CASE("two calls of two allocators with each other's operands do not deadlock") {
  Simulation s(100 * kMiB), t(100 * kMiB);
  char *p = s.allocate(1000, 0), *q = t.allocate(1000, 0);
  s.write(1, p, 1000);
  t.write(1, q, 1000);
  std::mutex mutex;  // as in Call::use()
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
      from.a.wait_for_calls(before_reads, reader);
      to.a.wait_for_calls(before_writes, writer);
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

// One stream per thread: calls are enlisted, queued and ended concurrently.
TEST_CASE("no work uses memory that other work still uses if threads queue concurrently") {
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
    std::mutex mutex;  // guards the list; a copy of an entry keeps the block, as a tensor does
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
