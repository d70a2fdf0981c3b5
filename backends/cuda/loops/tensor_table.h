// Lists of tensors in one launch: a table, passed as a kernel argument, assigns blocks to parts of
// tensors. The host code and the device code of the table are tested without a GPU. PyTorch's
// multi_tensor_apply works in the same way.
#pragma once

#include <ambit/api.h>
#include <ambit/tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {

/// Elements per block: four for each thread.
inline constexpr int64_t kPiece = 4 * kThreads;

/// The elements of a block: [begin, begin + size) of tensor `tensor` of the table.
struct Piece {
  int tensor;
  int64_t begin;
  int size;
};

/// Up to kMost tensors of each of N lists. Kernel arguments are limited to 4096 bytes; other
/// arguments need some of them.
template <int N>
struct TensorTable {
  static constexpr int kMost = 3584 / ((N + 1) * 8 + 4);

  void* data[N][kMost];
  int64_t numel[kMost];
  uint32_t first_block[kMost];
  int count = 0;
  uint32_t blocks = 0;

  bool is_full() const { return count == kMost; }
  void add(const std::array<void*, N>& pointers, int64_t elements) {
    for (size_t k = 0; k < N; ++k) data[k][count] = pointers[k];
    numel[count] = elements;
    first_block[count] = blocks;
    ++count;
    blocks += static_cast<uint32_t>((elements + kPiece - 1) / kPiece);
  }

  /// Return the piece of a block, by binary search.
  AMBIT_HOST_DEVICE Piece piece(uint32_t block) const {
    int low = 0, high = count;  // the tensor is in [low, high)
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (first_block[middle] <= block ? low : high) = middle;
    }
    const int64_t begin = int64_t{block - first_block[low]} * kPiece;
    const int64_t rest = numel[low] - begin;
    return {low, begin, static_cast<int>(rest < kPiece ? rest : kPiece)};
  }
  template <class T>
  AMBIT_HOST_DEVICE T* at(int list, const Piece& piece) const {
    return static_cast<T*>(data[list][piece.tensor]) + piece.begin;
  }
};

/// Call f(table) for all tensors of the lists, in as few tables as possible.
/// Requires lists of equal length, whose tensors are contiguous and of equal sizes.
template <int N, class F>
void for_each_table(const std::array<TensorList, N>& lists, const F& f) {
  TensorTable<N> table;
  for (size_t i = 0; i < lists[0].size(); ++i) {
    const int64_t elements = lists[0][i].numel();
    if (elements == 0) continue;
    if (table.is_full()) {
      f(table);
      table.count = 0;
      table.blocks = 0;
    }
    std::array<void*, N> pointers;
    for (size_t k = 0; k < N; ++k) pointers[k] = lists[k][i].data_ptr();
    table.add(pointers, elements);
  }
  if (table.count > 0) f(table);
}

}  // namespace ambit::cuda
