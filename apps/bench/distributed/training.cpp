#include "training.h"

#include <ambit/ops/loss.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <utility>

#include "../rows/network_works.h"
#include "../rows/rows.h"

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

// A single rank whose collectives complete at once and are reported to a callback.
class Recorder final : public Communicator {
 public:
  explicit Recorder(std::function<void(const Transfer&)> report) : report_(std::move(report)) {}
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::unique_ptr<Request> start(const Transfer& t) override {
    report_(t);
    if (t.in && t.out && t.in != t.out) {
      std::memcpy(t.out, t.in, static_cast<size_t>(t.count) * element_size(t.dtype));
    }
    return std::make_unique<Done>();
  }
  std::vector<Absence> absent(uint64_t, Milliseconds) override { return {}; }
  std::unique_ptr<Communicator> split(std::span<const int>) override {
    return std::make_unique<Recorder>(report_);
  }
  void abort(const std::string&) noexcept override {}

 private:
  std::function<void(const Transfer&)> report_;
};

}  // namespace

Inputs numbers() { return lesson_row("tudui/train", kBatch).inputs(); }

Training::Training(std::shared_ptr<ProcessGroup> group, double bucket_mib) : Training(numbers()) {
  if (!group) return;
  DistributedDataParallelOptions options;
  options.bucket_cap_mb = bucket_mib;
  parallel_ = std::make_unique<DataParallel>(network_.ptr(), std::move(group), options);
}

Training::Training(const Inputs& inputs)
    : network_(network_of<Tudui>(inputs, 2, Device())),
      optimizer_(network_->parameters(), optim::SGDOptions(0.01)),
      images_(inputs[0].value),
      labels_(inputs[1].value) {}

void Training::forward_and_backward() {
  optimizer_.zero_grad();
  if (parallel_) parallel_->before_forward();
  const Tensor loss = cross_entropy(network_(images_), labels_);
  loss.backward();
  loss_ = loss.detach();
}

double Training::step() {
  forward_and_backward();
  update();
  return loss_.item<double>();
}

void Training::step_without_exchange() {
  const DataParallel::NoSync local = parallel_->no_sync();
  step();
}

Recording::Recording() {
  const auto report = [this](const Transfer& t) {
    if (t.what != Collective::allreduce) return;
    const auto bytes = static_cast<double>(t.count) * static_cast<double>(element_size(t.dtype));
    now_.buckets.push_back({bytes, since(begin_)});
  };
  training_ = std::make_unique<Training>(
      std::make_shared<ProcessGroup>(std::make_shared<Recorder>(report)));
  training_->step();  // allocates everything that is kept
}

void Recording::step() {
  now_ = Step();
  begin_ = Clock::now();
  training_->forward_and_backward();
  now_.backward_end = since(begin_);
  training_->update();
  now_.end = since(begin_);
  steps_.push_back(now_);
}

Step Recording::median() {
  const auto middle = steps_.begin() + static_cast<std::ptrdiff_t>(steps_.size() / 2);
  std::nth_element(steps_.begin(), middle, steps_.end(),
                   [](const Step& a, const Step& b) { return a.end < b.end; });
  return *middle;
}

Step record_step(double seconds) {
  Recording recording;
  const Clock::time_point first = Clock::now();
  for (int i = 0; i < 3 || since(first) < seconds; ++i) recording.step();
  return recording.median();
}

}  // namespace bench::distributed
