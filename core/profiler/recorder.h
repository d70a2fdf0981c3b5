// What is recorded while a profile is on: each thread writes its calls to a log of its own, and
// the profile collects them when it stops. Private to core.
#pragma once

#include <ambit/backend/backend.h>
#include <ambit/detail/spin_lock.h>
#include <ambit/dtype.h>
#include <ambit/profiler.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ambit {
struct DeviceArg;
}

namespace ambit::profiler {

/// A call as it is recorded. Times are nanoseconds of the steady clock.
struct Call {
  const char* name = nullptr;    // stays as long as the profile
  const char* shapes = nullptr;  // likewise; null: not recorded
  uint64_t dtypes = 0;           // see encode_dtype()
  Device device;
  EventKind kind = EventKind::op;
  uint32_t depth = 0;
  int64_t start = 0, end = 0, self = 0;
  int64_t device_start = -1, device_self = 0, device_time = 0;
  int64_t kernels = 0, bytes = 0;
  int64_t allocated = 0, freed = 0, in_use = 0, peak = 0;

  bool is_on_device() const { return kind == EventKind::op || kind == EventKind::copy; }
};

/// The distinct dtypes of a call in the order in which they first come, five bits each.
uint64_t encode_dtype(uint64_t dtypes, DType next);
std::string dtypes_text(uint64_t dtypes);

/// What is summed up for one kind of call.
struct Sums {
  int64_t count = 0, time = 0, self = 0, device_time = 0, device_self = 0;
  int64_t kernels = 0, bytes = 0, allocated = 0, freed = 0, peak = 0;

  void add(const Call& call);
  void add(const Sums& other);
};

/// What calls have in common that are summed up.
struct CallKey {
  const char* name;
  const char* shapes;
  uint64_t dtypes;
  Device device;
  EventKind kind;
  friend bool operator==(const CallKey&, const CallKey&) = default;
};
struct CallKeyHash {
  size_t operator()(const CallKey& key) const;
};
using CallSums = std::unordered_map<CallKey, Sums, CallKeyHash>;

/// The calls of one thread. Its own, but for what lock guards: that the profile collects.
class ThreadLog {
 public:
  /// A call that has begun.
  struct Open {
    Call call;
    std::unique_ptr<TimeMark> mark;
  };
  std::vector<Open> open;

  /// Forget what belongs to another profile than this one, which is on.
  void enter(uint64_t profile);
  /// The profile that `open` belongs to.
  uint64_t profile() const { return profile_; }
  /// Note that the last of `open` has ended, with what the device kept of its time.
  void finish(std::unique_ptr<TimeMark> mark);
  /// Count a call that could not be noted.
  void lose() noexcept;

  /// What one thread has recorded.
  struct Collected {
    int thread = 0;
    std::vector<std::vector<Call>> calls;  // in the order in which they ended
    CallSums sums;
    size_t dropped = 0;
  };
  /// Hand it over, and take no more for that profile.
  Collected collect(uint64_t profile);

  std::atomic<bool> has_ended{false};  // the thread

 private:
  struct Marked {
    size_t call;
    std::unique_ptr<TimeMark> start, end;
  };
  struct Below {  // what the calls at one depth add to the one around them
    int64_t time = 0, device_time = 0, kernels = 0;
  };
  void put_away();
  void sum_up(std::vector<Call>& calls);
  void sum_up_kept();
  void resolve_marks();

  uint64_t profile_ = 0;
  SpinLock lock_;  // guards what follows
  uint64_t collecting_ = 0;
  std::vector<Call> ended_;  // not yet put away
  std::vector<Marked> marked_;
  std::vector<Below> below_;
  Collected collected_;
  size_t summed_ = 0;  // of collected_.calls: how many are in its sums
};

inline constexpr int64_t kUnknownOffset = INT64_MIN;

/// All logs, and the profile that is on.
class Recorder {
 public:
  static Recorder& get();

  /// Return the number of the profile that is on; 0: none is.
  static uint64_t current() { return current_.load(std::memory_order_acquire); }
  bool records_shapes() const { return records_shapes_.load(std::memory_order_relaxed); }

  /// Begin; return its number. Errors: Error when one is on.
  uint64_t start(const ProfileOptions& options);
  struct Everything {
    int64_t start = 0, stop = 0;  // nanoseconds of the steady clock
    std::vector<ThreadLog::Collected> threads;
    std::unordered_set<std::string> names;  // that the calls point to
  };
  Everything stop();

  /// The calling thread's log.
  ThreadLog& log();
  int next_thread() { return next_thread_.fetch_add(1); }
  /// Return whether there is room for so many calls more in the trace.
  bool keep(size_t calls);
  /// Return the same text, at an address that stays as long as the profile; null: it has stopped.
  const char* intern(uint64_t profile, std::string_view text);
  /// With profile_memory, note what the device's allocator has done since it was asked last, or
  /// begin to watch it.
  void note_memory(Call& call);
  void watch_memory(Device device);
  /// Return what to add to the device's times for those of the steady clock; waits for the device
  /// the first time. kUnknownOffset: it keeps no time.
  int64_t clock_offset(Device device);

 private:
  static std::atomic<uint64_t> current_;
  struct MemorySeen {
    Device device;
    size_t allocated, freed, peak;
  };
  struct Offset {
    Device device;
    int64_t nanoseconds;
  };

  ThreadLog& own_log_locked();

  std::mutex turn_;   // held while a profile begins or stops
  std::mutex mutex_;  // guards what follows
  uint64_t profiles_ = 0;
  int64_t started_ = 0;
  std::vector<std::unique_ptr<ThreadLog>> logs_;
  std::unordered_set<std::string> names_;
  std::vector<MemorySeen> memory_;
  std::vector<Offset> offsets_;

  std::atomic<bool> records_shapes_{false}, records_memory_{false};
  std::atomic<size_t> most_kept_{0}, kept_{0};
  std::atomic<int> next_thread_{0};
};

/// Begin a call of the profile of that number, which may have stopped since it was asked for, and
/// end the last that has begun in this thread. What fails in them, for want of memory or a device,
/// fails in no call of the program's: it is left out. begin_call returns the number, 0 where it is.
uint64_t begin_call(uint64_t profile, const Call& call) noexcept;
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
