// What device code runs now: which work, which block and thread of it, and what came before. There
// is one at a time, under the runtime's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ambit::cuda::host {

struct Region;

inline constexpr unsigned kWarp = 32, kMostThreads = 1024;

/// Blocks get serial numbers as they run, and a new one at each of their barriers: of two accesses
/// with one serial only the same thread's, or those of a warp with an exchange between, have an
/// order. Work without threads, such as a copy, is one block.
struct AtWork {
  const char* name = nullptr;    ///< of work that is no kernel
  const void* kernel = nullptr;  ///< the function of a kernel
  bool is_copy = false;
  int device = 0;
  uint64_t first = 1;  ///< the serial that the work begins with
  uint64_t safe = 1;   ///< all work before this serial is done before, by the order of streams
  uint64_t block_first = 1, serial = 1;
  unsigned thread = 0, block = 0, threads = 1, blocks = 1;
  uint16_t warp_times[kMostThreads / kWarp] = {};  ///< exchanges since the last barrier
  uint64_t stamp = 0;                              ///< of an access now: see shadow.h
  std::vector<std::pair<uint64_t, unsigned>> run;  ///< the first serial and index of each block
  // What a kernel may touch beside the memory of the GPU.
  Region* cells = nullptr;   ///< of all GPUs' memory
  Region* shared = nullptr;  ///< the module's static memory
  uintptr_t module_begin = 0, module_bytes = 0;
  uintptr_t memory_begin = 0, memory_bytes = 0;  ///< of the GPU at work: all its addresses
  uintptr_t arguments = 0, stack = 0;
  size_t argument_bytes = 0, stack_bytes = 0;
  uint32_t until_switch = 0;  ///< accesses before another thread gets its turn
};

extern AtWork at_work;

/// Give the block at work, or the work, a new serial.
void begin_interval();

}  // namespace ambit::cuda::host
