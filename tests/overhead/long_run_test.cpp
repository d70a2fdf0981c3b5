// Long training with batches of many sizes: the memory kept for the sizes is bounded.
//   AMBIT_LONG_RUN=100000 ambit_long_run_tests   # steps; each tenth part's time is printed
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

#include "net.h"

using namespace ambit;

namespace {

// "VmRSS:  12345 kB", see proc(5).
double resident_mebibytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

long wanted_steps() {
  const char* text = std::getenv("AMBIT_LONG_RUN");
  return text ? std::atol(text) : 2000;
}

}  // namespace

TEST_CASE("the memory of a training does not grow after its beginning") {
  const long part = std::max(100L, wanted_steps() / 10);
  constexpr int64_t kLargest = 40;
  NetTraining training(kCPU, kLargest);
  double settled = 0;
  for (int i = 0; i < 10; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    for (long step = 0; step < part; ++step) {
      training.step(1 + step * 7 % kLargest);  // batches grow and shrink
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    const double now = resident_mebibytes();
    MESSAGE(part, " steps: ", elapsed.count() / static_cast<double>(part) * 1e6, " us each, ", now,
            " MiB");
    if (i == 2) settled = now;
    if (i > 2) CHECK(now <= settled + 1);
  }
}
