#include "exchange.h"

#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "../peers.h"
#include "../rows/rows.h"
#include "../run.h"
#include "training.h"

namespace bench::distributed {
namespace {

using namespace ambit;
using ambit::distributed::ProcessGroup;
using Clock = std::chrono::steady_clock;
using Call = std::function<void()>;

constexpr double kSampleSeconds = 1e-2;

double time_of(const Call& call, int64_t runs) {
  const Clock::time_point begin = Clock::now();
  for (int64_t i = 0; i < runs; ++i) call();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Return rank 0's number on all ranks.
int64_t agreed(ProcessGroup& group, double value) {
  const Tensor t = full({1}, std::llround(value), TensorOptions(kInt64));
  group.broadcast(t)->wait();
  return t.item<int64_t>();
}

// Time all calls alternately, each for about `seconds`; return the medians of one run, from means
// over the runs that fill a sample. All ranks start together and run equally often.
std::vector<double> in_turn(ProcessGroup& group, const std::vector<Call>& calls, double seconds,
                            double sample_seconds = kSampleSeconds) {
  std::vector<std::vector<double>> samples(calls.size());
  std::vector<int64_t> runs;
  double round = 0;  // seconds
  for (const Call& call : calls) {
    call();
    group.barrier()->wait();
    const double once = time_of(call, 1);
    runs.push_back(agreed(group, std::clamp(sample_seconds / once, 1.0, 1e4)));
    round += once * static_cast<double>(runs.back());
  }
  const double wanted = seconds * static_cast<double>(calls.size()) / round;
  const int64_t rounds = agreed(group, std::clamp(wanted, 3.0, 1e4));
  for (int64_t i = 0; i < rounds; ++i) {
    for (size_t c = 0; c < calls.size(); ++c) {
      group.barrier()->wait();
      samples[c].push_back(time_of(calls[c], runs[c]) / static_cast<double>(runs[c]));
    }
  }
  std::vector<double> medians;
  for (auto& values : samples) medians.push_back(median(std::move(values)));
  return medians;
}

// Return a call that runs on rank 0 only, while the other ranks are idle.
Call by_first_alone(ProcessGroup& group, const Call& call) {
  return [&group, call] {
    if (group.rank() == 0) call();
    const auto all = group.barrier();
    while (group.rank() > 0 && !all->is_completed()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    all->wait();
  };
}

}  // namespace

std::string allreduce_row(int64_t bytes) {
  return bytes < 1 << 20 ? fmt::format("allreduce/{} KiB", bytes >> 10)
                         : fmt::format("allreduce/{} MiB", bytes >> 20);
}

std::vector<Allreduce> measure_allreduce(ProcessGroup& group, const std::string& filter,
                                         double seconds, const Progress& progress) {
  std::vector<Allreduce> all;
  for (int64_t bytes = 1 << 10; bytes <= 64 << 20; bytes *= 4) {
    if (allreduce_row(bytes).find(filter) == std::string::npos) continue;
    progress(allreduce_row(bytes));
    const int64_t count = bytes / 4;
    const Tensor tensor = zeros({count});
    Specification what;
    what.what = "allreduce";
    what.parameters = {count};
    const std::unique_ptr<Work> bare = open_peer("mpi").make(what);
    const std::vector<double> times =
        in_turn(group, {[&] { group.allreduce(tensor)->wait(); }, [&] { bare->run(); }}, seconds);
    all.push_back({bytes, times[0], times[1]});
  }
  return all;
}

Steps measure_steps(const std::shared_ptr<ProcessGroup>& group, double seconds) {
  const ambit::distributed::DistributedDataParallelOptions as_programs_have_it;
  Training alone, together(group), at_once(group, as_programs_have_it.bucket_cap_mb);
  Recording recording;
  recording.step();
  std::vector<Tensor> buckets;
  for (const Step::Bucket& bucket : recording.median().buckets) {
    buckets.push_back(zeros({static_cast<int64_t>(bucket.bytes) / 4}));
  }
  const auto exchange_during = [&](const Call& call) {
    std::vector<std::shared_ptr<ambit::distributed::Work>> works;
    for (const Tensor& bucket : buckets) {
      works.push_back(group->allreduce(bucket, ambit::distributed::ReduceOp::AVG));
    }
    call();
    for (const auto& work : works) work->wait();
  };
  std::vector<double> disturbed;  // computing time of a step, while an exchange is in progress
  const auto compute_disturbed = [&] {
    const Clock::time_point begin = Clock::now();
    exchange_during([&] {
      together.step_without_exchange();
      disturbed.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    });
  };
  // Several steps in a row, as in training: the first one starts with cold caches. Before the
  // recorded steps one rank computes alone, and the others are idle; so their median is used.
  const std::vector<double> times = in_turn(
      *group,
      {by_first_alone(*group, [&] { alone.step(); }), [&] { recording.step(); },
       [&] { together.step(); }, [&] { at_once.step(); }, [&] { together.step_without_exchange(); },
       [&] {
         together.step_without_exchange();
         group->barrier()->wait();
       },
       [&] { exchange_during([] {}); }, compute_disturbed},
      seconds, std::clamp(seconds / 10, kSampleSeconds, 10 * kSampleSeconds));
  Steps steps{times[0], times[2], times[3], times[4], times[5], times[6], recording.median()};
  const double lost = std::max(0.0, median(std::move(disturbed)) - steps.computing);
  const Tensor most = full({1}, lost,
                           TensorOptions(kFloat64));  // all wait for the slowest rank
  group->allreduce(most, ambit::distributed::ReduceOp::MAX)->wait();
  steps.recorded.lost = most.item<double>();
  return steps;
}

Against measure_against(const std::shared_ptr<ProcessGroup>& group, const std::string& name,
                        double seconds, const Progress& progress) {
  const Peer& peer = open_peer(name);
  const Inputs inputs = numbers();
  Specification what = specification_of(lesson_row("tudui/train", kBatch), inputs);
  what.what = "tudui/train distributed";
  const int64_t id = agreed(*group, getpid());
  Training training(group);
  std::vector<std::unique_ptr<Work>> works;
  const double loss = training.step();
  std::vector<Call> calls{[&] { training.step(); }};
  for (int64_t way = 0;; ++way) {
    progress(fmt::format("{}, way {}", peer.name, way + 1));
    what.parameters = {group->rank(), group->size(), id, way};
    std::unique_ptr<Work> work = peer.make(what);
    if (!work) break;
    work->run();
    if (!agree(work->result(), loss)) {
      throw Error(fmt::format("bench: expected the same loss, got {} from ambit and {} from {}",
                              loss, work->result(), peer.name));
    }
    calls.emplace_back([&run = *works.emplace_back(std::move(work))] { run.run(); });
  }
  if (works.empty()) {
    throw Error(
        fmt::format("--against: expected a peer that trains on several ranks, got {}", peer.name));
  }
  progress("tudui");
  const std::vector<double> times = in_turn(*group, calls, seconds);
  const auto best = std::min_element(times.begin() + 1, times.end());
  return {times[0], *best, works[static_cast<size_t>(best - times.begin() - 1)]->way()};
}

}  // namespace bench::distributed
