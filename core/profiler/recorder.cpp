#include "recorder.h"

#include <ambit/backend/op.h>
#include <ambit/backend/registry.h>
#include <ambit/error.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace ambit::profiler {
namespace {

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The log of a thread goes to the recorder when the thread ends.
struct OwnLog {
  ThreadLog* log = nullptr;
  ~OwnLog() {
    if (log) log->has_ended = true;
    log = nullptr;
  }
};
thread_local OwnLog own_log;

}  // namespace

std::atomic<uint64_t> Recorder::current_{0};

Recorder& Recorder::get() {
  static auto* recorder = new Recorder;  // leaked: threads may outlast main
  return *recorder;
}

uint64_t Recorder::start(const ProfileOptions& options) {
  const std::lock_guard alone(turn_);
  if (current() != 0)
    throw Error("Profile: expected no other at the same time, got one that is on");
  const std::lock_guard lock(mutex_);
  std::erase_if(logs_, [](const auto& log) { return log->has_ended.load(); });
  names_.clear();
  memory_.clear();
  offsets_.clear();
  records_shapes_ = options.record_shapes;
  records_memory_ = options.profile_memory;
  most_kept_ = options.max_events;
  kept_ = 0;
  next_thread_ = 0;
  ++profiles_;
  own_log_locked().enter(profiles_);  // the first thread is this one
  OpBase::set_profiled(true);
  started_ = now();
  current_.store(profiles_, std::memory_order_release);
  return profiles_;
}

Recorder::Everything Recorder::stop() {
  const std::lock_guard alone(turn_);
  Everything all;
  const uint64_t profile = current_.exchange(0);
  OpBase::set_profiled(false);
  all.stop = now();
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
  std::ranges::sort(all.threads, {}, &ThreadLog::Collected::thread);
  const std::lock_guard lock(mutex_);
  all.names.swap(names_);
  return all;
}

ThreadLog& Recorder::log() {
  if (own_log.log) [[likely]]
    return *own_log.log;
  const std::lock_guard lock(mutex_);
  return own_log_locked();
}

ThreadLog& Recorder::own_log_locked() {
  if (!own_log.log) own_log.log = logs_.emplace_back(std::make_unique<ThreadLog>()).get();
  return *own_log.log;
}

bool Recorder::keep(size_t calls) {
  const size_t most = most_kept_.load(std::memory_order_relaxed);
  return kept_.fetch_add(calls, std::memory_order_relaxed) + calls <= most;
}

const char* Recorder::intern(uint64_t profile, std::string_view text) {
  const std::lock_guard lock(mutex_);
  // stop() takes the names away after this: what is let in here goes with them.
  return profile == current() ? names_.emplace(text).first->c_str() : nullptr;
}

void Recorder::watch_memory(Device device) {
  if (!records_memory_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(memory_, device, &MemorySeen::device) != memory_.end()) return;
  const MemoryStats stats = usable_backend(device).memory_stats(device.index());
  memory_.push_back({device, stats.allocated, stats.allocated - stats.in_use, stats.peak_in_use});
}

// Under the lock, so that what threads ask for together is counted once.
void Recorder::note_memory(Call& call) {
  if (!records_memory_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  const auto seen = std::ranges::find(memory_, call.device, &MemorySeen::device);
  if (seen == memory_.end()) return;
  const MemoryStats stats = usable_backend(call.device).memory_stats(call.device.index());
  const size_t freed = stats.allocated - stats.in_use;
  call.allocated = static_cast<int64_t>(stats.allocated - seen->allocated);
  call.freed = static_cast<int64_t>(freed - seen->freed);
  call.in_use = static_cast<int64_t>(stats.in_use);
  // The most that was ever in use is the most of this call's where it is new.
  call.peak =
      static_cast<int64_t>(stats.peak_in_use > seen->peak ? stats.peak_in_use : stats.in_use);
  *seen = {call.device, stats.allocated, freed, stats.peak_in_use};
}

int64_t Recorder::clock_offset(Device device) {
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(offsets_, device, &Offset::device);
  if (known != offsets_.end()) return known->nanoseconds;
  // What passes until the host knows of a mark only adds: the least of some is the nearest.
  constexpr int kMarks = 5;
  int64_t least = INT64_MAX;
  for (int i = 0; i < kMarks; ++i) {
    const std::unique_ptr<TimeMark> mark = usable_backend(device).mark_time(device.index());
    const int64_t reached = mark ? mark->nanoseconds() : -1;
    if (reached < 0) return kUnknownOffset;
    least = std::min(least, now() - reached);
  }
  return offsets_.emplace_back(Offset{device, least}).nanoseconds;
}

uint64_t begin_call(uint64_t profile, const Call& call) noexcept try {
  Recorder& recorder = Recorder::get();
  ThreadLog& log = recorder.log();
  if (log.profile() != profile) log.enter(profile);
  if (call.is_on_device()) recorder.watch_memory(call.device);
  std::unique_ptr<TimeMark> mark;
  const bool is_kernel = call.kernels > 0 || call.kind == EventKind::copy;
  if (is_kernel && !call.device.is_cpu() && recorder.clock_offset(call.device) != kUnknownOffset) {
    mark = usable_backend(call.device).mark_time(call.device.index());
  }
  ThreadLog::Open& open = log.open.emplace_back(ThreadLog::Open{call, std::move(mark)});
  open.call.depth = static_cast<uint32_t>(log.open.size() - 1);
  open.call.start = now();
  return profile;
} catch (...) {
  return 0;
}

void end_call(uint64_t profile) noexcept {
  const int64_t end = now();
  if (!own_log.log) return;
  ThreadLog& log = *own_log.log;
  // Another may have begun since, and this one's calls are gone.
  if (log.profile() != profile || log.open.empty()) return;
  Call& call = log.open.back().call;
  call.end = end;
  std::unique_ptr<TimeMark> mark;
  try {
    if (log.open.back().mark) {
      mark = usable_backend(call.device).mark_time(call.device.index());
    }
    if (call.is_on_device()) Recorder::get().note_memory(call);
    log.finish(std::move(mark));
  } catch (...) {
    log.lose();
  }
  log.open.pop_back();
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
