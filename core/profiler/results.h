// What a profile has when it has stopped. Private to core.
#pragma once

#include "recorder.h"

namespace ambit::profiler {

struct Profile::Results {
  Recorder::Everything recorded;
  size_t dropped = 0;
  uint64_t profile = 0;  // its number while it is on; 0: it has stopped
};

/// Return a call as it is shown. `origin`: nanoseconds of the steady clock where the profile began.
FunctionEvent event_of(const Call& call, int thread, int64_t origin);
/// Return the name as it is shown.
std::string shown_name(const char* name, EventKind kind);
inline double microseconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

}  // namespace ambit::profiler
