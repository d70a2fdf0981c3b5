#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "other_load.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
using Samples = std::vector<double>;  // seconds of one run

constexpr double kSampleSeconds = 1e-2;
constexpr double kWarmUpSeconds = 1e-3;
constexpr double kWarmSeconds = 2e-2;  // longer workloads do not depend on the caches' contents
constexpr double kChunkSeconds = 0.2;  // /proc/stat counts in 1/100 s
constexpr double kQuietCores = 0.1;    // background load of an idle machine
constexpr double kPatience = 4;        // times `seconds`
constexpr size_t kMinRounds = 3;
constexpr double kStretchSeconds = 0.2;
// OpenMP threads spin for this time after a loop, on a core that the next work needs.
constexpr std::chrono::milliseconds kCalm{50};

double median(Samples values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Candidate {
  size_t owner;  // index of the work, or of the work of which it is a variant
  Work* work;
  double once;  // approximate seconds of one run
  Samples quiet{}, disturbed{};

  double sample(bool alone) const {
    if (!alone) std::this_thread::sleep_for(kCalm);
    // Warm up: other workloads have filled the caches, and its threads may be asleep.
    const Clock::time_point begin = Clock::now();
    while (once < kWarmSeconds && Seconds(Clock::now() - begin).count() < kWarmUpSeconds)
      work->run();
    const long runs = std::max(1L, std::lround(kSampleSeconds / once));
    return work->seconds(runs) / static_cast<double>(runs);
  }
};

double process_seconds(const std::vector<Candidate>& candidates) {
  double sum = 0;
  for (const Candidate& c : candidates) sum += c.work->process_seconds();
  return sum;
}

// Run rounds of one sample per candidate; return how long they took.
double measure_chunk(std::vector<Candidate>& candidates, double seconds) {
  const Clock::time_point start = Clock::now();
  const OtherLoad load;
  const double before = process_seconds(candidates);
  std::vector<Samples> samples(candidates.size());
  do {
    for (size_t i = 0; i < candidates.size(); ++i) {
      samples[i].push_back(candidates[i].sample(candidates.size() == 1));
    }
  } while (Seconds(Clock::now() - start).count() < seconds);
  const bool quiet = load.cores(process_seconds(candidates) - before) < kQuietCores;
  for (size_t i = 0; i < candidates.size(); ++i) {
    Samples& to = quiet ? candidates[i].quiet : candidates[i].disturbed;
    to.insert(to.end(), samples[i].begin(), samples[i].end());
  }
  return Seconds(Clock::now() - start).count();
}

// Run each work twice: the first run allocates memory that is kept. The third run is
// representative.
std::vector<Candidate> start(const std::vector<Work*>& works, Timings& timings) {
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < works.size(); ++i) {
    works[i]->run();
    works[i]->run();
    timings.works.push_back({INFINITY, works[i]->result(), {}});
    std::vector<Work*> ways = works[i]->ways();
    if (ways.empty()) ways = {works[i]};
    for (Work* way : ways) candidates.push_back({i, way, way->seconds(1)});
  }
  return candidates;
}

// Record a candidate's time if it is the fastest variant of its work.
void note(Timings& timings, const Candidate& candidate, double seconds) {
  Timing& best = timings.works[candidate.owner];
  if (seconds >= best.seconds) return;
  best.seconds = seconds;
  best.way = candidate.work->way();
}

}  // namespace

Timings measure(const std::vector<Work*>& works, double seconds) {
  Timings timings;
  std::vector<Candidate> candidates = start(works, timings);
  const double wanted = seconds * static_cast<double>(candidates.size());
  const Samples &quiet = candidates[0].quiet, &disturbed = candidates[0].disturbed;
  double spent = 0, spent_quietly = 0;
  while (quiet.size() < kMinRounds || spent_quietly < wanted) {
    if (quiet.size() + disturbed.size() >= kMinRounds && spent >= kPatience * wanted) break;
    const size_t before = quiet.size();
    const double chunk = measure_chunk(candidates, std::min(kChunkSeconds, wanted));
    spent += chunk;
    if (quiet.size() > before) spent_quietly += chunk;
  }
  timings.quiet = quiet.size() >= kMinRounds;
  for (Candidate& c : candidates) {
    if (!timings.quiet) c.quiet.insert(c.quiet.end(), c.disturbed.begin(), c.disturbed.end());
    note(timings, c, median(c.quiet));
  }
  return timings;
}

Timings measure_loaded(const std::vector<Work*>& works, double seconds) {
  Timings timings;
  const std::vector<Candidate> candidates = start(works, timings);
  std::vector<double> spent(candidates.size());
  std::vector<long> runs(candidates.size());
  for (size_t round = 0; round < kMinRounds || spent[0] < seconds; ++round) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      Work& work = *candidates[i].work;
      std::this_thread::sleep_for(kCalm);
      work.run();
      const Clock::time_point begin = Clock::now();
      double stretch = 0;
      for (; stretch < kStretchSeconds; ++runs[i]) {
        work.run();
        stretch = Seconds(Clock::now() - begin).count();
      }
      spent[i] += stretch;
    }
  }
  for (size_t i = 0; i < candidates.size(); ++i) {
    note(timings, candidates[i], spent[i] / static_cast<double>(runs[i]));
  }
  return timings;
}

}  // namespace bench
