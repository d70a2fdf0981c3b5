// The running device code: its work, block and thread, and the work ordered before it. Only one
// thread at a time runs device code, and it holds the runtime's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ambit::cuda::host {

struct Region;

inline constexpr unsigned kWarp = 32, kMostThreads = 1024;

/// Blocks get serial numbers as they run, and a new one at each barrier: two accesses with the same
/// serial are ordered only if they are of the same thread, or of a warp that synchronises in
/// between (a shuffle or __syncwarp). Work without threads, such as a copy, is one block.
struct AtWork {
  const char* name = nullptr;    ///< name of work that is not a kernel
  const void* kernel = nullptr;  ///< function of a kernel
  bool is_copy = false;
  int device = 0;
  uint64_t first = 1;  ///< first serial of the work
  uint64_t safe = 1;   ///< work with smaller serials is ordered before this one
  uint64_t block_first = 1, serial = 1;
  unsigned thread = 0, block = 0, threads = 1, blocks = 1;
  uint16_t warp_times[kMostThreads / kWarp] = {};  ///< syncs of each warp since a barrier
  uint64_t stamp = 0;  ///< the stamp of an access at this time; see shadow.h
  std::vector<std::pair<uint64_t, unsigned>> run;  ///< first serial and index of each block
  // Memory regions that a kernel may access.
  Region* cells = nullptr;   ///< the memory of all GPUs
  Region* shared = nullptr;  ///< the module's static memory
  uintptr_t module_begin = 0, module_bytes = 0;
  uintptr_t memory_begin = 0, memory_bytes = 0;  ///< address range of this GPU
  uintptr_t arguments = 0, stack = 0;
  size_t argument_bytes = 0, stack_bytes = 0;
  uint32_t until_switch = 0;  ///< accesses until the next thread switch
};

extern AtWork at_work;

/// Assign a new serial to the current block or work.
void begin_interval();

}  // namespace ambit::cuda::host
