#include "random.h"

#include <atomic>

#include "queue.h"
#include "settings.h"

namespace ambit::cuda::host {

// SplitMix64, Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195: a mixed counter.
uint32_t random_number(uint32_t bound) {
  static std::atomic<uint64_t> counter{settings().seed * 0xd1342543de82ef95u};
  uint64_t z = counter.fetch_add(0x9e3779b97f4a7c15u, std::memory_order_relaxed);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<uint32_t>((z >> 32) * bound >> 32);
}

unsigned random_below(unsigned bound) { return random_number(bound); }

}  // namespace ambit::cuda::host
