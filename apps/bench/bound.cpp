#include "bound.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

namespace bench {
namespace {

constexpr double kNoResult = NAN;

// Copies as many bytes as half of the row's: each byte of the row is either read or written.
class Copy final : public Work {
 public:
  Copy(double bytes, int threads)
      : from_(static_cast<size_t>(bytes / 2), 'a'), to_(from_.size(), 'b') {
    // If the data fit into one core's cache, one thread may be faster.
    double fastest = INFINITY;
    for (const int n : {1, threads}) {
      const double seconds = seconds_with(n);
      if (seconds < fastest) std::tie(fastest, threads_) = std::pair(seconds, n);
    }
  }
  void run() override { copy(threads_); }
  double result() override { return kNoResult; }

 private:
  void copy(int threads) {
    const size_t piece =
        (from_.size() + static_cast<size_t>(threads) - 1) / static_cast<size_t>(threads);
#pragma omp parallel for num_threads(threads)
    for (int i = 0; i < threads; ++i) {
      const size_t begin = std::min(from_.size(), static_cast<size_t>(i) * piece);
      std::memcpy(to_.data() + begin, from_.data() + begin, std::min(piece, from_.size() - begin));
    }
  }
  double seconds_with(int threads) {
    using Clock = std::chrono::steady_clock;
    double fastest = INFINITY;
    for (int i = 0; i < 10; ++i) {
      const Clock::time_point start = Clock::now();
      copy(threads);
      fastest = std::min(fastest, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return fastest;
  }

  std::vector<char> from_, to_;
  int threads_ = 1;
};

typedef float Lanes __attribute__((vector_size(64)));
constexpr double kLanes = 16;

// The number of independent sums: enough to hide the latency of a multiply-add, few enough to fit
// into registers.
template <size_t... kSums>
inline __attribute__((always_inline)) float multiply_add(long rounds,
                                                         std::index_sequence<kSums...>) {
  // Sums with equal initial values would stay equal, and be computed only once.
  Lanes sums[] = {(Lanes{} - static_cast<float>(kSums))...};
  const Lanes a = Lanes{} + 0.5F, b = Lanes{} + 1.0F;
  for (long i = 0; i < rounds; ++i) {
    ((sums[kSums] = sums[kSums] * a + b), ...);
  }
  return ((sums[kSums][0]) + ...);
}

struct Loop {
  float (*run)(long rounds);
  double flops_per_round;
};

float plain(long rounds) { return multiply_add(rounds, std::make_index_sequence<4>()); }

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) float avx2(long rounds) {
  return multiply_add(rounds, std::make_index_sequence<6>());
}
__attribute__((target("avx512f"))) float avx512(long rounds) {
  return multiply_add(rounds, std::make_index_sequence<12>());
}
Loop best_loop() {
  if (__builtin_cpu_supports("avx512f")) return {avx512, 12 * kLanes * 2};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {avx2, 6 * kLanes * 2};
  }
  return {plain, 4 * kLanes * 2};
}
#else
Loop best_loop() { return {plain, 4 * kLanes * 2}; }
#endif

class MultiplyAdd final : public Work {
 public:
  MultiplyAdd(double flops, int threads)
      : threads_(threads), rounds_(std::lround(flops / threads / loop_.flops_per_round) + 1) {}
  void run() override {
#pragma omp parallel for num_threads(threads_)
    for (int i = 0; i < threads_; ++i) {
      volatile float sink = loop_.run(rounds_);
      (void)sink;
    }
  }
  double result() override { return kNoResult; }

 private:
  const Loop loop_ = best_loop();
  int threads_;
  long rounds_;
};

}  // namespace

std::unique_ptr<Work> make_bound(const Cost& cost, int threads) {
  if (cost.flops > 0) return std::make_unique<MultiplyAdd>(cost.flops, threads);
  if (cost.bytes > 0) return std::make_unique<Copy>(cost.bytes, threads);
  return nullptr;
}

}  // namespace bench
