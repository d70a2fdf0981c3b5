// The clock of recorded calls: the processor's TSC if Linux uses it as its clock source;
// reading it costs half as much as a call to the system's clock.
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

/// True if ticks() reads the TSC. Set when the first profile starts.
extern bool ticks_are_of_processor;

inline int64_t ticks() {
#if defined(__x86_64__)
  if (ticks_are_of_processor) [[likely]]
    return static_cast<int64_t>(__rdtsc());
#endif
  return steady_nanoseconds();
}

/// One moment on both clocks.
struct TickOrigin {
  int64_t ticks = 0, nanoseconds = 0;
};
/// Return the present moment; call it before the first ticks().
TickOrigin tick_origin();
/// Return the microseconds per tick. Waits until a millisecond has passed since the first origin,
/// enough to compare the clocks.
double microseconds_per_tick();

}  // namespace ambit::profiler
