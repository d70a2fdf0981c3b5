#include "report.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "block.h"
#include "history.h"
#include "memory.h"
#include "peers.h"
#include "shadow_access.h"
#include "symbol.h"

namespace ambit::cuda::host {
namespace {

std::string name_of(const Ran& ran) {
  return ran.kernel ? "kernel " + function_name(ran.kernel) : ran.name ? ran.name : "no work";
}

std::string verb(Access kind) {
  switch (kind) {
    case Access::write:
      return "write";
    case Access::atomic_write:
    case Access::atomic_read:
      return "atomic access";
    case Access::read:
    case Access::copy_read:
      break;
  }
  return "read";
}

// Describe the location of an address.
std::string place(uintptr_t p) {
  const DeviceMemory& memory = device_memory();
  if (at_work.shared && p - at_work.shared->begin < at_work.shared->bytes) {
    return fmt::format("{:#x}, of shared memory", p);
  }
  if (!memory.holds(p)) return fmt::format("{:#x}", p);
  if (const Allocation* a = memory.find(p)) {
    return fmt::format("{:#x}, byte {} of an allocation of {} bytes of cuda:{}", p, p - a->begin,
                       a->bytes, a->device);
  }
  const Allocation* a = memory.before(p);
  return fmt::format(
      "{:#x}, {}of cuda:{}", p,
      a ? fmt::format("byte {} of an allocation of {} bytes ", p - a->begin, a->bytes) : "",
      memory.device_at(p));
}

std::string access(Access kind, size_t bytes, uintptr_t p) {
  return fmt::format("{} of {} bytes at {}", verb(kind), bytes, place(p));
}

unsigned block_of(uint64_t serial) {
  unsigned block = 0;
  for (const auto& [first, index] : at_work.run) {
    if (first <= serial) block = index;
  }
  return block;
}

}  // namespace

void report(const std::string& what) {
  std::string where = "in " + name_of({at_work.name, at_work.kernel});
  if (at_work.kernel) {
    where += fmt::format(", block {} of {}, thread {} of {}", at_work.block, at_work.blocks,
                         at_work.thread, at_work.threads);
  }
  where += fmt::format(", on cuda:{}", at_work.device);
  // A single line, because some programs show only the last line of a process.
  std::fprintf(stderr, "ambit: CUDA on the host: %s, %s\n", what.c_str(), where.c_str());
  std::fflush(stderr);
  std::abort();
}

void report_race(Access kind, uint64_t stamp, bool was_write, uintptr_t p, size_t bytes) {
  const uint64_t serial = stamp >> stamps::kSerial;
  std::string other = was_write ? "written" : "read";
  if (serial < at_work.first) {
    other += " by " + name_of(what_ran(serial)) + ", which no event or wait orders before";
  } else {
    const uint64_t thread = (stamp >> stamps::kThread) % kMostThreads;
    other += fmt::format(" by thread {} of block {}", thread, block_of(serial));
    if (stamp & (stamps::kManyThreads | stamps::kManyBlocks)) other += " and others";
    other += serial < at_work.block_first ? "" : ", with no barrier between";
  }
  report(fmt::format("a race: {}, {}", access(kind, bytes, p), other));
}

void report_unwritten(uintptr_t p, uintptr_t begin, size_t bytes) {
  report(access(Access::read, bytes, begin) +
         fmt::format(", of which byte {} was never written", p - begin));
}

void expect_allocated(Access kind, uintptr_t p, size_t bytes) {
  const DeviceMemory& memory = device_memory();
  const Allocation* a = memory.find(p);
  if (a && p + bytes <= a->begin + a->bytes) return;
  report(access(kind, bytes, p) +
         (!a && memory.was_freed(p) ? ", which was freed" : ", out of the bounds of memory"));
}

void expect_reachable(Access kind, uintptr_t p, size_t bytes) {
  const int owner = device_memory().device_at(p);
  if (owner == at_work.device || may_access(at_work.device, owner)) return;
  if (at_work.is_copy) return;  // without peer access it goes through the host
  report(access(kind, bytes, p) +
         fmt::format(", to which cuda:{} was given no access", at_work.device));
}

void expect_of_the_host(Access kind, uintptr_t p, size_t bytes) {
  if (p - at_work.arguments < at_work.argument_bytes && !is_write(kind)) return;
  if (p - at_work.module_begin < at_work.module_bytes && !is_write(kind)) return;
  if (pinned_memory().holds(p, bytes)) return;
  report(access(kind, bytes, p) + (is_fiber(p) ? ", a local variable of another thread"
                                               : ", which is not memory of the GPU"));
}

}  // namespace ambit::cuda::host
