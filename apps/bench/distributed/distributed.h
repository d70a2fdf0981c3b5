// `ambit bench --distributed`: what several processes gain and what they lose to their exchange,
// measured on those that mpirun has started; with --model, predicted for more from one.
#pragma once

#include <functional>
#include <string>

#include "../options.h"

namespace bench::distributed {

/// Measure, and return the tables; of ranks other than 0, nothing. Every rank computes with one
/// thread. Errors: ambit::Error where there is no MPI, one rank alone, or no such model.
std::string run(const Options& options, bool markdown,
                const std::function<void(const std::string&)>& progress);

}  // namespace bench::distributed
