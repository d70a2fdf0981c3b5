// All that is recorded while a profile is on, and how calls are told to it. Private to core.
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

/// All logs, and the profile that is on.
class Recorder {
 public:
  static Recorder& get();

  /// Return the number of the profile that is on; 0: none is.
  static uint64_t current() { return current_.load(std::memory_order_acquire); }
  bool records_shapes() const { return records_shapes_.load(std::memory_order_relaxed); }
  /// Whether calls of the cpu have more than a Call holds.
  static bool records_more() { return records_more_.load(std::memory_order_relaxed); }

  /// Begin; return its number. Errors: Error when one is on.
  uint64_t start(const ProfileOptions& options);
  struct Everything {
    TickOrigin start;
    double microseconds_per_tick = 0;
    std::vector<ThreadLog::Collected> threads;
    std::unordered_set<std::string> names;  // that the calls point to
  };
  Everything stop();

  /// Make the calling thread's log.
  ThreadLog& new_log();
  int next_thread() { return next_thread_.fetch_add(1); }
  /// Return whether there is room for so many calls more in the trace.
  bool keep(size_t calls);
  /// Return the same text, at an address that stays as long as the profile; null: it has stopped.
  const char* intern(uint64_t profile, std::string_view text);
  /// Do for a call that begins, or the last open one, which ends, what its device or memory needs
  /// besides. Return the mark of its beginning, or null. Errors: those of the device.
  std::unique_ptr<TimeMark> begin_more(const Call& call);
  void end_more(ThreadLog& log) noexcept;
  /// Return what to add to the device's times for those of the steady clock; waits for the device
  /// the first time. kUnknownOffset: it keeps no time.
  int64_t clock_offset(Device device);

 private:
  static std::atomic<uint64_t> current_;
  static std::atomic<bool> records_more_;
  struct MemorySeen {
    Device device;
    size_t allocated, freed, peak;
  };
  struct Offset {
    Device device;
    int64_t nanoseconds;
  };

  ThreadLog& own_log_locked();
  void watch_memory(Device device);
  /// What its allocator has done since it was asked last.
  More memory_since(Device device);

  std::mutex turn_;   // held while a profile begins or stops
  std::mutex mutex_;  // guards what follows
  uint64_t profiles_ = 0;
  TickOrigin started_;
  std::vector<std::unique_ptr<ThreadLog>> logs_;
  std::unordered_set<std::string> names_;
  std::vector<MemorySeen> memory_;
  std::vector<Offset> offsets_;

  std::atomic<bool> records_shapes_{false}, records_memory_{false};
  std::atomic<size_t> most_kept_{0}, kept_{0};
  std::atomic<int> next_thread_{0};
};

inline constexpr char kBehindOutputs = ';';
/// Return the sizes of the tensors that the op of that name writes, and of those that it reads:
/// "[4, 10];[4, 8], [8, 10]".
std::string shapes_text(const char* op, std::span<const DeviceArg> tensors);

/// Begin a call of the profile of that number, which may have stopped since it was asked for, and
/// end the last that has begun in this thread. What fails in them, for want of memory or a device,
/// fails in no call of the program's: it is left out. begin_call returns the number, 0 where it is.
/// `shapes` stays as long as the profile; null: not recorded.
uint64_t begin_call(uint64_t profile, const Call& call, const char* shapes = nullptr) noexcept;
/// The same of a scope of the program's own, in the profile that is on.
uint64_t begin_scope(std::string_view name) noexcept;
void end_call(uint64_t profile) noexcept;

/// A call from here to the end of the block.
class Scope {
 public:
  /// `name` stays.
  Scope(EventKind kind, const char* name) {
    if (Recorder::current() != 0) [[unlikely]]
      begin(kind, name, Device(), 0);
  }
  /// Work of a device: a copy of so many bytes.
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
