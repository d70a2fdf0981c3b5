// Lists of tensors in one launch: every element is in one part, and each table is as full as
// possible.
#include "backends/cuda/loops/tensor_table.h"

#include <ambit/ops/creation.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace ambit;
using namespace ambit::cuda;

namespace {

void* address(size_t i) { return reinterpret_cast<void*>(i << 40); }

}  // namespace

TEST_CASE("the parts of a table are its tensors, without gaps, from the first block to the last") {
  const std::vector<int64_t> sizes{1, kPiece - 1, kPiece, kPiece + 1, 5 * kPiece + 3, 1, 2};
  TensorTable<2> table;
  for (size_t i = 0; i < sizes.size(); ++i) table.add({address(i), address(i + 100)}, sizes[i]);
  uint32_t block = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t done = 0;
    while (done < sizes[i]) {
      const Piece piece = table.piece(block++);
      REQUIRE(piece.tensor == static_cast<int>(i));
      REQUIRE(piece.begin == done);
      REQUIRE(piece.size > 0);
      CHECK(table.at<float>(0, piece) == static_cast<float*>(address(i)) + done);
      CHECK(table.at<double>(1, piece) == static_cast<double*>(address(i + 100)) + done);
      done += piece.size;
    }
    CHECK(done == sizes[i]);
  }
  CHECK(table.blocks == block);
}

TEST_CASE("a table of tensors with 2^31 + 5 elements") {
  constexpr int64_t kCount = (int64_t{1} << 31) + 5;
  TensorTable<4> table;
  while (!table.is_full()) table.add({}, kCount);
  const auto blocks = static_cast<uint32_t>(kCount / kPiece + 1);
  REQUIRE(table.blocks == blocks * static_cast<uint32_t>(table.count));
  for (const int i : {0, 1, table.count - 1}) {
    const uint32_t first = blocks * static_cast<uint32_t>(i);
    CHECK(table.piece(first).tensor == i);
    CHECK(table.piece(first).begin == 0);
    const Piece last = table.piece(first + blocks - 1);
    CHECK(last.tensor == i);
    CHECK(last.begin == kCount - 5);
    CHECK(last.size == 5);
  }
}

TEST_CASE("a table is an argument of a kernel, with others") {
  CHECK(sizeof(TensorTable<2>) <= 4000);
  CHECK(sizeof(TensorTable<3>) <= 4000);
  CHECK(sizeof(TensorTable<4>) <= 4000);
  CHECK(TensorTable<4>::kMost >= 64);
}

TEST_CASE("lists need as few tables as possible, and tensors without elements are left out") {
  constexpr int kMost = TensorTable<2>::kMost;
  for (const int count : {0, 1, kMost - 1, kMost, kMost + 1, 2 * kMost, 2 * kMost + 1}) {
    CAPTURE(count);
    std::vector<Tensor> p, g;
    for (int i = 0; i < count; ++i) {
      for (auto* list : {&p, &g}) {
        list->push_back(empty({0}));
        list->push_back(empty({i + 1}));
      }
    }
    int tables = 0;
    size_t next = 1;
    for_each_table<2>({p, g}, [&](const TensorTable<2>& table) {
      ++tables;
      for (int i = 0; i < table.count; ++i, next += 2) {
        REQUIRE(table.numel[i] == p[next].numel());
        REQUIRE(table.data[0][i] == p[next].data_ptr());
        REQUIRE(table.data[1][i] == g[next].data_ptr());
      }
    });
    CHECK(next == 2 * static_cast<size_t>(count) + 1);
    CHECK(tables == (count + kMost - 1) / kMost);
  }
}
