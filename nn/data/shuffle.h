// Random permutations by Philox, equal on all machines. Private to data.
#pragma once

#include <ambit/backend/philox.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace ambit::data {

/// Return the number of blocks of a random stream that shuffle() reads.
inline uint64_t blocks_to_shuffle(size_t size) { return philox::blocks(size); }

/// Make `order` a uniformly random permutation of 0 ... size - 1, with random numbers from block
/// `offset` of the seed's stream on. Source: Fisher & Yates, as Knuth's algorithm P.
inline void shuffle(std::vector<size_t>& order, uint64_t seed, uint64_t offset) {
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[philox::below(seed, offset, i - 1, i)]);
  }
}

}  // namespace ambit::data
