// Random programs of several threads that share tensors, on their own streams and on streams of the
// pool, which they use for one step or for many. Every step is queued on the GPU and computed on
// the CPU at once; in the end both must be equal. Threads queue their steps concurrently, except
// for pairs that the host must order: an in-place write, and any other use of that tensor.
// AMBIT_PROGRAMS is the number of programs, AMBIT_PROGRAM_SEED their first seed.
#include <ambit/ambit.h>
#include <ambit/cuda.h>
#include <ambit/memory.h>
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "has_gpu.h"

using namespace ambit;

namespace {

constexpr int64_t kRows = 12, kColumns = 8;

uint64_t number(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// A tensor [12,8] of int64, on the GPU and on the CPU.
struct Twice {
  Tensor gpu, cpu;
};

/// A shared tensor, and its uses by steps that are being queued.
struct Shared {
  explicit Shared(Twice of) : twice(std::move(of)) {}
  const Twice twice;
  int readers = 0;
  bool is_written = false;
};

/// The tensors that all threads of a program share. A step reserves its operands, is queued
/// concurrently with others, and replaces one of the tensors by its result.
class Program {
 public:
  Program(uint64_t seed, int threads) : seed_(seed), threads_(threads) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 4; ++i) shared_.push_back(std::make_shared<Shared>(fresh(random)));
  }
  void run() {
    std::vector<std::thread> others;
    for (int t = 1; t < threads_; ++t) others.emplace_back([this, t] { thread(t); });
    thread(0);
    for (std::thread& t : others) t.join();
    for (const auto& x : shared_) {
      if (!x->twice.gpu.to(kCPU).equal(x->twice.cpu)) complaint_ = "a tensor differs in the end";
    }
  }
  const std::string& complaint() const { return complaint_; }
  /// Number of steps that began while another was being queued.
  int overlaps() const { return overlaps_; }
  /// Number of times that a thread switched to a stream of the pool.
  int switches() const { return switches_; }

 private:
  Twice fresh(std::mt19937_64& random) {
    const int64_t value = static_cast<int64_t>(random() % 50);
    const Tensor cpu = arange(kRows * kColumns).reshape({kRows, kColumns}) + value;
    if (random() % 2 == 0) return {cpu.to(device(random)), cpu};
    return {cpu.pin_memory(kGpu).to(device(random), /*non_blocking=*/true), cpu};
  }
  Device device(std::mt19937_64& random) {
    const uint64_t index = random() % static_cast<uint64_t>(device_count("cuda"));
    return Device("cuda:" + std::to_string(index));
  }

  void thread(int number) {
    std::mt19937_64 random(seed_ * 16 + static_cast<uint64_t>(number));
    for (int step = 0; step < 25; ++step) {
      const uint64_t kind = random() % 14;
      std::optional<cuda::StreamGuard> guard;
      if (random() % 8 == 0) take_stream(random, [](cuda::Stream s) { setCurrentCUDAStream(s); });
      if (random() % 8 == 0) take_stream(random, [&](cuda::Stream s) { guard.emplace(s); });
      if (kind < 2) {
        write_in_place(random, kind == 0);
      } else {
        compute(random, kind);
      }
    }
  }

  // Use a stream of the pool, if no other thread uses it, or the thread's own.
  template <class Take>
  void take_stream(std::mt19937_64& random, const Take& take) {
    const int gpu = device(random).index();
    if (random() % 4 == 0) return take(cuda::getDefaultCUDAStream(gpu));
    try {
      take(cuda::getStreamFromPool(random() % 2 == 0, gpu));
      ++switches_;
    } catch (const BackendError&) {  // another thread uses it, and nothing has changed
    }
  }

  using Place = std::shared_ptr<Shared>;

  // Reserve two tensors: x to write or read, y to read.
  std::pair<size_t, Place> take(std::mt19937_64& random, bool writes, Place& y) {
    for (;; std::this_thread::yield()) {
      const std::lock_guard lock(mutex_);
      const size_t at = random() % shared_.size();
      const Place x = shared_[at];
      y = shared_[random() % shared_.size()];
      if (x->is_written || y->is_written || (writes && (x->readers > 0 || x == y))) continue;
      if (writes) {
        x->is_written = true;
      } else {
        ++x->readers;
      }
      ++y->readers;
      overlaps_ += at_work_++ > 0;
      return {at, x};
    }
  }
  void give_back(const Place& x, bool writes, const Place& y) {
    const std::lock_guard lock(mutex_);
    if (writes) {
      x->is_written = false;
    } else {
      --x->readers;
    }
    --y->readers;
    --at_work_;
  }

