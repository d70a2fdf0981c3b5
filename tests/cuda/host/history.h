// Which work ran, and what of it was ordered before what: by streams, events and the host's waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ambit::cuda::host {

/// For each stream, by its id, how many of its pieces of work are known to be done.
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

/// Begin a piece of work, the `number`th of `stream`, which `before` comes before: fill at_work.
void begin_work(size_t stream, uint64_t number, const Clock& before);
/// Whether the work that has `serial`, and ran earlier, is ordered before the one at work.
bool is_ordered(uint64_t serial);

/// What ran under a serial, for reports.
struct Ran {
  const char* name;
  const void* kernel;
};
Ran what_ran(uint64_t serial);

}  // namespace ambit::cuda::host
