// Reading and writing by an int64 index tensor. Invalid indices are reported and skipped.
#include <ambit/ops/creation.h>
#include <ambit/settings.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/element_bits.h"
#include "backends/cuda/loops/places.h"
#include "backends/cuda/loops/store_any.cuh"
#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {
namespace {

// y = x[places]
template <class T>
__global__ void take(Indexer<3> indexer, uint32_t n, Along along, FaultSink faults, T* y,
                     const int64_t* index, const T* x) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int32_t at[3];
    indexer.find(static_cast<uint32_t>(i), at);
    const int64_t k = index[at[1]];
    if (along.holds(k, faults)) y[at[0]] = x[at[2] + k * along.step];
  }
}

// y[places] = src
template <class T>
__global__ void put(Indexer<3> indexer, uint32_t n, Along along, FaultSink faults, const T* src,
                    const int64_t* index, T* y) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int32_t at[3];
    indexer.find(static_cast<uint32_t>(i), at);
    const int64_t k = index[at[1]];
    if (along.holds(k, faults)) store_any(y + at[2] + k * along.step, src[at[0]]);
  }
}

// Launch `take` or `put` for each piece of the walk of (other, index, indexed).
template <class Other, class Indexed>
void for_each_place(void (*kernel)(Indexer<3>, uint32_t, Along, FaultSink, Other*, const int64_t*,
                                   Indexed*),
                    const Walk<3>& walk, const Along& along, const Tensor& other,
                    const Tensor& index, const Tensor& indexed) {
  const FaultSink faults = Call::stream().gpu.faults().sink(Call::op());
  for_each_piece(walk, [&](const Walk<3>& piece) {
    const int64_t n = piece.count();
    launch(kernel, grid_for(n), Indexer<3>(piece), static_cast<uint32_t>(n), along, faults,
           static_cast<Other*>(other.data_ptr()) + piece.offsets[0],
           index.data_ptr<int64_t>() + piece.offsets[1],
           static_cast<Indexed*>(indexed.data_ptr()) + piece.offsets[2]);
  });
}

// winner[places] = the position in index of the last element that refers to this element of y,
// initially -1; a piece of the walk begins at position `first`
__global__ void elect(Indexer<3> indexer, uint32_t n, Along along, FaultSink faults, int64_t first,
                      const int64_t* index, int64_t* winner) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int32_t at[3];
    indexer.find(static_cast<uint32_t>(i), at);
    const int64_t k = index[at[1]];
    if (!along.holds(k, faults)) continue;
    auto* place = reinterpret_cast<long long*>(winner + at[2] + k * along.step);
    atomicMax(place, static_cast<long long>(first + at[0]));
  }
}

// y[places] = src of the winners
template <class T>
__global__ void put_winners(Indexer<5> indexer, uint32_t n, Along along, int64_t winner_step,
                            int64_t first, const int64_t* index, const int64_t* winner,
                            const T* src, T* y) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int32_t at[5];
    indexer.find(static_cast<uint32_t>(i), at);
    const int64_t k = index[at[1]];
    if (k < 0 || k >= along.bound || winner[at[2] + k * winner_step] != first + at[0]) continue;
    y[at[4] + k * along.step] = src[at[3]];
  }
}

// As in a sequential loop, the last of several elements with equal indices is stored.
void scatter_in_order(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  Tensor winner = empty(y.sizes(), TensorOptions(y.device()).dtype(kInt64));
  fill(winner, -1);
  const FaultSink faults = Call::stream().gpu.faults().sink(Call::op());
  const Along to_winner = along(winner, dim);
  const int64_t* const pi = index.data_ptr<int64_t>();
  int64_t* const pw = winner.data_ptr<int64_t>();
  const Dims positions = contiguous_strides(index.sizes());
  const Dims of_winner = strides_but(winner, dim), of_y = strides_but(y, dim);
  for_each_piece(
      places(index.sizes(), positions, index.strides(), of_winner), [&](const Walk<3>& piece) {
        const int64_t n = piece.count();
        launch(elect, grid_for(n), Indexer<3>(piece), static_cast<uint32_t>(n), to_winner, faults,
               piece.offsets[0], pi + piece.offsets[1], pw + piece.offsets[2]);
      });
  const Walk<5> walk =
      collapsed<5>(index.sizes(), {positions, index.strides(), of_winner, src.strides(), of_y});
  visit_bits(y.dtype(), [&]<class T>() {
    for_each_piece(walk, [&](const Walk<5>& piece) {
      const int64_t n = piece.count();
      launch(put_winners<T>, grid_for(n), Indexer<5>(piece), static_cast<uint32_t>(n),
             along(y, dim), to_winner.step, piece.offsets[0], pi + piece.offsets[1],
             pw + piece.offsets[2], static_cast<const T*>(src.data_ptr()) + piece.offsets[3],
             static_cast<T*>(y.data_ptr()) + piece.offsets[4]);
    });
  });
}

}  // namespace

void gather(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim) {
  const Walk<3> walk = places(y.sizes(), y.strides(), index.strides(), strides_but(x, dim));
  visit_bits(y.dtype(),
             [&]<class T>() { for_each_place(take<T>, walk, along(x, dim), y, index, x); });
}

void index_select(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim) {
  const Walk<3> walk =
      places(y.sizes(), y.strides(), row_strides(index, y, dim), strides_but(x, dim));
  visit_bits(y.dtype(),
             [&]<class T>() { for_each_place(take<T>, walk, along(x, dim), y, index, x); });
}

void scatter(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  if (is_deterministic()) return scatter_in_order(y, index, src, dim);
  const Walk<3> walk = places(index.sizes(), src.strides(), index.strides(), strides_but(y, dim));
  visit_bits(y.dtype(),
             [&]<class T>() { for_each_place(put<T>, walk, along(y, dim), src, index, y); });
}

}  // namespace ambit::cuda
