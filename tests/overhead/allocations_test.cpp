// What a step of training asks of the system's allocators, once it has run a few times: nothing.
// A program of its own, since it replaces operator new.
#include <ambit/backend/examples.h>
#include <ambit/memory.h>
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "net.h"

using namespace ambit;

namespace {

std::atomic<long> news{0};

template <class Work>
long count_news(Work work) {
  const long before = news;
  work();
  return news - before;
}

}  // namespace

// Not inlined: g++ would see a free() of what another operator new has given.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++news;
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }

TEST_CASE("the counter sees what libambit allocates") {
  CHECK(count_news([] { Device("cpu").repr(); }) > 0);
}

TEST_CASE("tensors, shapes and graph nodes of a step come from what the last step left") {
  // On meta, where no kernel brings allocations of its own.
  NetTraining training(kMeta, 4);
  for (int i = 0; i < 3; ++i) training.step();
  CHECK(count_news([&] { training.compute_gradients(); }) == 0);
  // The optimizer makes one list of the 10 parameters: it grows to 1, 2, 4, 8, 16.
  CHECK(count_news([&] { training.step(); }) <= 5);
}

TEST_CASE("the device check of every kernel op asks for no memory") {
  for (const Example& example : examples()) {
    INFO(std::string(example.op->name()), " ", example.function);
    std::vector<Tensor> operands = example.operands(*example.dtypes.begin());
    for (Tensor& t : operands) t = t.to(kMeta);
    CHECK(count_news([&] { example.call(operands); }) == 0);
  }
}

TEST_CASE("the memory of a step's tensors on the cpu is that of the last step") {
  // Of two threads of a kernel, the scratch may be in use at once in one step and not in another.
  set_num_threads(1);
  for (const int64_t batch : {4, 256}) {  // without and with blocks that are cut and joined
    NetTraining training(kCPU, batch);
    for (int i = 0; i < 3; ++i) training.step();
    const MemoryStats before = memory_stats(kCPU);
    for (int i = 0; i < 10; ++i) training.step();
    const MemoryStats after = memory_stats(kCPU);
    CHECK(after.system_allocations == before.system_allocations);
    CHECK(after.in_use == before.in_use);
    CHECK(after.peak_in_use == before.peak_in_use);
  }
}
