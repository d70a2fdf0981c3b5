// The clock that calls are stamped with: the processor's own counter where the system trusts it for
// its clock, which takes half of the time that to ask the system takes.
#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace ambit::profiler {

inline int64_t steady_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Whether ticks() counts the processor's. Set when the first profile begins.
extern bool ticks_are_of_processor;

inline int64_t ticks() {
#if defined(__x86_64__)
  if (ticks_are_of_processor) [[likely]]
    return static_cast<int64_t>(__rdtsc());
#endif
  return steady_nanoseconds();
}

/// Where a profile begins on both clocks.
struct TickOrigin {
  int64_t ticks = 0, nanoseconds = 0;
};
/// Return where they are now; before the first ticks().
TickOrigin tick_origin();
/// Return what a tick is of a microsecond. Waits until a millisecond has passed since the first
/// origin, over which the clocks can be compared.
double microseconds_per_tick();

}  // namespace ambit::profiler
