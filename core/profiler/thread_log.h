// What is recorded while a profile is on: each thread writes its calls to a log of its own, without
// a lock, and the profile collects them when it stops. Private to core.
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

/// A call as it is recorded: small, since to write it is most of what a profile costs. Times are
/// ticks of the host.
struct Call {
  const char* name = nullptr;  // stays as long as the profile
  uint32_t dtypes = 0;         // see encode_dtype()
  uint32_t depth = 0;
  uint32_t more = 0;  // 0: there is no more of it; else the place in its block's `more`, plus one
  Device device{};
  EventKind kind = EventKind::op;
  bool is_kernel = false;
  int64_t start = 0, end = 0, bytes = 0;

  bool is_on_device() const { return kind == EventKind::op || kind == EventKind::copy; }
};

/// What few calls have: shapes, times of the device, in nanoseconds of the steady clock, and
/// memory.
struct More {
  const char* shapes = nullptr;  // as a call's name
  int64_t device_start = -1, device_self = 0;
  int64_t allocated = 0, freed = 0, in_use = 0, reserved = 0, peak = 0;
};

inline constexpr size_t kHugePage = size_t{2} << 20;

/// Memory of calls. A huge page where it is as large as one: to touch new pages of 4 KiB takes as
/// long as all else that is done for the calls in them. Errors: std::bad_alloc.
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

/// What a call has with those that it called: times as above.
struct Whole {
  int64_t time = 0, self = 0, device_time = 0, kernels = 0;
};

/// Finds that out of a thread's calls in the order in which they ended: before those around them.
class Nesting {
 public:
  Whole add(const Call& call, const More& more);

 private:
  struct Below {  // what the calls at one depth add to the one around them
    int64_t time = 0, device_time = 0, kernels = 0;
  };
  std::vector<Below> below_;
};

/// The distinct dtypes of a call in the order in which they first come, five bits each; of more
/// than six, the first.
uint32_t encode_dtype(uint32_t dtypes, DType next);
std::string dtypes_text(uint32_t dtypes);

/// What is summed up for one kind of call: the host's times in ticks, the device's in nanoseconds.
struct Sums {
  int64_t count = 0, time = 0, self = 0, device_time = 0, device_self = 0;
  int64_t kernels = 0, bytes = 0, allocated = 0, freed = 0, peak = 0;

  void add(const Sums& other);
};

/// What calls have in common that are summed up.
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

/// The calls of one thread. Its own, but for what the lock guards, and for collect(): of the block
/// that is being filled the profile reads as many calls as the thread says there are.
class ThreadLog {
 public:
  /// The calling thread's; null: it has none yet. To read it takes one instruction.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local ThreadLog* own;

  /// Forget what belongs to another profile than this one, which is on.
  void enter(uint64_t profile);
  /// The profile that open calls belong to.
  uint64_t profile() const { return profile_; }

  bool has_open() const { return !open_.empty(); }
  Call& last_open() { return open_.back(); }
  /// Put a call on those that are open, and say when it begins. Errors: std::bad_alloc.
  void begin(const Call& call) {
    const size_t depth = open_.size();
    Call& begun = open_.emplace_back(call);
    begun.depth = static_cast<uint32_t>(depth);
    begun.start = ticks();
  }
  /// Keep for the last open call a mark of the device's time where it has begun, and its shapes;
  /// both may be null.
  void keep(std::unique_ptr<TimeMark> mark, const char* shapes) noexcept;
  /// Note that the last open call has ended then.
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
  /// What was kept for a call when it began.
  struct Kept {
    size_t depth = 0;
    std::unique_ptr<TimeMark> mark;
    const char* shapes = nullptr;
  };
  /// Return that of the last open call, which is then no longer kept.
  Kept take();
  /// Add more to the last open call, and the marks of its beginning and end where there are both.
  /// Errors: std::bad_alloc.
  void add_more(const More& more, std::unique_ptr<TimeMark> start, std::unique_ptr<TimeMark> end);

  /// What one thread has recorded.
  struct Collected {
    int thread = 0;
    std::vector<Block> blocks;
    CallSums sums;
    size_t dropped = 0;
  };
  /// Hand it over, and take no more for that profile.
  Collected collect(uint64_t profile);

  std::atomic<bool> has_ended{false};  // the thread

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
  std::vector<Kept> kept_;               // of the open calls for which there is something
  std::atomic<size_t> ended_{0};         // calls in block_
  std::atomic<uint64_t> collecting_{0};  // written under the lock
  Block block_;                          // its `more` is guarded by the lock, too

  SpinLock lock_;  // guards what follows
  std::vector<Marked> marked_;
  Nesting nesting_;
  Collected collected_;
  size_t summed_ = 0;  // of collected_.blocks: how many are in its sums
};

}  // namespace ambit::profiler
