// Reporting of calls to the active profile: the work done for each call, kept to few instructions.
#include <utility>

#include "recorder.h"

namespace ambit::profiler {

uint64_t begin_call(uint64_t profile, const Call& call, const char* shapes) noexcept try {
  ThreadLog& log = ThreadLog::own ? *ThreadLog::own : Recorder::get().new_log();
  if (log.profile() != profile) [[unlikely]]
    log.enter(profile);
  if (call.device.is_cpu() && !Recorder::records_more()) [[likely]] {
    log.begin(call);
  } else {
    std::unique_ptr<TimeMark> mark = Recorder::get().begin_more(call);
    log.begin(call);
    log.keep(std::move(mark), shapes);
  }
  return profile;
} catch (...) {
  return 0;
}

void end_call(uint64_t profile) noexcept {
  const int64_t end = ticks();
  ThreadLog* const log = ThreadLog::own;
  // Another profile may have started and discarded the calls of this one.
  if (!log || log->profile() != profile || !log->has_open()) return;
  if (!log->last_open().device.is_cpu() || Recorder::records_more()) [[unlikely]] {
    Recorder::get().end_more(*log);
  }
  log->end(end);
}

uint64_t begin_scope(std::string_view name) noexcept try {
  const uint64_t profile = Recorder::current();
  const char* kept = profile != 0 ? Recorder::get().intern(profile, name) : nullptr;
  return kept ? begin_call(profile, {.name = kept, .kind = EventKind::scope}) : 0;
} catch (...) {
  return 0;
}

void Scope::begin(EventKind kind, const char* name, Device device, size_t bytes) noexcept {
  if (const uint64_t profile = Recorder::current(); profile != 0) {
    profile_ = begin_call(
        profile,
        {.name = name, .device = device, .kind = kind, .bytes = static_cast<int64_t>(bytes)});
  }
}

}  // namespace ambit::profiler
