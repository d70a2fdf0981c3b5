#include "exchange.h"

#include <ambit/ops/creation.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "../peers.h"
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

// Rank 0's number, on all.
int64_t agreed(ProcessGroup& group, double value) {
  const Tensor t = full({1}, std::llround(value), TensorOptions(kInt64));
  group.broadcast(t)->wait();
  return t.item<int64_t>();
}

// Time all calls in turn, for about `seconds` each; medians of one run. All ranks begin together,
// and do the same number of runs.
std::vector<double> in_turn(ProcessGroup& group, const std::vector<Call>& calls, double seconds) {
  std::vector<std::vector<double>> samples(calls.size());
  std::vector<int64_t> runs;
  double round = 0;  // seconds
  for (const Call& call : calls) {
    call();
    group.barrier()->wait();
    const double once = time_of(call, 1);
    runs.push_back(agreed(group, std::clamp(kSampleSeconds / once, 1.0, 1e4)));
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

// Let rank 0 do it alone; the others leave their cores in peace.
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

std::vector<Allreduce> measure_allreduce(ProcessGroup& group, double seconds,
                                         const Progress& progress) {
  std::vector<Allreduce> all;
  for (int64_t bytes = 1 << 10; bytes <= 64 << 20; bytes *= 4) {
    progress(fmt::format("allreduce of {} bytes", bytes));
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
  Training alone, together(group);
  std::vector<Tensor> buckets;
  for (const Step::Bucket& bucket : record_step(0).buckets) {
    buckets.push_back(zeros({static_cast<int64_t>(bucket.bytes) / 4}));
  }
  const auto exchange = [&] {
    std::vector<std::shared_ptr<ambit::distributed::Work>> works;
    for (const Tensor& bucket : buckets) {
      works.push_back(group->allreduce(bucket, ambit::distributed::ReduceOp::AVG));
    }
    for (const auto& work : works) work->wait();
  };
  const std::vector<double> times =
      in_turn(*group,
              {by_first_alone(*group, [&] { alone.step(); }), [&] { together.step(); },
               [&] { together.step_without_exchange(); }, exchange},
              seconds);
  return {times[0], times[1], times[2], times[3]};
}

}  // namespace bench::distributed
