// Reading and writing at places that an int64 tensor names. A bad index is reported and skipped.
#include "element_bits.h"
#include "kernels.h"
#include "launch.h"
#include "places.h"

namespace ambit::cuda {
namespace {

// y = x at the places
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

// y at the places = src
template <class T>
__global__ void put(Indexer<3> indexer, uint32_t n, Along along, FaultSink faults, const T* src,
                    const int64_t* index, T* y) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int32_t at[3];
    indexer.find(static_cast<uint32_t>(i), at);
    const int64_t k = index[at[1]];
    if (along.holds(k, faults)) y[at[2] + k * along.step] = src[at[0]];
  }
}

// Launch take or put for each piece of the walk of (other, index, indexed).
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
  const Walk<3> walk = places(index.sizes(), src.strides(), index.strides(), strides_but(y, dim));
  visit_bits(y.dtype(),
             [&]<class T>() { for_each_place(put<T>, walk, along(y, dim), src, index, y); });
}

}  // namespace ambit::cuda
