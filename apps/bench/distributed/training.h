// One rank's training: tudui, with the lesson's batches and optimizer, on the cpu.
#pragma once

#include <ambit/distributed/data_parallel.h>
#include <ambit/optim/sgd.h>

#include <memory>

#include "../rows/networks.h"
#include "model.h"

namespace bench::distributed {

inline constexpr int64_t kBatch = 64;  // of a rank
// Tudui's parameters are 0.6 MB, one bucket as a program would have them: nothing of it could be
// hidden. So there are several.
inline constexpr double kBucketMiB = 0.25;

class Training {
 public:
  /// Without a group: alone.
  explicit Training(std::shared_ptr<ambit::distributed::ProcessGroup> group = nullptr);
  void step();
  /// The same, but gradients stay on this rank.
  void step_without_exchange();

 private:
  Tudui network_;
  std::unique_ptr<ambit::distributed::DataParallel> parallel_;
  ambit::optim::SGD optimizer_;
  ambit::Tensor images_, labels_;

  friend Step record_step(double seconds);
};

/// Train for so long on one rank, and return the median of what its steps exchange and when.
Step record_step(double seconds);

}  // namespace bench::distributed
