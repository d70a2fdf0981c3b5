#include <ambit/settings.h>

#include <atomic>

namespace ambit {
namespace {

// Relaxed: each is independent of other data.
constinit std::atomic<bool> tf32{false}, deterministic_only{false}, benchmark_first{false};

}  // namespace

void allow_tf32(bool allowed) { tf32 = allowed; }
bool is_tf32_allowed() { return tf32.load(std::memory_order_relaxed); }

void set_deterministic(bool deterministic) { deterministic_only = deterministic; }
bool is_deterministic() { return deterministic_only.load(std::memory_order_relaxed); }

void set_benchmark(bool benchmark) { benchmark_first = benchmark; }
bool is_benchmark() { return benchmark_first.load(std::memory_order_relaxed); }

}  // namespace ambit
