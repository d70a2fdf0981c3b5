// Times of collectives and of training on the available ranks, all sides measured alternately.
#pragma once

#include <ambit/distributed/process_group.h>

#include <functional>
#include <string>
#include <vector>

#include "model.h"

namespace bench::distributed {

/// Seconds of an allreduce of `bytes` of float32, by ambit and by MPI_Allreduce.
struct Allreduce {
  int64_t bytes = 0;
  double ambit = 0, bare = 0;
};

/// Seconds of a training step of tudui with batch 64 per rank.
struct Steps {
  double alone = 0;      ///< on one rank, while the others are idle
  double together = 0;   ///< on all ranks
  double at_once = 0;    ///< on all ranks, with all gradients in one bucket
  double computing = 0;  ///< on all ranks, without exchange
  double slowest = 0;   ///< without exchange, until the last rank is done: a bound for any exchange
  double exchange = 0;  ///< exchange of the gradients, without computation
  Step recorded;        ///< input of the model, on all ranks at the same time
};

/// Seconds of the same step on all ranks, by ambit and by a peer's data-parallel training.
struct Against {
  double ambit = 0, peer = 0;
  std::string way;  ///< the peer's fastest variant
};

using Progress = std::function<void(const std::string&)>;

/// Return the name of an allreduce's row: "allreduce/1 MiB".
std::string allreduce_row(int64_t bytes);

/// Return medians over at least `seconds` for each size and side, as seen by rank 0, for the sizes
/// whose row contains `filter`. Must be called on all ranks.
std::vector<Allreduce> measure_allreduce(ambit::distributed::ProcessGroup& group,
                                         const std::string& filter, double seconds,
                                         const Progress& progress);
Steps measure_steps(const std::shared_ptr<ambit::distributed::ProcessGroup>& group, double seconds);
/// Errors: ambit::Error if the peer does not support it, or its loss differs from ambit's.
Against measure_against(const std::shared_ptr<ambit::distributed::ProcessGroup>& group,
                        const std::string& peer, double seconds, const Progress& progress);

}  // namespace bench::distributed