  void write_in_place(std::mt19937_64& random, bool all) {
    Place y;
    const Place x = take(random, true, y).second;
    const int64_t row = static_cast<int64_t>(random() % kRows);
    const auto write = [&](Tensor a, const Tensor& b) {
      if (all) {
        a.add_(b).remainder_(997);
      } else {
        a.select(0, row).copy_(b.select(0, (row + 1) % kRows));
      }
    };
    write(x->twice.gpu, y->twice.gpu.to(x->twice.gpu.device()));
    write(x->twice.cpu, y->twice.cpu);
    give_back(x, true, y);
  }

  void compute(std::mt19937_64& random, uint64_t kind) {
    Place y;
    const auto [at, x] = take(random, false, y);
    const Twice there{y->twice.gpu.to(x->twice.gpu.device()), y->twice.cpu};
    auto result = std::make_shared<Shared>(computed(random, kind, x->twice, there));
    give_back(x, false, y);
    const std::lock_guard lock(mutex_);
    shared_[at] = std::move(result);
  }

  // Values stay below 1000, so that sums of their products are exact in float32.
  Twice computed(std::mt19937_64& random, uint64_t kind, const Twice& x, const Twice& y) {
    const auto both = [&](const auto& f) { return Twice{f(x.gpu, y.gpu), f(x.cpu, y.cpu)}; };
    const int64_t at = static_cast<int64_t>(random() % kRows);
    switch (kind) {
      case 2:
        return both([](const Tensor& a, const Tensor& b) { return (a + b).remainder(997); });
      case 3:
        return both([](const Tensor& a, const Tensor& b) { return (a * b).remainder(991); });
      case 4:
        return both([](const Tensor& a, const Tensor& b) { return where(a > b, a, b + 1); });
      case 5:
        return both([](const Tensor& a, const Tensor&) { return a.cumsum(0).remainder(983); });
      case 6:
        return both([&](const Tensor& a, const Tensor& b) {
          return (a + b.select(0, at).sum()).remainder(997);
        });
      case 7:
        return both([&](const Tensor& a, const Tensor& b) {
          const Tensor index = b.select(1, at % kColumns).remainder(kRows);
          return a.index_select(0, index);
        });
      case 8:
        return both([](const Tensor& a, const Tensor& b) {
          const Tensor product = a.to(kFloat32).matmul(b.to(kFloat32).t());
          return (product.slice(1, 0, kColumns) - 1).to(kInt64).remainder(997);
        });
      case 9:
        return both([](const Tensor& a, const Tensor& b) {
          return cat({a.slice(0, 0, 5), b.slice(0, 5)}, 0).clone();
        });
      case 10:
        return both([](const Tensor& a, const Tensor&) {
          return a.t().contiguous().reshape({kRows, kColumns});
        });
      case 11: {
        const int64_t sum = x.gpu.sum().item<int64_t>();
        const Twice again = fresh(random);
        if (sum != x.cpu.sum().item<int64_t>()) complain("a sum differs on the way");
        return again;
      }
      case 12: {
        const Tensor host = x.gpu.to(kCPU, /*non_blocking=*/true);
        const Tensor back = host.to(device(random), /*non_blocking=*/true);
        if (random() % 8 == 0) empty_cache(kGpu);
        return {back, x.cpu.clone()};
      }
      default:
        return fresh(random);
    }
  }

  void complain(const char* what) {
    const std::lock_guard lock(mutex_);
    complaint_ = what;
  }

  const Device kGpu{"cuda"};
  const uint64_t seed_;
  const int threads_;
  std::atomic<int> switches_ = 0;
  std::mutex mutex_;  // guards the following members, and Shared's state of steps
  std::vector<std::shared_ptr<Shared>> shared_;
  int at_work_ = 0, overlaps_ = 0;
  std::string complaint_;
};

}  // namespace

TEST_CASE("gpu: random programs of several threads over shared tensors agree with the CPU") {
  if (!has_gpu()) return;
  const uint64_t count = number("AMBIT_PROGRAMS", 1000), first = number("AMBIT_PROGRAM_SEED", 1);
  int overlaps = 0, switches = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    CAPTURE(seed);
    Program program(seed, 2 + static_cast<int>(seed % 3));
    program.run();
    REQUIRE(program.complaint() == "");
    overlaps += program.overlaps();
    switches += program.switches();
  }
  CHECK(switches > 0);
  CHECK((overlaps > 0 || count < 100));  // a few programs may run without overlap
}
