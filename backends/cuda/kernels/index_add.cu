// Adding to elements selected by an int64 tensor. Several elements of src may be added to one
// element of y: by atomics in any order, or, if the order must be deterministic, one thread
// processes a line in order. For reduced floating-point src, sums are accumulated in float32.
#include <ambit/settings.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/atomic_add.cuh"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/places.h"
#include "backends/cuda/loops/store_any.cuh"
#include "backends/cuda/runtime/launch.h"
#include "upcast_operand.h"

namespace ambit::cuda {
namespace {

// y[places] += src
template <class T>
__global__ void add_atomically(Indexer<3> indexer, uint32_t n, Along along, FaultSink faults,
                               const T* src, const int64_t* index, Computed<T>* y) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int32_t at[3];
    indexer.find(static_cast<uint32_t>(i), at);
    const int64_t k = index[at[1]];
    if (along.holds(k, faults)) atomic_add(y + at[2] + k * along.step, upcast(src[at[0]]));
  }
}

// As above for n lines along dim, of `length` elements with the steps of src and index. No two
// lines share an element of y.
struct Line {
  int64_t length, src_step, index_step;
};
template <class T>
__global__ void add_in_order(Indexer<3> indexer, uint32_t n, Along along, Line line,
                             FaultSink faults, const T* src, const int64_t* index, Computed<T>* y) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int32_t at[3];
    indexer.find(static_cast<uint32_t>(i), at);
    for (int64_t j = 0; j < line.length; ++j) {
      const int64_t k = index[at[1] + j * line.index_step];
      if (!along.holds(k, faults)) continue;
      auto& place = y[at[2] + k * along.step];
      place = static_cast<Computed<T>>(place + upcast(src[at[0] + j * line.src_step]));
    }
  }
}

// bool adds as "or", which is independent of the order.
__global__ void set_true(Indexer<3> indexer, uint32_t n, Along along, FaultSink faults,
                         const bool* src, const int64_t* index, bool* y) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int32_t at[3];
    indexer.find(static_cast<uint32_t>(i), at);
    const int64_t k = index[at[1]];
    if (along.holds(k, faults) && src[at[0]]) store_any(y + at[2] + k * along.step, true);
  }
}

/// An index broadcast to a shape, which src may exceed.
struct Laid {
  const Tensor& index;
  IntArrayRef sizes, strides;
};

template <class T>
void add_each(Tensor& y, const Laid& laid, const Tensor& src, int64_t dim,
              const FaultSink& faults) {
  const Walk<3> walk = places(laid.sizes, src.strides(), laid.strides, strides_but(y, dim));
  for_each_piece(walk, [&](const Walk<3>& piece) {
    const auto n = static_cast<uint32_t>(piece.count());
    const T* from = src.data_ptr<T>() + piece.offsets[0];
    const int64_t* at = laid.index.data_ptr<int64_t>() + piece.offsets[1];
    auto* to = y.data_ptr<Computed<T>>() + piece.offsets[2];
    if constexpr (std::is_same_v<T, bool>) {
      launch(set_true, grid_for(n), Indexer<3>(piece), n, along(y, dim), faults, from, at, to);
    } else {
      launch(add_atomically<T>, grid_for(n), Indexer<3>(piece), n, along(y, dim), faults, from, at,
             to);
    }
  });
}

template <class T>
void add_lines(Tensor& y, const Laid& laid, const Tensor& src, int64_t dim,
               const FaultSink& faults) {
  Dims starts = laid.sizes;
  const auto d = static_cast<size_t>(dim);
  const Line line{starts[d], src.stride(dim), laid.strides[d]};
  starts[d] = line.length == 0 ? 0 : 1;
  const Walk<3> walk = places(starts, src.strides(), laid.strides, strides_but(y, dim));
  for_each_piece(walk, [&](const Walk<3>& piece) {
    const auto n = static_cast<uint32_t>(piece.count());
    launch(add_in_order<T>, grid_for(n), Indexer<3>(piece), n, along(y, dim), line, faults,
           src.data_ptr<T>() + piece.offsets[0], laid.index.data_ptr<int64_t>() + piece.offsets[1],
           y.data_ptr<Computed<T>>() + piece.offsets[2]);
  });
}

void add(Tensor& y, const Laid& laid, const Tensor& src, int64_t dim) {
  const FaultSink faults = Call::stream().gpu.faults().sink(Call::op());
  UpcastOperand sums(y);
  visit<dtypes::kEvery>(y.dtype(), [&]<class T>() {
    if constexpr (!std::is_integral_v<T>) {  // integer sums are independent of the order
      if (is_deterministic() && src.dim() > 0) {
        return add_lines<T>(sums.tensor(), laid, src, dim, faults);
      }
    }
    add_each<T>(sums.tensor(), laid, src, dim, faults);
  });
  sums.write_back();
}

}  // namespace

void scatter_add(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  add(y, {index, index.sizes(), index.strides()}, src, dim);
}

void index_add(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  const Dims strides = row_strides(index, src, dim);
  add(y, {index, src.sizes(), strides}, src, dim);
}

}  // namespace ambit::cuda
