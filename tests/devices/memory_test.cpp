// Statistics, caches and pinned memory of every device.
#include <ambit/ambit.h>
#include <ambit/memory.h>
#include <doctest/doctest.h>

#include "tests/devices.h"

using namespace ambit;

TEST_CASE("memory statistics count the bytes of tensors, and the cache can be emptied") {
  for_each_device([](Device device) {
    empty_cache(device);
    const MemoryStats before = memory_stats(device);
    constexpr int64_t kElements = 1 << 20;
    {
      const Tensor t = zeros({kElements}, device);
      const MemoryStats held = memory_stats(device);
      CHECK(held.in_use >= before.in_use + 4 * kElements);
      CHECK(held.peak_in_use >= held.in_use);
      CHECK(held.system_allocations > before.system_allocations);
    }
    const MemoryStats freed = memory_stats(device);
    CHECK(freed.in_use == before.in_use);
    CHECK(freed.cached >= before.cached + 4 * kElements);
    empty_cache(device);
    CHECK(memory_stats(device).cached < freed.cached);
  });
}

TEST_CASE("pinned memory is copied to the device and back without a wait") {
  for_each_device([](Device device) {
    const Tensor source = randn({100, 3});
    for (int i = 0; i < 20; ++i) {  // freed and reused while the copy may still run
      const Tensor pinned = (source + i).pin_memory(device);
      CHECK(pinned.is_cpu());
      const Tensor there = pinned.to(device, /*non_blocking=*/true);
      CHECK(there.cpu().equal(source + i));
      CHECK(there.to(kCPU, /*non_blocking=*/true).equal(source + i));
    }
    const Tensor once = source.t().pin_memory(device), twice = once.pin_memory(device);
    CHECK(once.equal(source.t()));
    CHECK(twice.is_same(once) == once.is_pinned(device));
    CHECK_FALSE(source.is_pinned(device));
    CHECK_FALSE(source.to(device).is_pinned(device));
    CHECK(zeros({0, 2}).pin_memory(device).sizes() == IntArrayRef{0, 2});
    if (!device.is_cpu()) {
      CHECK_THROWS_WITH_AS(
          zeros({1}, device).pin_memory(device),
          ("pin_memory: expected a tensor on cpu, got one on " + device.str()).c_str(),
          BackendError);
    }
  });
}
