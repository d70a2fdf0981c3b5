// A generic lower bound for rows without a hand-written floor: moving the bytes, or computing the
// multiply-adds, as fast as this machine can at that size.
#pragma once

#include <memory>

#include "row.h"

namespace bench {

/// Return a workload that takes at least the time that `cost` requires; null if the cost is
/// unknown.
std::unique_ptr<Work> make_bound(const Cost& cost, int threads);

}  // namespace bench
