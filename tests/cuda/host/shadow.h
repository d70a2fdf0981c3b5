// Shadow state of every byte that device code can access: its last write, and the reads since. It
// reveals uninitialised reads and races: two accesses, at least one of them a write, by threads
// without synchronisation in between. They are detected whatever the order of execution.
#pragma once

#include <cstddef>
#include <cstdint>

#include "at_work.h"

namespace ambit::cuda::host {

/// The last write and the reads since. 0: none; else a stamp:
///   serial (36 bits) | synchronisations of the warp (14) | thread (10) | flags (4)
struct Cell {
  uint64_t write, read;
};
namespace stamps {
inline constexpr int kSerial = 28, kTime = 14, kThread = 4;
inline constexpr uint64_t kMostTime = 0x3fff;
inline constexpr uint64_t kAtomic = 1;
inline constexpr uint64_t kManyThreads = 2, kManyBlocks = 4;  // reads by several threads or blocks
inline constexpr uint64_t kSingles =
    8;  // flag of a word's `write`: the word's bytes have their own cells
}  // namespace stamps

/// Memory with cells: one per 4-byte word, and one per byte where smaller accesses occurred.
struct Region {
  uintptr_t begin;
  size_t bytes;
  Cell *words, *singles;
  bool per_block;  ///< shared memory: invisible to other blocks
};

/// Return a region with all cells 0.
Region make_region(uintptr_t begin, size_t bytes, bool per_block);
/// Return the region of the GPUs' memory.
Region& device_region();
/// Clear the cells of freed memory.
void clear_shadow(uintptr_t begin, size_t bytes);
/// After a copy: mark the bytes of `to` as uninitialised where those of `from` are. Both are GPU
/// memory.
void copy_unwritten(uintptr_t to, uintptr_t from, size_t bytes);

/// Atomic accesses do not race with each other; a volatile access counts as atomic.
enum class Access { read, write, atomic_read, atomic_write, copy_read };

/// Check and record an access of a copy or library to any memory. An error ends the process.
void check_range(Access kind, uintptr_t p, size_t bytes);

}  // namespace ambit::cuda::host
