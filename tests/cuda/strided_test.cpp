// Conversion of positions to offsets, and splitting of tensors that are too large for 32 bits.
#include "backends/cuda/loops/strided.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "backends/cuda/runtime/launch.h"

using namespace ambit;
using namespace ambit::cuda;

namespace {

template <int N>
using Offsets = std::multiset<std::array<int64_t, N>>;

// Compute every element's offsets by counting through the dims.
template <int N>
Offsets<N> plain_offsets(IntArrayRef sizes, const std::array<IntArrayRef, N>& strides) {
  Offsets<N> all;
  int64_t count = 1;
  for (const int64_t s : sizes) count *= s;
  for (int64_t i = 0; i < count; ++i) {
    std::array<int64_t, N> at{};
    int64_t rest = i;
    for (size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) {
      for (size_t k = 0; k < N; ++k) at[k] += rest % sizes[d] * strides[k][d];
    }
    all.insert(at);
  }
  return all;
}

// Compute the same offsets as kernels do.
template <int N>
Offsets<N> piecewise_offsets(IntArrayRef sizes, const std::array<IntArrayRef, N>& strides) {
  Offsets<N> all;
  for_each_piece(collapsed<N>(sizes, strides), [&](const Walk<N>& piece) {
    CHECK(piece.sizes.size() <= kMaxDims);
    const Indexer<N> indexer(piece);
    for (int64_t i = 0; i < piece.count(); ++i) {
      int32_t at[N];
      indexer.find(static_cast<uint32_t>(i), at);
      std::array<int64_t, N> offsets = piece.offsets;
      for (size_t k = 0; k < N; ++k) offsets[k] += at[k];
      all.insert(offsets);
    }
  });
  return all;
}

}  // namespace

TEST_CASE("a divider divides exactly, up to 2^31 - 1 by 2^31 - 1") {
  std::mt19937 random(1);
  std::vector<uint32_t> numbers = {
      1, 2, 3, 5, 7, 10, 641, 65535, 65536, 65537, INT32_MAX - 1, INT32_MAX};
  for (int i = 0; i < 200; ++i) numbers.push_back(1 + random() % INT32_MAX);
  for (const uint32_t d : numbers) {
    const Divider divider(d);
    for (const uint32_t n : numbers) {
      REQUIRE(divider.divide(n) == n / d);
      REQUIRE(divider.divide(n - 1) == (n - 1) / d);
    }
    const uint32_t multiple = INT32_MAX / d * d;  // the quotient changes here
    REQUIRE(divider.divide(multiple) == multiple / d);
    REQUIRE(divider.divide(multiple - 1) == (multiple - 1) / d);
  }
}

TEST_CASE("contiguous operands of any shape are merged to one dim, and a scalar to none") {
  const Dims sizes{2, 3, 1, 4}, dense = contiguous_strides(sizes), none(4, 0);
  const Walk<2> both = collapsed<2>(sizes, {dense, dense});
  CHECK(both.sizes == Dims{24});
  CHECK(both.strides[0] == Dims{1});
  const Walk<2> repeated = collapsed<2>(sizes, {dense, none});
  CHECK(repeated.sizes == Dims{24});
  CHECK(repeated.strides[1] == Dims{0});
  CHECK(collapsed<1>({}, {IntArrayRef{}}).sizes.empty());
  // A row broadcast over a matrix needs both dims.
  CHECK(collapsed<2>({4, 3}, {IntArrayRef{3, 1}, IntArrayRef{0, 1}}).sizes == Dims{3, 4});
  // If both are transposed, elements are visited in the order of memory.
  CHECK(collapsed<2>({4, 3}, {IntArrayRef{1, 4}, IntArrayRef{1, 4}}).sizes == Dims{12});
}

TEST_CASE("an indexer visits every element of transposed, broadcast and sliced operands once") {
  const Dims sizes{2, 3, 4, 5}, dense{60, 20, 5, 1}, transposed{1, 2, 6, 24}, broadcast{0, 7, 0, 2};
  const std::array<IntArrayRef, 3> strides = {dense, transposed, broadcast};
  CHECK(piecewise_offsets<3>(sizes, strides) == plain_offsets<3>(sizes, strides));
}

TEST_CASE("operands with more dims than a kernel supports are split") {
  const Dims sizes(11, 2), dense = contiguous_strides(sizes);
  Dims apart = dense;  // no two dims can be merged
  for (size_t d = 0; d < apart.size(); ++d) apart[d] = dense[d] + static_cast<int64_t>(d);
  CHECK(piecewise_offsets<2>(sizes, {apart, dense}) == plain_offsets<2>(sizes, {apart, dense}));
}

TEST_CASE("without elements there is no part") {
  int pieces = 0;
  for_each_piece(collapsed<1>({3, 0, 2}, {IntArrayRef{0, 2, 1}}),
                 [&](const Walk<1>&) { ++pieces; });
  CHECK(pieces == 0);
  for_each_piece(collapsed<1>({}, {IntArrayRef{}}), [&](const Walk<1>& p) {
    ++pieces;
    CHECK(p.count() == 1);
  });
  CHECK(pieces == 1);
}

TEST_CASE("2^31 + 5 elements are split so that every position fits into 32 bits") {
  constexpr int64_t kCount = (int64_t{1} << 31) + 5;
  std::map<int64_t, int64_t> parts;  // begin -> count
  for_each_piece(collapsed<2>({kCount}, {IntArrayRef{1}, IntArrayRef{1}}), [&](const Walk<2>& p) {
    CHECK(p.offsets[0] == p.offsets[1]);
    CHECK(p.count() <= INT32_MAX);
    parts[p.offsets[0]] = p.count();
  });
  int64_t end = 0;
  for (const auto& [begin, count] : parts) {
    CHECK(begin == end);
    end = begin + count;
  }
  CHECK(end == kCount);
}

TEST_CASE("few elements with large strides are split by their distance") {
  // 4 rows of 8 elements, 2^30 elements apart, and a broadcast row.
  constexpr int64_t kApart = int64_t{1} << 30;
  const Dims apart{kApart, 1}, repeated{0, 1};
  const std::array<IntArrayRef, 2> strides = {apart, repeated};
  for_each_piece(collapsed<2>({4, 8}, strides),
                 [&](const Walk<2>& p) { CHECK(p.reach(0) <= INT32_MAX); });
  CHECK(piecewise_offsets<2>({4, 8}, strides) == plain_offsets<2>({4, 8}, strides));
}

TEST_CASE("a grid has a thread for each element, and at least one block") {
  CHECK(grid_for(0).blocks == 1);
  CHECK(grid_for(1).blocks == 1);
  CHECK(grid_for(kThreads).blocks == 1);
  CHECK(grid_for(kThreads + 1).blocks == 2);
  CHECK(grid_for((int64_t{1} << 31) + 5).blocks == (int64_t{1} << 31) / kThreads + 1);
  CHECK(grid_for(INT64_MAX).blocks == INT32_MAX);  // the maximum of x
}
