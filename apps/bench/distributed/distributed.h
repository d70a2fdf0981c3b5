// `ambit bench --distributed`: speedup of several processes and the cost of their exchange,
// measured on those started by mpirun; with --model, predicted for more ranks from one.
#pragma once

#include <functional>
#include <string>

#include "../options.h"

namespace bench::distributed {

/// Measure, and return the tables; empty on ranks other than 0. Every rank computes with one
/// thread. Errors: ambit::Error without MPI, with a single rank, or for an invalid model.
std::string run(const Options& options, bool markdown,
                const std::function<void(const std::string&)>& progress);

}  // namespace bench::distributed
