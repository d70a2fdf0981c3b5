// Timing works against each other.
#pragma once

#include <string>
#include <vector>

#include "peer.h"

namespace bench {

struct Timing {
  double seconds = 0;  ///< of one run
  double result = 0;   ///< of the work's second run
  std::string way;     ///< of its ways the fastest
};

struct Timings {
  std::vector<Timing> works;  ///< in the order of the works
  bool quiet = true;          ///< whether nothing else kept the cores busy
};

/// Run the works in turn, so that whatever else the machine does meets all of them alike, for about
/// `seconds` each, and at least three times, and take the median; of the works that have several
/// ways, each way in turn, and the fastest's median. Samples are so long that the
/// clock does not count. By then every work has run twice. What was measured while other processes
/// were busy does not count; when that has gone on for several times `seconds`, it does after all,
/// and is not `quiet`.
Timings measure(const std::vector<Work*>& works, double seconds);

/// The same beside processes that keep the cores busy: the mean of stretches that are long beside
/// the turns that a scheduler gives.
Timings measure_loaded(const std::vector<Work*>& works, double seconds);

}  // namespace bench
