// A training step makes no system allocations after the first few steps. A separate program, since
// it replaces operator new.
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

std::atomic<long> new_calls{0};

template <class Work>
long count_news(Work work) {
  const long before = new_calls;
  work();
  return new_calls - before;
}

}  // namespace

// Not inlined: otherwise g++ warns of a free() of memory from another operator new.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++new_calls;
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }

TEST_CASE("the counter includes libambit's allocations") {
  CHECK(count_news([] { Device("cpu").repr(); }) > 0);
}

TEST_CASE("tensors, shapes and graph nodes of a step reuse the memory of the last step") {
  // Run on meta, whose kernels allocate nothing.
  NetTraining training(kMeta, 4);
  for (int i = 0; i < 3; ++i) training.step();
  CHECK(count_news([&] { training.compute_gradients(); }) == 0);
  // The optimizer makes one list of the 10 parameters: it grows to 1, 2, 4, 8, 16.
  CHECK(count_news([&] { training.step(); }) <= 5);
}

TEST_CASE("the device check of every kernel op allocates nothing") {
  for (const Example& example : examples()) {
    INFO(std::string(example.op->name()), " ", example.function);
    std::vector<Tensor> operands = example.operands(*example.dtypes.begin());
    for (Tensor& t : operands) t = t.to(kMeta);
    CHECK(count_news([&] { example.call(operands); }) == 0);
  }
}

TEST_CASE("a step's tensors on the cpu reuse the memory of the last step") {
  // With two threads, their scratch memory may be in use at the same time in one step and not in
  // another.
  set_num_threads(1);
  for (const int64_t batch : {4, 256}) {  // without and with blocks that are split and merged
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
