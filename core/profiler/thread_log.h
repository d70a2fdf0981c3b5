// Data recorded by a profile: each thread writes its calls to its own log without a lock, and the
// profile collects the logs when it stops. Private to core.
#pragma once

#include <ambit/backend/backend.h>
#include <ambit/detail/spin_lock.h>
#include <ambit/dtype.h>
#include <ambit/profiler.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ticks.h"

namespace ambit::profiler {

/// A recorded call: small, because writing it is most of a profile's cost. Times are host ticks.
struct Call {
  const char* name = nullptr;  // lives as long as the profile
  uint32_t dtypes = 0;         // see encode_dtype()
  uint32_t depth = 0;
  uint32_t more = 0;  // 0: none; else index in its block's `more`, plus one
  Device device{};
  EventKind kind = EventKind::op;
  bool is_kernel = false;
  int64_t start = 0, end = 0, bytes = 0;

  bool is_on_device() const { return kind == EventKind::op || kind == EventKind::copy; }
};

/// Rare data of a call: shapes, device times in nanoseconds of the steady clock, and memory.
struct More {
  const char* shapes = nullptr;  // lives as long as the profile
  int64_t device_start = -1, device_self = 0;
  int64_t allocated = 0, freed = 0, in_use = 0, reserved = 0, peak = 0;
};

inline constexpr size_t kHugePage = size_t{2} << 20;

/// Allocator for calls. Uses a huge page for blocks of that size: with 4 KiB pages, page faults
/// would cost as much as all other work of recording the calls. Errors: std::bad_alloc.
struct CallMemory {
  using value_type = Call;
  template <class>
  struct rebind {
    using other = CallMemory;
  };
  static Call* allocate(size_t n);
  static void deallocate(Call* p, size_t) { std::free(p); }
  friend bool operator==(CallMemory, CallMemory) { return true; }
};

/// Calls in the order in which they ended.
struct Block {
  std::vector<Call, CallMemory> calls;
  std::vector<More> more;

  More more_of(const Call& call) const { return call.more ? more[call.more - 1] : More(); }
};

/// A call's totals including nested calls; times as above.
struct Whole {
  int64_t time = 0, self = 0, device_time = 0, kernels = 0;
};

/// Computes totals from a thread's calls in the order in which they ended: nested ones first.
class Nesting {
 public:
  Whole add(const Call& call, const More& more);

 private:
  struct Below {  // sums of the calls at one depth, for their parent
    int64_t time = 0, device_time = 0, kernels = 0;
  };
  std::vector<Below> below_;
};

/// Append to the distinct dtypes of a call, in order of occurrence, five bits each; only the first
/// six are kept.
uint32_t encode_dtype(uint32_t dtypes, DType next);
std::string dtypes_text(uint32_t dtypes);

/// Sums over calls of one key: host times in ticks, device times in nanoseconds.
struct Sums {
  int64_t count = 0, time = 0, self = 0, device_time = 0, device_self = 0;
  int64_t kernels = 0, bytes = 0, allocated = 0, freed = 0, peak = 0;

  void add(const Sums& other);
};

/// Calls with equal keys are summed up.
struct CallKey {
  const char* name;
  const char* shapes;
  uint32_t dtypes;
  Device device;
  EventKind kind;
  friend bool operator==(const CallKey&, const CallKey&) = default;
};
struct CallKeyHash {
  size_t operator()(const CallKey& key) const;
};
using CallSums = std::unordered_map<CallKey, Sums, CallKeyHash>;

/// The calls of one thread. Only this thread uses it, except for members guarded by the lock and
/// for collect(), which reads as many calls of the current block as `ended_` says.
class ThreadLog {
 public:
  /// The calling thread's log, or null. Reading it is one instruction.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local ThreadLog* own;

  /// Discard data of other profiles; `profile` is active.
  void enter(uint64_t profile);
  /// Return the profile of the open calls.
  uint64_t profile() const { return profile_; }

  bool has_open() const { return !open_.empty(); }
  Call& last_open() { return open_.back(); }
  /// Push a call and set its start time. Errors: std::bad_alloc.
  void begin(const Call& call) {
    const size_t depth = open_.size();
    Call& begun = open_.emplace_back(call);
    begun.depth = static_cast<uint32_t>(depth);
    begun.start = ticks();
  }
  /// Store the device's start mark and the shapes of the last open call; both may be null.
  void keep(std::unique_ptr<TimeMark> mark, const char* shapes) noexcept;
  /// End the last open call at that time.
  void end(int64_t ticks) noexcept {
    Call& call = open_.back();
    call.end = ticks;
    if (collecting_.load(std::memory_order_relaxed) == profile_) [[likely]] {
      const size_t n = ended_.load(std::memory_order_relaxed);
      block_.calls.push_back(call);  // it has room
      ended_.store(n + 1, std::memory_order_release);
      if (n + 1 == block_.calls.capacity()) put_away_full();
    }
    open_.pop_back();
  }
  /// Data stored at the start of a call.
  struct Kept {
    size_t depth = 0;
    std::unique_ptr<TimeMark> mark;
    const char* shapes = nullptr;
  };
  /// Remove and return the data of the last open call.
  Kept take();
  /// Attach more data to the last open call, and its start and end marks if both are not null.
  /// Errors: std::bad_alloc.
  void add_more(const More& more, std::unique_ptr<TimeMark> start, std::unique_ptr<TimeMark> end);

  /// The recorded calls of one thread.
  struct Collected {
    int thread = 0;
    std::vector<Block> blocks;
    CallSums sums;
    size_t dropped = 0;
  };
  /// Move the calls out, and record no more for that profile.
  Collected collect(uint64_t profile);

  std::atomic<bool> has_ended{false};  // true after the end of the thread

 private:
  // The first block is small, since most threads have few calls.
  static constexpr size_t kCallsAtFirst = 4096, kCallsAtOnce = kHugePage / sizeof(Call);
  struct Marked {
    size_t more;
    Device device;
    std::unique_ptr<TimeMark> start, end;
  };
  void put_away_full() noexcept;
  void put_away(Block block);
  void sum_up(const Block& block);
  void sum_up_kept();
  void resolve_marks(Block& block);

  uint64_t profile_ = 0;
  std::vector<Call> open_;
  std::vector<Kept> kept_;               // data of those open calls that have any
  std::atomic<size_t> ended_{0};         // calls in block_, published by its release store
  std::atomic<uint64_t> collecting_{0};  // written under the lock
  Block block_;                          // its `more` is also guarded by the lock

  SpinLock lock_;  // guards the members below
  std::vector<Marked> marked_;
  Nesting nesting_;
  Collected collected_;
  size_t summed_ = 0;  // number of collected_.blocks included in its sums
};

}  // namespace ambit::profiler
