// The results of a stopped profile. Private to core.
#pragma once

#include <functional>

#include "recorder.h"

namespace ambit::profiler {

struct Profile::Results {
  Recorder::Recording recorded;
  size_t dropped = 0;
  uint64_t profile = 0;  // its number while active; 0: stopped
};

/// Call f with each call, by thread, in the order in which they ended.
void for_each_event(const Recorder::Recording& all, const std::function<void(FunctionEvent)>& f);
/// Return the displayed name.
std::string shown_name(const char* name, EventKind kind);
inline double microseconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

}  // namespace ambit::profiler
