// The allocator of GPU memory with captured graphs, on a simulated device.
#include "backends/cuda/memory/graph_memory.h"

#include <ambit/error.h>
#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "simulated_gpu.h"

using namespace ambit;
using namespace ambit::cuda;

namespace {

/// A capture by the thread of stream `home`, on a separate stream.
struct Captured {
  Captured(Simulation& of, int home) : s(of), memory(of.clock(home)) {
    s.a.begin_capture(memory);
    stream.graph = &memory;
  }
  ~Captured() { s.a.release(memory); }

  char* allocate(size_t bytes) { return static_cast<char*>(s.a.allocate(bytes, stream)); }
  void use(const void* p, bool writes) {
    const Access access{p, writes};
    s.a.use_in(memory, {&access, 1});
    works.push_back(access);
  }
  void end() { s.a.end_capture(memory); }
  void replay(int on) {
    const Simulation::Call scope(s.clock(on));
    s.a.use(memory, s.clock(on));
    for (const Access& w : works) s.gpu.work(w.p, 1000, on, w.writes);
  }

  Simulation& s;
  GraphMemory memory;
  StreamClock stream{-1};
  std::vector<Access> works;
};

}  // namespace

TEST_CASE("memory freed within a capture is reused by it only, until the graph is destroyed") {
  Simulation s(100 * kMiB);
  std::optional<Captured> graph;
  char* cached = s.allocate(1000, 0);
  s.a.free(cached);
  graph.emplace(s, 0);
  char* p = graph->allocate(1000);
  CHECK(p != cached);  // memory of the graph
  s.a.free(p);
  CHECK(graph->allocate(1000) == p);
  s.a.free(p);
  graph->end();
  CHECK(s.allocate(1000, 0) == cached);
  char* other = s.allocate(1000, 0);
  CHECK((other < p || other >= p + 2 * kMiB));
  s.a.empty_cache();
  CHECK(s.gpu.used() == 4 * kMiB);  // the segment of the others, and the graph's
  const size_t cached_bytes = s.a.stats().cached;
  graph.reset();
  CHECK(s.a.stats().cached == cached_bytes);
  s.a.empty_cache();
  CHECK(s.gpu.used() == 2 * kMiB);
  s.a.free(cached);
  s.a.free(other);
  s.a.empty_cache();
  CHECK(s.gpu.used() == 0);
  CHECK(s.a.stats().in_use == 0);
  CHECK(s.a.stats().cached == 0);
}

TEST_CASE("memory in use when its graph is destroyed becomes ordinary memory") {
  Simulation s(100 * kMiB);
  char* p = nullptr;
  {
    Captured graph(s, 0);
    p = graph.allocate(3 * kMiB);
    s.a.free(graph.allocate(3 * kMiB));
    graph.end();
  }
  CHECK(s.allocate(3 * kMiB, 0) != p);
  CHECK(s.a.stats().system_allocations == 1);  // it was the graph's memory
  s.a.free(p);
  CHECK(s.allocate(3 * kMiB, 0) == p);
}

TEST_CASE("a freed block that graphs use is kept until the last of them is destroyed") {
  Simulation s(100 * kMiB);
  char* before = s.allocate(1000, 0);
  char* p = s.allocate(1000, 0);
  char* after = s.allocate(1000, 0);
  auto first = std::make_unique<Captured>(s, 0);
  first->use(p + 10, false);
  first->end();
  auto second = std::make_unique<Captured>(s, 0);
  second->use(p, true);
  second->end();
  for (char* freed : {before, p, after}) s.a.free(freed);  // nor is it merged with its neighbours
  for (auto* graph : {&first, &second}) {
    std::vector<char*> others;
    for (int i = 0; i < 4; ++i) others.push_back(s.allocate(1000, 0));
    for (char* o : others) CHECK(o != p);
    for (char* o : others) s.a.free(o);
    graph->reset();
  }
  CHECK(s.allocate(kMiB, 0) == before);  // the merged segment
}

TEST_CASE("memory of a capture is not used by others before the capture ends") {
  Simulation s(100 * kMiB);
  s.write(0, s.allocate(1000, 0), 1000);
  Captured graph(s, 0);
  char* p = graph.allocate(1000);
  CHECK_THROWS_AS(s.write(1, p, 1000), BackendError);
  Captured other(s, 1);
  CHECK_THROWS_AS(other.use(p, false), BackendError);
  graph.end();
  CHECK_NOTHROW(s.write(1, p, 1000));
  CHECK_NOTHROW(other.use(p, false));
  other.end();
  CHECK(s.gpu.races == 0);
}

TEST_CASE("a capture does not own memory that another library has lent") {
  Simulation s(100 * kMiB);
  char lent[64];
  Captured graph(s, 0);
  graph.use(lent, true);  // no effect: it is not memory of the device
  s.a.borrow();
  CHECK_THROWS_AS(graph.use(lent, true), BackendError);
}

TEST_CASE("a capture with too little memory gets an error, and the cache is kept") {
  Simulation s(20 * kMiB);
  s.a.free(s.allocate(12 * kMiB, 0));
  Captured graph(s, 0);
  CHECK_THROWS_AS(graph.allocate(12 * kMiB), OutOfMemoryError);
  CHECK(s.gpu.used() == 12 * kMiB);
}

TEST_CASE("replays are ordered with all uses of their memory, on every stream") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    Simulation s(100 * kMiB);
    std::vector<char*> blocks;
    for (int i = 0; i < 4; ++i) blocks.push_back(s.allocate(1000, i % 2));
    std::vector<std::unique_ptr<Captured>> graphs;
    for (int g = 0; g < 2; ++g) {
      auto& graph = *graphs.emplace_back(std::make_unique<Captured>(s, g));
      graph.use(blocks[random() % 4], false);
      graph.use(blocks[random() % 4], true);
      char* scratch = graph.allocate(1000);
      graph.works.push_back({scratch, true});
      s.a.free(scratch);
      blocks.push_back(graph.allocate(1000));
      graph.works.push_back({blocks.back(), true});
      graph.end();
    }
    for (int step = 0; step < 60; ++step) {
      const int stream = static_cast<int>(random() % kStreams);
      char* const p = blocks[random() % blocks.size()];
      switch (random() % 4) {
        case 0:
          s.write(stream, p, 1000);
          break;
        case 1:
          s.read(stream, p, 1000);
          break;
        case 2:
          s.scratch(stream, 1000);
          break;
        default:
          graphs[random() % 2]->replay(stream);
      }
    }
    CHECK(s.gpu.races == 0);
    // The host has waited for their work: the memory may be reused.
    graphs.clear();
    s.a.free(blocks.back());
    for (int stream = 0; stream < kStreams; ++stream)
      s.write(stream, s.allocate(1000, stream), 1000);
    CHECK(s.gpu.races == 0);
  }
}
