// Times of collectives and of training on the ranks that there are, each side in turn.
#pragma once

#include <ambit/distributed/process_group.h>

#include <functional>
#include <string>
#include <vector>

#include "model.h"

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
  double at_once = 0;    ///< the same with all gradients in one bucket
  double computing = 0;  ///< on all ranks, without exchange
  double slowest = 0;    ///< the same until the last of them is done: what no exchange betters
  double exchange = 0;   ///< of the gradients, while nobody computes
  Step recorded;         ///< what the model predicts from, on all ranks at the same time
};

/// The same step on all ranks by ambit and by a peer's data parallel training, in seconds.
struct Against {
  double ambit = 0, peer = 0;
  std::string way;  ///< the fastest of the peer's
};

using Progress = std::function<void(const std::string&)>;

/// Return the name of the row of an allreduce: "allreduce/1 MiB".
std::string allreduce_row(int64_t bytes);

/// Medians of `seconds` or more for each size and side, as rank 0 sees them; of the sizes whose row
/// holds `filter`. Called on all ranks.
std::vector<Allreduce> measure_allreduce(ambit::distributed::ProcessGroup& group,
                                         const std::string& filter, double seconds,
                                         const Progress& progress);
Steps measure_steps(const std::shared_ptr<ambit::distributed::ProcessGroup>& group, double seconds);
/// Errors: ambit::Error where the peer does not do it, or its loss is another than ambit's.
Against measure_against(const std::shared_ptr<ambit::distributed::ProcessGroup>& group,
                        const std::string& peer, double seconds, const Progress& progress);

}  // namespace bench::distributed
