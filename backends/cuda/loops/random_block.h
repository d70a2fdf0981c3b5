// The work of one thread of a random fill.
#pragma once

#include <ambit/backend/philox.h>
#include <ambit/half.h>

#include <cstdint>
#include <type_traits>

namespace ambit::cuda {

/// Type in which numbers are generated: float32, then rounded, for reduced floating-point types.
template <class T>
using Drawn = std::conditional_t<ReducedFloat<T>, float, T>;

/// Return how many blocks of numbers, one per thread, n elements need.
template <class T>
AMBIT_HOST_DEVICE constexpr int64_t random_blocks(int64_t n, const RandomParams& p) {
  const auto lanes = static_cast<int64_t>(philox::elements_per_block<Drawn<T>>(p.kind));
  return n / lanes + (n % lanes != 0);
}

/// Write the elements of y [n] that come from one block of the generator.
template <class T>
AMBIT_HOST_DEVICE void write_random_block(T* y, int64_t n, const RandomParams& p, int64_t block) {
  const auto lanes = static_cast<int64_t>(philox::elements_per_block<Drawn<T>>(p.kind));
  const philox::Block words = philox::generate(p.seed, p.offset + static_cast<uint64_t>(block));
  for (int64_t lane = 0; lane < lanes && block * lanes + lane < n; ++lane) {
    const auto drawn = philox::from_block<Drawn<T>>(p, words, static_cast<uint64_t>(lane));
    y[block * lanes + lane] = static_cast<T>(drawn);
  }
}

}  // namespace ambit::cuda
