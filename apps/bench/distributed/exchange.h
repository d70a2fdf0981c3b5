// Times of collectives and of training on the ranks that there are, each side in turn.
#pragma once

#include <ambit/distributed/process_group.h>

#include <functional>
#include <string>
#include <vector>

namespace bench::distributed {

/// An allreduce of so many bytes of float32, by ambit and by MPI_Allreduce, in seconds.
struct Allreduce {
  int64_t bytes = 0;
  double ambit = 0, bare = 0;
};

/// A step of tudui, batch 64 on each rank, in seconds.
struct Steps {
  double alone = 0;      ///< on one rank, while the others rest
  double together = 0;   ///< on all ranks
  double computing = 0;  ///< on all ranks, without exchange
  double exchange = 0;   ///< of the gradients, while nobody computes
};

using Progress = std::function<void(const std::string&)>;

/// Medians of `seconds` or more for each size and side, as rank 0 sees them. Called on all ranks.
std::vector<Allreduce> measure_allreduce(ambit::distributed::ProcessGroup& group, double seconds,
                                         const Progress& progress);
Steps measure_steps(const std::shared_ptr<ambit::distributed::ProcessGroup>& group, double seconds);

}  // namespace bench::distributed
