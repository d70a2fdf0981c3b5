// Random programs of several threads that share tensors, each thread with a stream of its own:
// every step is done on the GPU, late, and on the CPU, at once, and both must agree in the end.
// AMBIT_PROGRAMS says how many there are, AMBIT_PROGRAM_SEED where their seeds begin.
#include <ambit/ambit.h>
#include <ambit/memory.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "has_gpu.h"

using namespace ambit;

namespace {

constexpr int64_t kRows = 12, kColumns = 8;

uint64_t number(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// A tensor [12,8] of int64, twice.
struct Twice {
  Tensor gpu, cpu;
};

/// The tensors that all threads of a program share; the host does one step at a time, whose work
/// overlaps with that of others.
class Program {
 public:
  Program(uint64_t seed, int threads) : seed_(seed), threads_(threads) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 4; ++i) shared_.push_back(fresh(random));
  }
  void run() {
    std::vector<std::thread> others;
    for (int t = 1; t < threads_; ++t) others.emplace_back([this, t] { thread(t); });
    thread(0);
    for (std::thread& t : others) t.join();
    for (const Twice& x : shared_) {
      if (!x.gpu.to(kCPU).equal(x.cpu)) complaint_ = "a tensor differs in the end";
    }
  }
  const std::string& complaint() const { return complaint_; }

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
      const std::lock_guard lock(mutex_);
      Twice& x = shared_[random() % shared_.size()];
      const Twice& other = shared_[random() % shared_.size()];
      const Tensor y = other.gpu.to(x.gpu.device());
      this->step(random, x, {y, other.cpu});
    }
  }

  // Values stay below 1000, so that float32 holds sums of their products.
  void step(std::mt19937_64& random, Twice& x, const Twice& y) {
    const auto both = [&](const auto& f) { x = {f(x.gpu, y.gpu), f(x.cpu, y.cpu)}; };
    const int64_t at = static_cast<int64_t>(random() % kRows);
    switch (random() % 14) {
      case 0:
        return both([](const Tensor& a, const Tensor& b) { return (a + b).remainder(997); });
      case 1:
        return both([](const Tensor& a, const Tensor& b) { return (a * b).remainder(991); });
      case 2:
        return both([](Tensor a, const Tensor& b) { return a.add_(b).remainder_(997); });
      case 3:
        return both([](const Tensor& a, const Tensor& b) { return where(a > b, a, b + 1); });
      case 4:
        return both([](const Tensor& a, const Tensor&) { return a.cumsum(0).remainder(983); });
      case 5:
        return both([&](const Tensor& a, const Tensor& b) {
          return (a + b.select(0, at).sum()).remainder(997);
        });
      case 6:
        return both([&](const Tensor& a, const Tensor& b) {
          const Tensor index = b.select(1, at % kColumns).remainder(kRows);
          return a.index_select(0, index);
        });
      case 7:
        return both([&](Tensor a, const Tensor& b) {
          if (a.data_ptr() == b.data_ptr()) return a;  // of one tensor the order would be open
          a.select(0, at).copy_(b.select(0, (at + 1) % kRows));
          return a;
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
      case 11:
        if (x.gpu.sum().item<int64_t>() != x.cpu.sum().item<int64_t>()) {
          complaint_ = "a sum differs on the way";
        }
        return;
      case 12: {
        const Tensor host = x.gpu.to(kCPU, /*non_blocking=*/true);
        x.gpu = host.to(device(random), /*non_blocking=*/true);
        if (random() % 8 == 0) empty_cache(kGpu);
        return;
      }
      default:
        x = fresh(random);
    }
  }

  const Device kGpu{"cuda"};
  const uint64_t seed_;
  const int threads_;
  std::mutex mutex_;
  std::vector<Twice> shared_;
  std::string complaint_;
};

}  // namespace

TEST_CASE("gpu: random programs of several threads over shared tensors agree with the CPU") {
  if (!has_gpu()) return;
  const uint64_t count = number("AMBIT_PROGRAMS", 1000), first = number("AMBIT_PROGRAM_SEED", 1);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    CAPTURE(seed);
    Program program(seed, 2 + static_cast<int>(seed % 3));
    program.run();
    REQUIRE(program.complaint() == "");
  }
}
