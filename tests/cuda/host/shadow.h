// What is known of every byte that device code can touch: who wrote it last, and who has read it
// since. From it follow memory that was never written, and races: two accesses, one of them a
// write, of threads with nothing between that orders them. They are found whatever the order in
// which the threads happened to run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "at_work.h"

namespace ambit::cuda::host {

/// The last write and the reads since. 0: none; else a stamp:
///   serial (36 bits) | exchanges of the warp (14) | thread (10) | flags (4)
struct Cell {
  uint64_t write, read;
};
namespace stamps {
inline constexpr int kSerial = 28, kTime = 14, kThread = 4;
inline constexpr uint64_t kMostTime = 0x3fff;
inline constexpr uint64_t kAtomic = 1;
inline constexpr uint64_t kManyThreads = 2, kManyBlocks = 4;  // of reads: not only the one named
inline constexpr uint64_t kSingles = 8;  // of a word's write: its bytes have cells of their own
}  // namespace stamps

/// Memory with cells: one for each word of 4 bytes, and where less was accessed one for each byte.
struct Region {
  uintptr_t begin;
  size_t bytes;
  Cell *words, *singles;
  bool per_block;  ///< shared memory: what another block wrote is not there
};

/// Return a region with all cells 0.
Region make_region(uintptr_t begin, size_t bytes, bool per_block);
/// The GPUs' memory.
Region& device_region();
/// Forget what was written to memory that is freed.
void clear_shadow(uintptr_t begin, size_t bytes);
/// Let `to` count as never written where `from` does: after a copy that has written all of it. Both
/// in GPUs' memory.
void copy_unwritten(uintptr_t to, uintptr_t from, size_t bytes);

/// Atomic ones have no race with each other; what a volatile says is one, too.
enum class Access { read, write, atomic_read, atomic_write, copy_read };

/// Check a copy's or a library's access to memory anywhere, and note it. What is wrong ends the
/// process.
void check_range(Access kind, uintptr_t p, size_t bytes);

}  // namespace ambit::cuda::host
