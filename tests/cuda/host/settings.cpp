#include "settings.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace ambit::cuda::host {
namespace {

uint64_t number(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Read the variable as the driver does: a list of numbers that ends before the first invalid one.
int visible(int gpus) {
  const char* text = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!text) return gpus;
  int count = 0;
  for (char* end = nullptr; *text; text = *end == ',' ? end + 1 : end) {
    const long index = std::strtol(text, &end, 10);
    if (end == text || index < 0 || index >= gpus) break;
    ++count;
  }
  return std::min(count, gpus);
}

}  // namespace

const Settings& settings() {
  static const Settings read = [] {
    Settings s;
    s.gpus = visible(static_cast<int>(number("AMBIT_CUDA_HOST", 1)));
    s.seed = number("AMBIT_CUDA_HOST_SEED", s.seed);
    s.checks = number("AMBIT_CUDA_HOST_CHECKS", 1) != 0;
    s.peers = number("AMBIT_CUDA_HOST_PEERS", 1) != 0;
    s.memory_bytes = static_cast<size_t>(number("AMBIT_CUDA_HOST_MEMORY", 1024)) << 20;
    s.processors = static_cast<int>(number("AMBIT_CUDA_HOST_PROCESSORS", 3));
    s.architecture = static_cast<int>(number("AMBIT_CUDA_HOST_ARCHITECTURE", 90));
    s.failing_malloc = number("AMBIT_CUDA_HOST_FAIL_MALLOC", 0);
    s.failing_launch = number("AMBIT_CUDA_HOST_FAIL_LAUNCH", 0);
    return s;
  }();
  return read;
}

}  // namespace ambit::cuda::host
