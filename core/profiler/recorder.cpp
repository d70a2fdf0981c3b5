#include "recorder.h"

#include <ambit/backend/op.h>
#include <ambit/backend/registry.h>
#include <ambit/error.h>
#include <ambit/memory.h>

#include <algorithm>
#include <utility>

#include "core/devices/backend_call.h"

namespace ambit::profiler {
namespace {

// Marks a thread's log as ended when the thread ends.
struct AtEndOfThread {
  bool is_registered = false;
  ~AtEndOfThread() {
    if (ThreadLog::own) ThreadLog::own->has_ended = true;
    ThreadLog::own = nullptr;
  }
};
thread_local AtEndOfThread at_end_of_thread;

std::unique_ptr<TimeMark> mark_time(Device device) {
  Backend& backend = usable_backend(device);
  return call_backend(device, "mark_time()", [&] { return backend.mark_time(device.index()); });
}

}  // namespace

constinit thread_local ThreadLog* ThreadLog::own = nullptr;
std::atomic<uint64_t> Recorder::current_{0};
std::atomic<bool> Recorder::records_more_{false};

Recorder& Recorder::get() {
  static auto* recorder = new Recorder;  // leaked: threads may outlive main
  return *recorder;
}

uint64_t Recorder::start(const ProfileOptions& options) {
  const std::lock_guard alone(start_stop_mutex_);
  if (current() != 0) throw Error("Profile: expected no other active profile, got one");
  const std::lock_guard lock(mutex_);
  std::erase_if(logs_, [](const auto& log) { return log->has_ended.load(); });
  names_.clear();
  memory_.clear();
  offsets_.clear();
  records_shapes_ = options.record_shapes;
  records_memory_ = options.profile_memory;
  records_more_ = options.record_shapes || options.profile_memory;
  most_kept_ = options.max_events;
  kept_ = 0;
  next_thread_ = 0;
  ++profiles_;
  own_log_locked().enter(profiles_);  // thread 0 is this one
  OpBase::set_profiled(true);
  started_ = tick_origin();
  current_.store(profiles_, std::memory_order_release);
  return profiles_;
}

Recorder::Recording Recorder::stop() {
  const std::lock_guard alone(start_stop_mutex_);
  Recording all;
  const uint64_t profile = current_.exchange(0);
  OpBase::set_profiled(false);
  std::vector<ThreadLog*> logs;
  {
    const std::lock_guard lock(mutex_);
    all.start = started_;
    for (const auto& log : logs_) logs.push_back(log.get());
  }
  for (ThreadLog* log : logs) {
    ThreadLog::Collected collected = log->collect(profile);
    if (!collected.sums.empty()) all.threads.push_back(std::move(collected));
  }
  all.microseconds_per_tick = microseconds_per_tick();
  const std::lock_guard lock(mutex_);
  all.names.swap(names_);
  return all;
}

ThreadLog& Recorder::new_log() {
  const std::lock_guard lock(mutex_);
  return own_log_locked();
}

ThreadLog& Recorder::own_log_locked() {
  if (!ThreadLog::own) {
    ThreadLog::own = logs_.emplace_back(std::make_unique<ThreadLog>()).get();
    at_end_of_thread.is_registered = true;
  }
  return *ThreadLog::own;
}

bool Recorder::keep(size_t calls) {
  const size_t most = most_kept_.load(std::memory_order_relaxed);
  return kept_.fetch_add(calls, std::memory_order_relaxed) + calls <= most;
}

const char* Recorder::intern(uint64_t profile, std::string_view text) {
  const std::lock_guard lock(mutex_);
  // stop() waits for the lock and then moves all names, including this one, to the results.
  return profile == current() ? names_.emplace(text).first->c_str() : nullptr;
}

void Recorder::watch_memory(Device device) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(memory_, device, &MemoryCounters::device) != memory_.end()) return;
  const MemoryStats stats = ambit::memory_stats(device);
  memory_.push_back({device, stats.allocated, stats.allocated - stats.in_use, stats.peak_in_use});
}

// Read the statistics while holding the lock, so that concurrent callers do not count memory twice.
More Recorder::memory_since(Device device) {
  More more;
  const std::lock_guard lock(mutex_);
  const auto seen = std::ranges::find(memory_, device, &MemoryCounters::device);
  if (seen == memory_.end()) return more;
  const MemoryStats stats = ambit::memory_stats(device);
  const size_t freed = stats.allocated - stats.in_use;
  more.allocated = static_cast<int64_t>(stats.allocated - seen->allocated);
  more.freed = static_cast<int64_t>(freed - seen->freed);
  more.in_use = static_cast<int64_t>(stats.in_use);
  more.reserved = static_cast<int64_t>(stats.in_use + stats.cached);
  // If the maximum is new, it is this call's peak; else what is in use now.
  more.peak =
      static_cast<int64_t>(stats.peak_in_use > seen->peak ? stats.peak_in_use : stats.in_use);
  *seen = {device, stats.allocated, freed, stats.peak_in_use};
  return more;
}

int64_t Recorder::clock_offset(Device device) {
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(offsets_, device, &Offset::device);
  if (known != offsets_.end()) return known->nanoseconds;
  // The host sees a mark with a delay, which is always positive, so the minimum of several
  // measurements is the best estimate.
  constexpr int kMarks = 5;
  int64_t least = INT64_MAX;
  for (int i = 0; i < kMarks; ++i) {
    const std::unique_ptr<TimeMark> mark = mark_time(device);
    const int64_t reached = mark ? mark->nanoseconds() : -1;
    if (reached < 0) return kUnknownOffset;
    least = std::min(least, steady_nanoseconds() - reached);
  }
  return offsets_.emplace_back(Offset{device, least}).nanoseconds;
}

std::unique_ptr<TimeMark> Recorder::begin_more(const Call& call) {
  if (records_memory_ && call.is_on_device()) watch_memory(call.device);
  if (call.device.is_cpu() || !(call.is_kernel || call.kind == EventKind::copy)) return nullptr;
  if (clock_offset(call.device) == kUnknownOffset) return nullptr;
  return mark_time(call.device);
}

void Recorder::end_more(ThreadLog& log) noexcept try {
  const Call& call = log.last_open();
  ThreadLog::Kept kept = log.take();
  std::unique_ptr<TimeMark> end;
  if (kept.mark) end = mark_time(call.device);
  More more;
  if (records_memory_ && call.is_on_device()) more = memory_since(call.device);
  more.shapes = kept.shapes;
  log.add_more(more, std::move(kept.mark), std::move(end));
} catch (...) {  // the call is recorded without these data
}

}  // namespace ambit::profiler
