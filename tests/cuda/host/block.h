// A block of a kernel: its threads, each a fiber once it has to wait, in random order. A fiber runs
// thread after thread until one waits for others or is made to stop, so that kernels without
// barriers need no switch.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ambit::cuda::host {

struct Kernel {
  const void* function;
  void (*call)(const void* function, const void* arguments);  ///< as one thread
  const void* arguments;
  unsigned threads;  ///< of each block
};

/// Run block at_work.block to its end. Requires: begin_work().
void run_block(const Kernel& kernel);

/// Whether device code runs on this stack.
inline bool is_fiber(uintptr_t stack_pointer);

/// Let other threads of the block go on first.
void let_others_go_on();

/// What a thread has of the two factors of a product of its warp.
struct Factors {
  uint32_t left[4], right[2];
};
/// Give the warp these. Return those of its 32 threads, good until the next but one of its
/// exchanges.
const Factors* exchange_factors(const Factors& mine);

/// The addresses that hold the stacks of all fibers.
extern uintptr_t stacks_begin;
inline constexpr size_t kStackBytes = size_t{64} << 10;
inline constexpr size_t kStacksBytes = kStackBytes * 1024;

inline bool is_fiber(uintptr_t stack_pointer) {
  return stack_pointer - stacks_begin < kStacksBytes;
}

}  // namespace ambit::cuda::host
