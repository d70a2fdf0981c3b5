// Memory: allocations are aligned and do not overlap, are returned, and exhaustion is an error.
// Figures are those of memory_stats(); cases that need them are skipped if a backend has none.
#include <ambit/backend/registry.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <map>
#include <thread>

#include "cases.h"
#include "expect.h"

using namespace ambit;

namespace conformance {
namespace {

MemoryStats stats(Device device) { return backend_of(device).memory_stats(device.index()); }

void expect_stats(Device device) {
  const Tensor held = zeros({1000}, device);
  if (stats(device).in_use == 0) throw Skipped("the backend has no memory_stats()");
}

// Allocates directly from the backend: tensors would hide the bytes beyond their size.
void check_blocks(Device device) {
  Backend& backend = backend_of(device);
  const int index = device.index();
  std::map<uintptr_t, size_t> blocks;
  for (size_t bytes = 1; bytes < 100'000; bytes += 1 + bytes / 7) {
    void* p = backend.allocate(index, bytes);
    const auto address = reinterpret_cast<uintptr_t>(p);
    expect(p, fmt::format("allocate({}) returned null", bytes));
    expect(address % 64 == 0,
           fmt::format("allocate({}): expected an address aligned to 64, got {}", bytes, p));
    expect(blocks.emplace(address, bytes).second,
           fmt::format("allocate({}) returned a block that is in use", bytes));
  }
  uintptr_t end = 0;
  for (const auto& [address, bytes] : blocks) {
    expect(address >= end, fmt::format("the block of {} bytes overlaps another", bytes));
    end = address + bytes;
  }
  for (const auto& [address, bytes] : blocks) {
    backend.free(index, reinterpret_cast<void*>(address), bytes);
  }
}

void check_sizes(Device device) {
  for (const int64_t power : {0, 1, 6, 9, 10, 12, 16, 20, 22}) {
    for (const int64_t extra : {-1, 0, 1}) {
      const int64_t n = (int64_t{1} << power) + extra;
      const Tensor t = full({n}, 5, device);
      if (n > 0) t[n - 1].fill_(6);
      const Tensor want = full({n}, 5);
      if (n > 0) want[n - 1].fill_(6);
      expect_same(fmt::format("{} floats, the last another", n), t, want);
    }
  }
}

void check_survives(Device device) {
  std::vector<Tensor> kept;
  for (int64_t i = 0; i < 200; ++i) {
    kept.push_back(full({1 + i * 13 % 500}, i, device));
    const Tensor gone = full({1 + i * 29 % 700}, -1, device);
  }
  for (int64_t i = 0; i < 200; ++i) {
    const Tensor& t = kept[static_cast<size_t>(i)];
    expect_same("data after other allocations and frees", t, full(t.sizes(), i));
  }
}

// A block that is freed while queued work reads it may be reused only by later work.
void check_reuse_in_flight(Device device, const std::function<void()>& between) {
  std::vector<Tensor> results;
  for (int64_t i = 0; i < 50; ++i) {
    Tensor x = full({5000}, i, device);
    // After this, only the kernel that reads x is queued when x is freed.
    if (i % 2 == 0) synchronize(device);
    if (i == 0) keep_busy(device);
    results.push_back(x * 2);
    x.reset();
    between();
    const Tensor reuses_it = full({5000}, -1, device);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    expect_same("a kernel's result whose operand was freed, and its memory reused, immediately",
                results[i], full({5000}, static_cast<int64_t>(2 * i)));
  }
}

// Allocate `bytes`, more than available: the error states the size, and no memory is lost.
void expect_out_of_memory(Device device, int64_t bytes) {
  const Tensor kept = numbers({1000}).to(device);
  const size_t before = stats(device).in_use;
  const auto allocate = [&] {
    const Tensor t = empty({bytes}, TensorOptions(device).dtype(kUInt8));
    throw Failure(fmt::format("{} bytes were allocated, at {}", bytes, t.data_ptr()));
  };
  const std::string what = fmt::format("allocating {} bytes", bytes);
  const std::string text = expect_throws<OutOfMemoryError>(what, "OutOfMemoryError", allocate);
  expect(text.find(std::to_string(bytes)) != std::string::npos,
         fmt::format("{}: expected a text with the bytes requested, got \"{}\"", what, text));
  expect(text.find("got null") == std::string::npos,
         fmt::format("{}: expected allocate() to throw OutOfMemoryError itself, got null", what));
  expect(stats(device).in_use == before,
         fmt::format("{}: expected {} bytes in use after it, got {}", what, before,
                     stats(device).in_use));
  expect_same("a kernel after running out of memory", kept + 1, numbers({1000}) + 1);
  expect_same("an allocation after running out of memory", full({1000}, 3, device),
              full({1000}, 3));
}

void check_more_than_total(Device device) {
  const size_t total = backend_of(device).properties(device.index()).total_memory;
  if (total == 0) throw Skipped("properties() does not have the total memory");
  expect_out_of_memory(device, static_cast<int64_t>(total + total / 8));
}

// The temporaries of a training step.
void work(Device device) {
  const Tensor x = randn({20, 30}, device).requires_grad_();
  (x.matmul(x.t()) + 1).exp().mean().backward();
  const Tensor picked = x.index_select(0, tensor({1, 3, 5}, device));
  const Tensor y = cat({picked.to(kInt64), picked.to(kInt64)}).cpu().to(device);
  y.add_(1);
  for (int64_t n = 1; n < 50; ++n) rand({n * n}, device).sum();
}

void expect_returned(Device device, const std::string& what, const std::function<void()>& body) {
  expect_stats(device);
  body();  // memory kept after the first use is not a leak
  synchronize(device);
  const size_t before = stats(device).in_use;
  for (int i = 0; i < 3; ++i) body();
  synchronize(device);
  const size_t after = stats(device).in_use;
  expect(after == before, fmt::format("{}: expected {} bytes in use as before, got {}: {} lost",
                                      what, before, after, after - before));
}

void check_returned_after_errors(Device device) {
  expect_returned(device, "calls that fail", [=] {
    const Tensor x = ones({20, 30}, device), host = ones({20, 30}), index = tensor({99}, device);
    expect_throws<Error>("a bad shape", "an Error", [&] { x.matmul(x); });
    const Device other = device.is_cpu() ? Device("reference") : kCPU;
    expect_throws<Error>("another device", "an Error", [&] { x.add(host.to(other)); });
    expect_throws<IndexError>("a bad index", "IndexError", [&] {
      const Tensor y = x.index_select(0, index);
      synchronize(device);
    });
    expect_throws<Error>("too much memory", "an Error", [&] { empty({int64_t{1} << 58}, device); });
  });
}

void check_stats(Device device) {
  expect_stats(device);
  const int devices = device_count(device.type());
  std::vector<size_t> before;
  for (int i = 0; i < devices; ++i) before.push_back(stats(Device(device.kind(), i)).in_use);
  const Tensor t = empty({100'000}, device);
  const MemoryStats now = stats(device);
  const auto index = static_cast<size_t>(device.index());
  expect(now.in_use >= before[index] + t.nbytes(),
         fmt::format("memory_stats({}): expected {} bytes more in use than {}, got {}", index,
                     t.nbytes(), before[index], now.in_use));
  expect(now.peak_in_use >= now.in_use, "memory_stats(): peak_in_use is below in_use");
  for (int i = 0; i < devices; ++i) {
    const size_t was = before[static_cast<size_t>(i)], is = stats(Device(device.kind(), i)).in_use;
    expect(i == device.index() || is == was,
           fmt::format("memory_stats({}) changed from {} to {} by an allocation on {}", i, was, is,
                       device.str()));
  }
}

// Larger than the blocks that backends split into small tensors.
constexpr int64_t kLargeBytes = int64_t{64} << 20;

// Blocks that are partly in use may remain, so everything is freed at the end.
void check_empty_cache(Device device) {
  expect_stats(device);
  backend_of(device).empty_cache(device.index());
  const MemoryStats first = stats(device);
  Tensor kept = numbers({1000}).to(device);
  for (int64_t n = 1; n < 100; ++n) empty({n * 100}, device);
  empty({kLargeBytes}, TensorOptions(device).dtype(kUInt8));
  const size_t before = stats(device).in_use;
  backend_of(device).empty_cache(device.index());
  const MemoryStats now = stats(device);
  expect(now.cached < kLargeBytes, fmt::format("empty_cache(): expected less than {} bytes cached "
                                               "after it, the size of a freed tensor, got {}",
                                               kLargeBytes, now.cached));
  expect(now.in_use == before, fmt::format("empty_cache(): expected {} bytes in use as before, "
                                           "got {}",
                                           before, now.in_use));
  expect_same("data after empty_cache()", kept, numbers({1000}));
  kept.reset();
  backend_of(device).empty_cache(device.index());
  const MemoryStats last = stats(device);
  expect(last.in_use == first.in_use,
         fmt::format("in use: expected {} bytes as at the beginning, got {}", first.in_use,
                     last.in_use));
  expect(last.in_use > 0 || last.cached == 0,
         fmt::format("empty_cache(): expected nothing cached after it while nothing is in use, got "
                     "{} bytes",
                     last.cached));
}

void check_other_thread(Device device) {
  const Tensor kept = numbers({1000}).to(device);
  expect_returned(device, "tensors created in one thread and freed in another", [&] {
    std::vector<Tensor> here, there;
    for (int64_t n = 1; n < 100; ++n) here.push_back(full({n * 50}, 1, device) + 1);
    std::thread([&] {
      here.clear();
      for (int64_t n = 1; n < 100; ++n) there.push_back(full({n * 50}, n, device) + 1);
    }).join();
    for (int64_t n = 1; n < 100; ++n) {
      expect_same("a tensor of another thread", there[static_cast<size_t>(n - 1)],
                  full({n * 50}, n + 1));
    }
  });
  expect_same("data after frees from another thread", kept, numbers({1000}));
}

void check_pinned(Device device) {
  Backend& backend = backend_of(device);
  for (const size_t bytes : {size_t{1}, size_t{63}, size_t{4096}, size_t{1'000'001}}) {
    auto* p = static_cast<char*>(backend.allocate_pinned(bytes));
    expect(p, fmt::format("allocate_pinned({}) returned null", bytes));
    std::fill_n(p, bytes, 'x');  // the host may write it
    backend.free_pinned(p, bytes);
  }
}

}  // namespace

void add_memory_cases(Cases& cases) {
  const auto add = [&](const char* name, std::function<void(Device)> check) {
    cases.push_back({std::string("memory/") + name, "", std::move(check)});
  };
  add("blocks", check_blocks);
  add("sizes", check_sizes);
  add("survives", check_survives);
  add("reuse_in_flight", [](Device d) { check_reuse_in_flight(d, [] {}); });
  add("empty_cache_in_flight",
      [](Device d) { check_reuse_in_flight(d, [d] { backend_of(d).empty_cache(d.index()); }); });
  add("out_of_memory/absurd", [](Device d) { expect_out_of_memory(d, int64_t{1} << 60); });
  add("out_of_memory/more_than_total", check_more_than_total);
  add("stats", check_stats);
  add("returned/work",
      [](Device d) { expect_returned(d, "kernels and copies", [d] { work(d); }); });
  add("returned/errors", check_returned_after_errors);
  add("empty_cache", check_empty_cache);
  add("other_thread", check_other_thread);
  add("pinned", check_pinned);
}

}  // namespace conformance
