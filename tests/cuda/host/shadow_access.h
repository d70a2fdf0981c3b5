// Checks and records one access of device code: the performance-critical part.
#pragma once

#include "at_work.h"
#include "history.h"
#include "memory.h"
#include "report.h"
#include "shadow.h"

namespace ambit::cuda::host {

constexpr bool is_write(Access a) { return a == Access::write || a == Access::atomic_write; }
constexpr bool is_atomic(Access a) { return a == Access::atomic_read || a == Access::atomic_write; }

template <class F>
void for_access(Access kind, const F& f) {
  switch (kind) {
    case Access::read:
      return f.template operator()<Access::read>();
    case Access::write:
      return f.template operator()<Access::write>();
    case Access::atomic_read:
      return f.template operator()<Access::atomic_read>();
    case Access::atomic_write:
      return f.template operator()<Access::atomic_write>();
    case Access::copy_read:
      return f.template operator()<Access::copy_read>();
  }
}

/// Compute the current thread's stamp, after a switch or a change of its times.
inline void renew_stamp() {
  const uint64_t time = at_work.warp_times[at_work.thread / kWarp];
  at_work.stamp = at_work.serial << stamps::kSerial | time << stamps::kTime |
                  uint64_t{at_work.thread} << stamps::kThread;
}

/// Return true if the access with a stamp is ordered before the current thread's, or is its own.
inline bool is_before(const Region& r, uint64_t stamp) {
  const uint64_t serial = stamp >> stamps::kSerial;
  if (serial < at_work.safe) return true;
  if (r.per_block && serial < at_work.block_first) return true;
  if (serial < at_work.first) return is_ordered(serial);
  if (serial < at_work.block_first || (stamp & stamps::kManyBlocks)) return false;
  if (serial < at_work.serial) return true;
  if (stamp & stamps::kManyThreads) return false;
  const auto thread = static_cast<unsigned>(stamp >> stamps::kThread) % kMostThreads;
  if (thread == at_work.thread) return true;
  if (thread / kWarp != at_work.thread / kWarp) return false;
  const uint64_t now = at_work.warp_times[thread / kWarp];
  return now == stamps::kMostTime || ((stamp >> stamps::kTime) & stamps::kMostTime) < now;
}

/// Return true if a word or byte with this last write is initialised.
inline bool is_valid(const Region& r, uint64_t write) {
  return r.per_block ? write >> stamps::kSerial >= at_work.block_first
                     : write >> stamps::kSerial != 0;
}
/// As above for the byte at p.
inline bool is_written(const Region& r, uintptr_t p) {
  const uint64_t word = r.words[(p - r.begin) / 4].write;
  return is_valid(r, word) ||
         ((word & stamps::kSingles) && is_valid(r, r.singles[p - r.begin].write));
}

template <Access kind>
void expect_ordered(const Region& r, uint64_t stamp, bool was_write, uintptr_t p, size_t bytes) {
  if (is_before(r, stamp)) [[likely]] {
    return;
  }
  if (is_atomic(kind) && (stamp & stamps::kAtomic)) return;
  report_race(kind, stamp, was_write, p, bytes);
}

/// Record a read in a cell.
template <Access kind>
void note_read(const Region& r, uint64_t& read) {
  const uint64_t serial = read >> stamps::kSerial, flag = is_atomic(kind) ? stamps::kAtomic : 0;
  uint64_t next = at_work.stamp | flag;
  if (serial == at_work.serial) {
    const uint64_t both = read & next & stamps::kAtomic, blocks = read & stamps::kManyBlocks;
    const auto thread = static_cast<unsigned>(read >> stamps::kThread) % kMostThreads;
    const bool alone =
        thread == at_work.thread ? !(read & stamps::kManyThreads) : is_before(r, read & ~blocks);
    next = (next & ~stamps::kAtomic) | both | blocks | (alone ? 0 : stamps::kManyThreads);
  } else if (serial >= at_work.block_first) {
    next |= read & stamps::kManyBlocks;
  } else if (serial >= at_work.first && !r.per_block) {
    next |= stamps::kManyBlocks;
  }
  if (next != read) read = next;
}

template <Access kind>
void access_cell(Region& r, Cell& c, uintptr_t p, size_t bytes) {
  expect_ordered<kind>(r, c.write, true, p, bytes);
  if constexpr (is_write(kind)) {
    expect_ordered<kind>(r, c.read, false, p, bytes);
    const uint64_t kept = c.write & stamps::kSingles;
    c.write = at_work.stamp | kept | (is_atomic(kind) ? stamps::kAtomic : 0);
    if constexpr (!is_atomic(kind)) c.read = 0;
  } else {
    note_read<kind>(r, c.read);
  }
}

template <Access kind>
void access_word(Region& r, uintptr_t p) {
  Cell& word = r.words[(p - r.begin) / 4];
  if (!is_valid(r, word.write)) [[unlikely]] {
    if (!r.per_block) expect_allocated(kind, p, 4);
    if (kind == Access::read) {
      for (uintptr_t i = p; i < p + 4; ++i) {
        if (!is_written(r, i)) report_unwritten(i, p, 4);
      }
    }
  }
  if (word.write & stamps::kSingles) {
    for (uintptr_t i = p; i < p + 4; ++i) access_cell<kind>(r, r.singles[i - r.begin], i, 1);
  }
  const bool had_singles = word.write & stamps::kSingles;
  if (is_write(kind) || is_valid(r, word.write)) access_cell<kind>(r, word, p, 4);
  if (kind == Access::write && had_singles) {  // the word's cell is sufficient now
    for (uintptr_t i = p; i < p + 4; ++i) r.singles[i - r.begin] = {};
    word.write &= ~stamps::kSingles;
  }
}

template <Access kind>
void access_single(Region& r, uintptr_t p) {
  Cell &word = r.words[(p - r.begin) / 4], &single = r.singles[p - r.begin];
  if (!is_written(r, p)) [[unlikely]] {
    if (!r.per_block) expect_allocated(kind, p, 1);
    if (kind == Access::read) report_unwritten(p, p, 1);
  }
  expect_ordered<kind>(r, word.write, true, p, 1);
  if (is_write(kind)) expect_ordered<kind>(r, word.read, false, p, 1);
  word.write |= stamps::kSingles;
  access_cell<kind>(r, single, p, 1);
}

template <Access kind>
void access_region(Region& r, uintptr_t p, size_t bytes) {
  for (const uintptr_t end = p + bytes; p < end;) {
    if (p % 4 == 0 && end - p >= 4) {
      access_word<kind>(r, p);
      p += 4;
    } else {
      access_single<kind>(r, p);
      p += 1;
    }
  }
}

/// Any address: memory of the current GPU, shared memory, or other memory to look up.
template <Access kind>
[[gnu::always_inline]] inline void access_memory(uintptr_t p, size_t bytes) {
  if (p - at_work.memory_begin >= at_work.memory_bytes) [[unlikely]] {
    Region* const shared = at_work.shared;
    if (shared && p - shared->begin < shared->bytes) return access_region<kind>(*shared, p, bytes);
    if (!device_memory().holds(p)) return expect_of_the_host(kind, p, bytes);
    expect_reachable(kind, p, bytes);
  }
  access_region<kind>(*at_work.cells, p, bytes);
}

}  // namespace ambit::cuda::host
