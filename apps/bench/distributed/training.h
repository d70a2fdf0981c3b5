// Training of one rank: tudui, with the lesson's batches and optimizer, on the cpu.
#pragma once

#include <ambit/distributed/data_parallel.h>
#include <ambit/optim/sgd.h>

#include <chrono>
#include <memory>
#include <vector>

#include "../row.h"
#include "../rows/networks.h"
#include "model.h"

namespace bench::distributed {

inline constexpr int64_t kBatch = 64;  // per rank
// Tudui's parameters are 0.6 MB: one bucket by default, so no exchange could overlap with
// computation. A smaller size gives several buckets.
inline constexpr double kBucketMiB = 0.25;

/// Return the data of all sides: images, labels, and initial parameters.
Inputs numbers();

class Training {
 public:
  /// Without a group: a single rank.
  explicit Training(std::shared_ptr<ambit::distributed::ProcessGroup> group = nullptr,
                    double bucket_mib = kBucketMiB);
  /// Run a step; return the loss before the update.
  double step();
  /// Run a step without averaging the gradients.
  void step_without_exchange();

  void forward_and_backward();
  void update() { optimizer_.step(); }

 private:
  explicit Training(const Inputs& inputs);

  Tudui network_;
  std::unique_ptr<ambit::distributed::DataParallel> parallel_;
  ambit::optim::SGD optimizer_;
  ambit::Tensor images_, labels_, loss_;
};

/// Runs steps of one rank and records their exchanges instead of performing them.
class Recording {
 public:
  Recording();
  void step();
  /// Return the step of median length so far.
  Step median();

 private:
  using Clock = std::chrono::steady_clock;
  Step now_;
  Clock::time_point begin_;
  std::vector<Step> steps_;
  std::unique_ptr<Training> training_;
};

/// Train on one rank for `seconds`, and return the median sizes and times of its exchanges.
Step record_step(double seconds);

}  // namespace bench::distributed
