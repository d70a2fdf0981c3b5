// Measures the size from which another device is faster than the CPU, in training larger networks.
#pragma once

#include <ambit/device.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct Grid {
  std::vector<int64_t> batches{1, 4, 16, 64, 256, 1024};
  std::vector<int64_t> widths{16, 64, 256, 1024, 4096};
};

struct Crossover {
  struct Cell {
    int64_t batch = 0, width = 0;
    double cpu_seconds = 0, device_seconds = 0;  ///< of one step
  };
  std::string device;
  Grid grid;
  std::vector<Cell> cells;  ///< batch by batch
};

/// Time a training step of a perceptron with three hidden layers for each batch and width, on the
/// cpu and on the device alternately. Errors: ambit::Error if the device is the cpu.
Crossover measure_crossover(ambit::Device device, const Grid& grid, double seconds,
                            const std::function<void(const std::string&)>& progress);

/// Return how many times faster the device is, one row per batch, one column per width; then, for
/// each batch, the width from which the device is faster.
std::string text_of(const Crossover& crossover);
std::string markdown_of(const Crossover& crossover);
std::string json_of(const Crossover& crossover);

}  // namespace bench
