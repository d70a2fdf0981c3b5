// Timing works against each other.
#pragma once

#include <memory>
#include <vector>

#include "peer.h"

namespace bench {

struct Timing {
  double seconds = 0;  ///< of one run, the median
  double result = 0;   ///< of the work's second run
};

/// Run the works in turn, so that whatever else the machine does meets all of them alike, for about
/// `seconds` each, and at least three times. Samples are so long that the clock does not count. By
/// then every work has run twice.
std::vector<Timing> measure(const std::vector<Work*>& works, double seconds);

}  // namespace bench
