// Compares the times of workloads.
#pragma once

#include <string>
#include <vector>

#include "peer.h"

namespace bench {

struct Timing {
  double seconds = 0;  ///< of one run
  double result = 0;   ///< of the workload's second run
  std::string way;     ///< the fastest of its variants
};

struct Timings {
  std::vector<Timing> works;  ///< in the order of the workloads
  bool quiet = true;          ///< no other process used the cores
};

/// Run the workloads alternately, so that other load on the machine affects all equally, for about
/// `seconds` each and at least three times, and return the median; for workloads with several
/// variants (ways), measure each and return the fastest one's median. Samples are long compared to
/// the clock's resolution. Every workload has run twice before. Samples taken while other processes
/// were busy are discarded; if that lasts for several times `seconds`, they are used, and the
/// result is not `quiet`.
Timings measure(const std::vector<Work*>& works, double seconds);

/// As above, while other processes keep the cores busy. The result is the mean over periods that
/// are long compared with the scheduler's time slices.
Timings measure_loaded(const std::vector<Work*>& works, double seconds);

}  // namespace bench
