// The order of work: which work is ordered before which, by streams, events and host waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ambit::cuda::host {

/// Vector clock: for each stream id, how much of its work is known to be complete.
class Clock {
 public:
  uint64_t of(size_t stream) const { return stream < done_.size() ? done_[stream] : 0; }
  void set(size_t stream, uint64_t done) {
    if (stream >= done_.size()) done_.resize(stream + 1);
    if (done_[stream] < done) done_[stream] = done;
  }
  void join(const Clock& other) {
    for (size_t i = 0; i < other.done_.size(); ++i) set(i, other.done_[i]);
  }
  size_t streams() const { return done_.size(); }

 private:
  std::vector<uint64_t> done_;
};

/// Start work `number` of `stream`, which is ordered after `before`: fill at_work.
void begin_work(size_t stream, uint64_t number, const Clock& before);
/// Return true if the earlier work with `serial` is ordered before the current one.
bool is_ordered(uint64_t serial);

/// Description of the work with a serial, for reports.
struct Ran {
  const char* name;
  const void* kernel;
};
Ran what_ran(uint64_t serial);

}  // namespace ambit::cuda::host
