// The floor of rows that nobody has written by hand: moving their bytes, or computing as many
// multiply-adds, as fast as this machine can at that size.
#pragma once

#include <memory>

#include "row.h"

namespace bench {

/// Return a work that takes at least as long as any of that cost must; null where the cost is not
/// known.
std::unique_ptr<Work> make_bound(const Cost& cost, int threads);

}  // namespace bench
