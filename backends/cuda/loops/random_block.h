// What one thread of a random fill does.
#pragma once

#include <ambit/backend/philox.h>
#include <ambit/half.h>

#include <cstdint>
#include <type_traits>

namespace ambit::cuda {

/// What numbers are made as: those of 16 bits are those of float32, rounded.
template <class T>
using Drawn = std::conditional_t<Reduced16<T>, float, T>;

/// Return how many threads have a block of numbers to make for n elements.
template <class T>
AMBIT_HOST_DEVICE constexpr int64_t random_blocks(int64_t n, const RandomParams& p) {
  const auto lanes = static_cast<int64_t>(philox::elements_per_block<Drawn<T>>(p.kind));
  return n / lanes + (n % lanes != 0);
}

/// Write those of y [n] that come from one block of the generator.
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
