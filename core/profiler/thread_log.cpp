// Processing of a thread's calls: self times, sums, and storage for the trace.
#include "thread_log.h"

#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <new>
#include <utility>

#include "recorder.h"

namespace ambit::profiler {
namespace {

constexpr unsigned kBitsOfDType = 5;
static_assert(kDTypeCount < (1 << kBitsOfDType), "0 stands for none");

}  // namespace

Call* CallMemory::allocate(size_t n) {
  const size_t bytes = n * sizeof(Call);
  const bool is_huge = bytes > kHugePage - sizeof(Call) && bytes <= kHugePage;
  void* const p = is_huge ? std::aligned_alloc(kHugePage, kHugePage) : std::malloc(bytes);
  if (!p) throw std::bad_alloc();
  if (is_huge) ::madvise(p, kHugePage, MADV_HUGEPAGE);
  return static_cast<Call*>(p);
}

Whole Nesting::add(const Call& call, const More& more) {
  if (below_.size() < call.depth + 2) below_.resize(call.depth + 2);
  const Below inside = std::exchange(below_[call.depth + 1], {});
  const int64_t time = call.end - call.start;
  const Whole whole{time, time - inside.time, more.device_self + inside.device_time,
                    call.is_kernel + inside.kernels};
  Below& around = below_[call.depth];
  around.time += time;
  around.device_time += whole.device_time;
  around.kernels += whole.kernels;
  return whole;
}

uint32_t encode_dtype(uint32_t dtypes, DType next) {
  const auto code = static_cast<uint32_t>(next) + 1;
  unsigned at = 0;
  for (uint32_t rest = dtypes; rest != 0; rest >>= kBitsOfDType, at += kBitsOfDType) {
    if ((rest & ((1 << kBitsOfDType) - 1)) == code) return dtypes;
  }
  return at + kBitsOfDType > 32 ? dtypes : dtypes | code << at;
}

std::string dtypes_text(uint32_t dtypes) {
  std::string text;
  for (; dtypes != 0; dtypes >>= kBitsOfDType) {
    if (!text.empty()) text += ", ";
    text += name(static_cast<DType>((dtypes & ((1 << kBitsOfDType) - 1)) - 1));
  }
  return text;
}

void Sums::add(const Sums& other) {
  count += other.count;
  time += other.time;
  self += other.self;
  device_time += other.device_time;
  device_self += other.device_self;
  kernels += other.kernels;
  bytes += other.bytes;
  allocated += other.allocated;
  freed += other.freed;
  peak = std::max(peak, other.peak);
}

size_t CallKeyHash::operator()(const CallKey& key) const {
  size_t hash = std::hash<const void*>()(key.name);
  const auto mix = [&hash](size_t more) { hash = (hash ^ more) * 0x9e3779b97f4a7c15u; };
  mix(std::hash<const void*>()(key.shapes));
  mix(key.dtypes);
  mix(static_cast<size_t>(key.device.kind()) << 16 | static_cast<size_t>(key.device.index()));
  mix(static_cast<size_t>(key.kind));
  return hash ^ hash >> 32;
}

void ThreadLog::enter(uint64_t profile) {
  open_.clear();
  kept_.clear();
  profile_ = profile;
  const std::lock_guard lock(lock_);
  marked_.clear();
  nesting_ = {};
  collected_ = {};
  summed_ = 0;
  collected_.thread = Recorder::get().next_thread();
  ended_.store(0, std::memory_order_relaxed);
  block_.more.clear();
  block_.calls.clear();
  block_.calls.reserve(kCallsAtFirst);
  collecting_.store(profile, std::memory_order_relaxed);
}

void ThreadLog::keep(std::unique_ptr<TimeMark> mark, const char* shapes) noexcept try {
  if (mark || shapes) kept_.push_back({open_.size() - 1, std::move(mark), shapes});
} catch (const std::bad_alloc&) {  // the call is recorded without them
}

ThreadLog::Kept ThreadLog::take() {
  if (kept_.empty() || kept_.back().depth + 1 != open_.size()) return {};
  Kept last = std::move(kept_.back());
  kept_.pop_back();
  return last;
}

void ThreadLog::add_more(const More& more, std::unique_ptr<TimeMark> start,
                         std::unique_ptr<TimeMark> end) {
  const std::lock_guard lock(lock_);
  if (collecting_.load(std::memory_order_relaxed) != profile_) return;
  Call& call = open_.back();
  block_.more.push_back(more);
  call.more = static_cast<uint32_t>(block_.more.size());
  if (start && end) {
    marked_.push_back({call.more - 1, call.device, std::move(start), std::move(end)});
  }
}

// The thread may be ending its next call meanwhile, but needs the lock to start another block.
// collecting_ is relaxed, since it is written under the lock; a thread that reads the old value
// only adds a call that is not collected.
ThreadLog::Collected ThreadLog::collect(uint64_t profile) {
  const std::lock_guard lock(lock_);
  if (collecting_.load(std::memory_order_relaxed) != profile) return {};
  collecting_.store(0, std::memory_order_relaxed);
  const Call* const calls = block_.calls.data();
  put_away({{calls, calls + ended_.load(std::memory_order_acquire)}, std::move(block_.more)});
  sum_up_kept();
  return std::exchange(collected_, {});
}

void ThreadLog::resolve_marks(Block& block) {
  for (const Marked& m : marked_) {
    const int64_t start = m.start->nanoseconds(), end = m.end->nanoseconds();
    if (start < 0 || end < 0) continue;
    More& more = block.more[m.more];
    more.device_start = start + Recorder::get().clock_offset(m.device);
    more.device_self = end - start;
  }
  marked_.clear();
}

void ThreadLog::put_away_full() noexcept {
  const std::lock_guard lock(lock_);
  if (collecting_.load(std::memory_order_relaxed) != profile_) return;  // already collected
  try {
    Block next;
    next.calls.reserve(kCallsAtOnce);
    put_away(std::exchange(block_, std::move(next)));
  } catch (...) {  // no memory: the next calls overwrite these
    collected_.dropped += ended_.load(std::memory_order_relaxed);
    block_.calls.clear();
    block_.more.clear();
    marked_.clear();
  }
  ended_.store(0, std::memory_order_relaxed);
}

// Calls that are kept are summed after the profile stops: summing them earlier would cost the
// program more time than recording them.
void ThreadLog::put_away(Block block) {
  resolve_marks(block);
  if (block.calls.empty()) return;
  if (Recorder::get().keep(block.calls.size())) {
    collected_.blocks.push_back(std::move(block));
    return;
  }
  sum_up_kept();
  sum_up(block);
  collected_.dropped += block.calls.size();
}

void ThreadLog::sum_up_kept() {
  for (; summed_ < collected_.blocks.size(); ++summed_) sum_up(collected_.blocks[summed_]);
}

void ThreadLog::sum_up(const Block& block) {
  for (const Call& call : block.calls) {
    const More more = block.more_of(call);
    const Whole whole = nesting_.add(call, more);
    collected_.sums[{call.name, more.shapes, call.dtypes, call.device, call.kind}].add(
        {1, whole.time, whole.self, whole.device_time, more.device_self, whole.kernels, call.bytes,
         more.allocated, more.freed, more.peak});
  }
}

}  // namespace ambit::profiler
