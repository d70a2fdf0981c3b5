// All data recorded by a profile, and the functions that report calls to it. Private to core.
#pragma once

#include <ambit/profiler.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "thread_log.h"
#include "ticks.h"

namespace ambit {
struct DeviceArg;
}

namespace ambit::profiler {

inline constexpr int64_t kUnknownOffset = INT64_MIN;

/// All threads' logs, and the active profile.
class Recorder {
 public:
  static Recorder& get();

  /// Return the number of the active profile; 0: none.
  static uint64_t current() { return current_.load(std::memory_order_acquire); }
  bool records_shapes() const { return records_shapes_.load(std::memory_order_relaxed); }
  /// True if calls on the cpu record more than a Call holds.
  static bool records_more() { return records_more_.load(std::memory_order_relaxed); }

  /// Start; return the profile's number. Errors: Error when one is active.
  uint64_t start(const ProfileOptions& options);
  struct Recording {
    TickOrigin start;
    double microseconds_per_tick = 0;
    std::vector<ThreadLog::Collected> threads;
    std::unordered_set<std::string> names;  // referenced by the calls
  };
  Recording stop();

  /// Create the calling thread's log.
  ThreadLog& new_log();
  int next_thread() { return next_thread_.fetch_add(1); }
  /// Return true if the trace has room for that many more calls.
  bool keep(size_t calls);
  /// Return a copy of the text that lives as long as the profile; null: the profile has stopped.
  const char* intern(uint64_t profile, std::string_view text);
  /// Record device times and memory at the start of a call, or the end of the last open one. Return
  /// the start mark or null. Errors: those of the device.
  std::unique_ptr<TimeMark> begin_more(const Call& call);
  void end_more(ThreadLog& log) noexcept;
  /// Return the offset from device times to the steady clock; waits for the device the first time.
  /// kUnknownOffset: the device measures no times.
  int64_t clock_offset(Device device);

 private:
  static std::atomic<uint64_t> current_;  // its release store publishes the options
  static std::atomic<bool> records_more_;
  struct MemoryCounters {
    Device device;
    size_t allocated, freed, peak;
  };
  struct Offset {
    Device device;
    int64_t nanoseconds;
  };

  ThreadLog& own_log_locked();
  void watch_memory(Device device);
  /// Return the allocator's activity since the last call.
  More memory_since(Device device);

  std::mutex start_stop_mutex_;  // held while a profile starts or stops
  std::mutex mutex_;             // guards the members below
  uint64_t profiles_ = 0;
  TickOrigin started_;
  std::vector<std::unique_ptr<ThreadLog>> logs_;
  std::unordered_set<std::string> names_;
  std::vector<MemoryCounters> memory_;
  std::vector<Offset> offsets_;

  std::atomic<bool> records_shapes_{false}, records_memory_{false};
  std::atomic<size_t> most_kept_{0}, kept_{0};
  std::atomic<int> next_thread_{0};
};

inline constexpr char kOutputsEnd = ';';
/// Return the sizes of the tensors that the op writes, and of those that it reads: "[4, 10];[4, 8],
/// [8, 10]".
std::string shapes_text(const char* op, std::span<const DeviceArg> tensors);

/// Begin a call in the profile of that number (which may have stopped), and end the last one begun
/// in this thread. If memory is lacking or the device fails, the call is not recorded; the
/// program's call is unaffected. begin_call returns the number, or 0 if not recorded. `shapes`
/// lives as long as the profile; null: not recorded.
uint64_t begin_call(uint64_t profile, const Call& call, const char* shapes = nullptr) noexcept;
/// As begin_call(), for a scope of the program, in the active profile.
uint64_t begin_scope(std::string_view name) noexcept;
void end_call(uint64_t profile) noexcept;

/// A call from construction to the end of the scope.
class Scope {
 public:
  /// `name` has static lifetime.
  Scope(EventKind kind, const char* name) {
    if (Recorder::current() != 0) [[unlikely]]
      begin(kind, name, Device(), 0);
  }
  /// Work of a device: a copy of that many bytes.
  Scope(EventKind kind, const char* name, Device device, size_t bytes) {
    if (Recorder::current() != 0) [[unlikely]]
      begin(kind, name, device, bytes);
  }
  ~Scope() {
    if (profile_ != 0) [[unlikely]]
      end_call(profile_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  void begin(EventKind kind, const char* name, Device device, size_t bytes) noexcept;
  uint64_t profile_ = 0;
};

}  // namespace ambit::profiler
