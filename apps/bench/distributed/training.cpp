#include "training.h"

#include <ambit/ops/creation.h>
#include <ambit/ops/loss.h>
#include <ambit/ops/random.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <utility>

namespace bench::distributed {
namespace {

using namespace ambit;
using namespace ambit::distributed;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Done final : Request {
  bool wait(Milliseconds) override { return true; }
};

// One rank, whose collectives are over at once and are told of.
class Recorder final : public Communicator {
 public:
  explicit Recorder(std::function<void(const Transfer&)> tell) : tell_(std::move(tell)) {}
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::unique_ptr<Request> start(const Transfer& t) override {
    tell_(t);
    if (t.in && t.out && t.in != t.out) {
      std::memcpy(t.out, t.in, static_cast<size_t>(t.count) * element_size(t.dtype));
    }
    return std::make_unique<Done>();
  }
  std::vector<Absence> absent(uint64_t, Milliseconds) override { return {}; }
  std::unique_ptr<Communicator> split(std::span<const int>) override {
    return std::make_unique<Recorder>(tell_);
  }
  void abort(const std::string&) noexcept override {}

 private:
  std::function<void(const Transfer&)> tell_;
};

}  // namespace

Training::Training(std::shared_ptr<ProcessGroup> group)
    : optimizer_(network_->parameters(), optim::SGDOptions(0.01)) {
  manual_seed(1);
  images_ = rand({kBatch, 3, 32, 32});
  labels_ = randint(0, 10, {kBatch});
  if (!group) return;
  DistributedDataParallelOptions options;
  options.bucket_cap_mb = kBucketMiB;
  parallel_ = std::make_unique<DataParallel>(network_.ptr(), std::move(group), options);
}

void Training::step() {
  optimizer_.zero_grad();
  if (parallel_) parallel_->before_forward();
  cross_entropy(network_(images_), labels_).backward();
  optimizer_.step();
}

void Training::step_without_exchange() {
  const DataParallel::NoSync local = parallel_->no_sync();
  step();
}

Step record_step(double seconds) {
  Step now;
  Clock::time_point begin = Clock::now();
  const auto group =
      std::make_shared<ProcessGroup>(std::make_shared<Recorder>([&](const Transfer& t) {
        if (t.what != Collective::allreduce) return;
        const auto bytes =
            static_cast<double>(t.count) * static_cast<double>(element_size(t.dtype));
        now.buckets.push_back({bytes, since(begin)});
      }));
  Training training(group);
  training.step();  // makes what is made once
  std::vector<Step> steps;
  const Clock::time_point first = Clock::now();
  do {
    now = Step();
    begin = Clock::now();
    training.optimizer_.zero_grad();
    cross_entropy(training.network_(training.images_), training.labels_).backward();
    now.backward_end = since(begin);
    training.optimizer_.step();
    now.end = since(begin);
    steps.push_back(now);
  } while (steps.size() < 3 || since(first) < seconds);
  std::nth_element(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2),
                   steps.end(), [](const Step& a, const Step& b) { return a.end < b.end; });
  return steps[steps.size() / 2];
}

}  // namespace bench::distributed
