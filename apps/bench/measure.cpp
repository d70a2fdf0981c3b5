#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSampleSeconds = 2e-3;
constexpr size_t kMinRounds = 3;

double time_of(Work& work, long runs) {
  const Clock::time_point start = Clock::now();
  for (long i = 0; i < runs; ++i) work.run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Candidate {
  Work* work;
  long runs;                      // in one sample
  std::vector<double> samples{};  // seconds of one run

  void sample() {
    work->run();  // the works before it have filled the caches with theirs
    samples.push_back(time_of(*work, runs) / static_cast<double>(runs));
  }
};

}  // namespace

std::vector<Timing> measure(const std::vector<Work*>& works, double seconds) {
  std::vector<Timing> timings;
  std::vector<Candidate> candidates;
  for (Work* work : works) {
    work->run();  // makes what is made once
    const double once = time_of(*work, 1);
    timings.push_back({0, work->result()});
    candidates.push_back({work, std::max(1L, std::lround(kSampleSeconds / once))});
  }
  const auto limit = std::chrono::duration<double>(seconds * static_cast<double>(works.size()));
  const Clock::time_point start = Clock::now();
  while (candidates[0].samples.size() < kMinRounds || Clock::now() - start < limit) {
    for (Candidate& c : candidates) c.sample();
  }
  for (size_t i = 0; i < works.size(); ++i) timings[i].seconds = median(candidates[i].samples);
  return timings;
}

}  // namespace bench
