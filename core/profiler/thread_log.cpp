// What becomes of a thread's calls: times of their own, sums, and a place in the trace.
#include <algorithm>
#include <functional>
#include <utility>

#include "recorder.h"

namespace ambit::profiler {
namespace {

constexpr size_t kCallsAtOnce = 4096;
constexpr unsigned kBitsOfDType = 5;
static_assert(kDTypeCount < (1 << kBitsOfDType), "0 stands for none");

}  // namespace

uint64_t encode_dtype(uint64_t dtypes, DType next) {
  const auto code = static_cast<uint64_t>(next) + 1;
  unsigned at = 0;
  for (uint64_t rest = dtypes; rest != 0; rest >>= kBitsOfDType, at += kBitsOfDType) {
    if ((rest & ((1 << kBitsOfDType) - 1)) == code) return dtypes;
  }
  return at + kBitsOfDType > 64 ? dtypes : dtypes | code << at;
}

std::string dtypes_text(uint64_t dtypes) {
  std::string text;
  for (; dtypes != 0; dtypes >>= kBitsOfDType) {
    if (!text.empty()) text += ", ";
    text += name(static_cast<DType>((dtypes & ((1 << kBitsOfDType) - 1)) - 1));
  }
  return text;
}

void Sums::add(const Call& call) {
  add(Sums{1, call.end - call.start, call.self, call.device_time, call.device_self, call.kernels,
           call.bytes, call.allocated, call.freed, call.peak});
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
  open.clear();
  profile_ = profile;
  const std::lock_guard lock(lock_);
  collecting_ = profile;
  ended_.clear();
  marked_.clear();
  below_.clear();
  collected_ = {};
  summed_ = 0;
  collected_.thread = Recorder::get().next_thread();
  ended_.reserve(kCallsAtOnce);
}

void ThreadLog::finish(std::unique_ptr<TimeMark> mark) {
  const std::lock_guard lock(lock_);
  if (collecting_ != profile_) return;  // the profile has stopped
  Open& last = open.back();
  if (mark && last.mark) {
    marked_.push_back({ended_.size(), std::move(last.mark), std::move(mark)});
  }
  ended_.push_back(last.call);
  if (ended_.size() >= kCallsAtOnce) put_away();
}

void ThreadLog::lose() noexcept {
  const std::lock_guard lock(lock_);
  ++collected_.dropped;
}

ThreadLog::Collected ThreadLog::collect(uint64_t profile) {
  const std::lock_guard lock(lock_);
  if (std::exchange(collecting_, 0) != profile) return {};
  put_away();
  sum_up_kept();
  ended_ = {};
  return std::exchange(collected_, {});
}

void ThreadLog::resolve_marks() {
  for (const Marked& m : marked_) {
    const int64_t start = m.start->nanoseconds(), end = m.end->nanoseconds();
    if (start < 0 || end < 0) continue;
    Call& call = ended_[m.call];
    call.device_start = start + Recorder::get().clock_offset(call.device);
    call.device_self = end - start;
  }
  marked_.clear();
}

// Calls that are kept are summed up when the profile has stopped: while it is on, that would cost
// more than to record them.
void ThreadLog::put_away() {
  resolve_marks();
  if (ended_.empty()) return;
  if (Recorder::get().keep(ended_.size())) {
    collected_.calls.push_back(std::move(ended_));
    ended_ = {};
    ended_.reserve(kCallsAtOnce);
    return;
  }
  sum_up_kept();
  sum_up(ended_);
  collected_.dropped += ended_.size();
  ended_.clear();
}

void ThreadLog::sum_up_kept() {
  for (; summed_ < collected_.calls.size(); ++summed_) sum_up(collected_.calls[summed_]);
}

// Calls end before those around them: what is below a call is known when it comes.
void ThreadLog::sum_up(std::vector<Call>& calls) {
  for (Call& call : calls) {
    if (below_.size() < call.depth + 2) below_.resize(call.depth + 2);
    const Below inside = std::exchange(below_[call.depth + 1], {});
    Below& around = below_[call.depth];
    const int64_t time = call.end - call.start;
    call.self = time - inside.time;
    call.device_time = call.device_self + inside.device_time;
    call.kernels += inside.kernels;
    around.time += time;
    around.device_time += call.device_time;
    around.kernels += call.kernels;
    collected_.sums[{call.name, call.shapes, call.dtypes, call.device, call.kind}].add(call);
  }
}

}  // namespace ambit::profiler
