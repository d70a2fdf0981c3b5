// Growth of time and memory of the lessons' networks with batch size and threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "options.h"

namespace bench {

struct Growth {
  struct Cell {
    std::string work;  ///< "net/train"
    int64_t batch = 0;
    int threads = 0;
    double seconds = 0;                  ///< of one run
    std::optional<double> peak_bytes{};  ///< of a separate process, on the cpu

    /// Return images per second and thread.
    double rate() const { return static_cast<double>(batch) / seconds / threads; }
  };
  std::string device;
  std::vector<Cell> cells;  ///< by workload, then by batch, then 1, 2, 4, ... threads
};

/// Measure the workloads whose name contains options.filter, with 1, 2, 4, ... up to the current
/// number of threads. Errors: ambit::Error if no name matches.
Growth measure_growth(const Options& options, const std::vector<int64_t>& batches,
                      const std::function<void(const std::string&)>& progress);

std::string text_of(const Growth& growth);
std::string markdown_of(const Growth& growth);
std::string json_of(const Growth& growth);

}  // namespace bench
