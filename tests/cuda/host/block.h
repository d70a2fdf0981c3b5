// Runs a block of a kernel: its threads in random order. A fiber runs thread after thread until one
// waits for others or is preempted, so kernels without barriers need no fiber switch.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ambit::cuda::host {

struct Kernel {
  const void* function;
  void (*call)(const void* function, const void* arguments);  ///< run one thread
  const void* arguments;
  unsigned threads;  ///< per block
};

/// Run block at_work.block to completion. Requires: begin_work().
void run_block(const Kernel& kernel);

/// Return true if device code runs on this stack.
inline bool is_fiber(uintptr_t stack_pointer);

/// Yield to other threads of the block.
void let_others_go_on();

/// A thread's fragments of the two factors of a warp's matrix product.
struct Factors {
  uint32_t left[4], right[2];
};
/// Share these with the warp. Return those of its 32 threads, valid until the warp has synchronised
/// twice more.
const Factors* exchange_factors(const Factors& mine);

/// Address range of the stacks of all fibers.
extern uintptr_t stacks_begin;
inline constexpr size_t kStackBytes = size_t{64} << 10;
inline constexpr size_t kStacksBytes = kStackBytes * 1024;

inline bool is_fiber(uintptr_t stack_pointer) {
  return stack_pointer - stacks_begin < kStacksBytes;
}

}  // namespace ambit::cuda::host
