// One rank's training: tudui, with the lesson's batches and optimizer, on the cpu.
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

inline constexpr int64_t kBatch = 64;  // of a rank
// Tudui's parameters are 0.6 MB, one bucket as a program would have them: nothing of it could be
// hidden. So there are several.
inline constexpr double kBucketMiB = 0.25;

/// What all sides train on: images, labels, and the parameters at the beginning.
Inputs numbers();

class Training {
 public:
  /// Without a group: alone.
  explicit Training(std::shared_ptr<ambit::distributed::ProcessGroup> group = nullptr,
                    double bucket_mib = kBucketMiB);
  /// Return the loss before it.
  double step();
  /// The same, but gradients stay on this rank.
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

/// Steps of one rank that are told of instead of exchanged.
class Recording {
 public:
  Recording();
  void step();
  /// Return the step of median length, of those so far.
  Step median();

 private:
  using Clock = std::chrono::steady_clock;
  Step now_;
  Clock::time_point begin_;
  std::vector<Step> steps_;
  std::unique_ptr<Training> training_;
};

/// Train for so long on one rank, and return the median of what its steps exchange and when.
Step record_step(double seconds);

}  // namespace bench::distributed
