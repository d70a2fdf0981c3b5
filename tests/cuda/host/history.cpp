#include "history.h"

#include <algorithm>
#include <deque>

#include "at_work.h"

namespace ambit::cuda::host {
namespace {

struct Record {
  uint64_t first;  // first serial of the work
  size_t stream;
  uint64_t number;  // position in the stream
  Ran ran;
};

// Work older than this many records counts as ordered.
constexpr size_t kMostRecords = size_t{1} << 20;

uint64_t last_serial = 0;
std::deque<Record>* const records = new std::deque<Record>;
// Work that a stream has done: its number and first serial.
struct Done {
  uint64_t number, first;
};
auto* const done_by_stream = new std::vector<std::deque<Done>>;
Clock* const before_this = new Clock;

const Record* record_of(uint64_t serial) {
  auto after = std::upper_bound(records->begin(), records->end(), serial,
                                [](uint64_t s, const Record& r) { return s < r.first; });
  return after == records->begin() ? nullptr : &*std::prev(after);
}

}  // namespace

AtWork at_work;

void begin_interval() { at_work.serial = ++last_serial; }

void begin_work(size_t stream, uint64_t number, const Clock& before) {
  *before_this = before;
  begin_interval();
  at_work.first = at_work.block_first = at_work.safe = at_work.serial;
  for (size_t s = 0; s < done_by_stream->size(); ++s) {
    if (s == stream) continue;
    std::deque<Done>& done = (*done_by_stream)[s];
    const auto open = std::upper_bound(done.begin(), done.end(), before.of(s),
                                       [](uint64_t n, const Done& d) { return n < d.number; });
    if (open != done.end()) at_work.safe = std::min(at_work.safe, open->first);
  }
  if (stream >= done_by_stream->size()) done_by_stream->resize(stream + 1);
  std::deque<Done>& own = (*done_by_stream)[stream];
  own.push_back({number, at_work.first});
  if (own.size() > kMostRecords / 16) own.pop_front();
  records->push_back({at_work.first, stream, number, {at_work.name, at_work.kernel}});
  if (records->size() > kMostRecords) records->pop_front();
}

bool is_ordered(uint64_t serial) {
  const Record* r = record_of(serial);
  return !r || before_this->of(r->stream) >= r->number;
}

Ran what_ran(uint64_t serial) {
  const Record* r = record_of(serial);
  return r ? r->ran : Ran{"work long ago", nullptr};
}

}  // namespace ambit::cuda::host
