// Counters for ambit/cuda_counters.h. Relaxed: they guard no other data.
#pragma once

#include <atomic>
#include <cstdint>

namespace ambit::cuda {

inline constinit std::atomic<uint64_t> counted_allocations{0}, counted_waits{0}, counted_calls{0},
    counted_fault_records{0};

inline void count(std::atomic<uint64_t>& counter) {
  counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace ambit::cuda
