#include "ticks.h"

#include <fstream>
#include <string>

namespace ambit::profiler {

bool ticks_are_of_processor = false;

namespace {

// Linux uses the TSC only if its frequency is constant and it is synchronised between cores.
bool system_trusts_processor() {
#if defined(__x86_64__)
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return file >> name && name == "tsc";
#else
  return false;
#endif
}

TickOrigin now() { return {ticks(), steady_nanoseconds()}; }

const TickOrigin& first_origin() {
  static const TickOrigin first = [] {
    ticks_are_of_processor = system_trusts_processor();
    return now();
  }();
  return first;
}

}  // namespace

TickOrigin tick_origin() {
  first_origin();
  return now();
}

double microseconds_per_tick() {
  const TickOrigin& first = first_origin();
  if (!ticks_are_of_processor) return 1e-3;
  constexpr int64_t kLongEnough = 1'000'000;  // nanoseconds; reading both clocks needs about 50
  TickOrigin last = now();
  while (last.nanoseconds - first.nanoseconds < kLongEnough) last = now();
  return static_cast<double>(last.nanoseconds - first.nanoseconds) /
         static_cast<double>(last.ticks - first.ticks) * 1e-3;
}

}  // namespace ambit::profiler
