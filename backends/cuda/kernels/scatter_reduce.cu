// Products and extremes of elements selected by an int64 tensor. Several indices may be equal:
// their elements are joined by atomics in any order, or, if the order matters and must be
// deterministic, by one thread per line.
#include <ambit/backend/arithmetic.h>
#include <ambit/settings.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/atomic_join.cuh"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/places.h"
#include "backends/cuda/runtime/launch.h"
#include "upcast_operand.h"

namespace ambit::cuda {
namespace {

struct Product {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return arithmetic::wrap_mul(a, b);
  }
};
struct Largest {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return arithmetic::maximum(a, b);
  }
};
struct Smallest {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return arithmetic::minimum(a, b);
  }
};

// y[places] = join(y[places], src), in the dtype of y
template <class Join, class T, class Y>
__global__ void join_atomically(Indexer<3> indexer, uint32_t n, Along along, FaultSink faults,
                                const T* src, const int64_t* index, Y* y) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int32_t at[3];
    indexer.find(static_cast<uint32_t>(i), at);
    const int64_t k = index[at[1]];
    if (!along.holds(k, faults)) continue;
    atomic_join(y + at[2] + k * along.step, static_cast<Y>(src[at[0]]), Join());
  }
}

// As above for n lines along dim, of `length` elements with the steps of src and index. No two
// lines share an element of y.
template <class Join, class T, class Y>
__global__ void join_in_order(Indexer<3> indexer, uint32_t n, Along along, int64_t length,
                              int64_t src_step, int64_t index_step, FaultSink faults, const T* src,
                              const int64_t* index, Y* y) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int32_t at[3];
    indexer.find(static_cast<uint32_t>(i), at);
    for (int64_t j = 0; j < length; ++j) {
      const int64_t k = index[at[1] + j * index_step];
      if (!along.holds(k, faults)) continue;
      Y& place = y[at[2] + k * along.step];
      place = Join()(place, static_cast<Y>(src[at[0] + j * src_step]));
    }
  }
}

template <class Join, class T, class Y = T>
void run(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  const FaultSink faults = Call::stream().gpu.faults().sink(Call::op());
  // Extremes, and integer products, do not depend on the order.
  const bool in_turn = !std::is_integral_v<T> && std::is_same_v<Join, Product> &&
                       is_deterministic() && src.dim() > 0 && index.numel() > 0;
  Dims sizes = index.sizes();
  if (in_turn) sizes[static_cast<size_t>(dim)] = 1;
  const Walk<3> walk = places(sizes, src.strides(), index.strides(), strides_but(y, dim));
  for_each_piece(walk, [&](const Walk<3>& piece) {
    const auto n = static_cast<uint32_t>(piece.count());
    const T* from = src.data_ptr<T>() + piece.offsets[0];
    const int64_t* at = index.data_ptr<int64_t>() + piece.offsets[1];
    Y* to = y.data_ptr<Y>() + piece.offsets[2];
    if (in_turn) {
      launch(join_in_order<Join, T, Y>, grid_for(n), Indexer<3>(piece), n, along(y, dim),
             index.size(dim), src.stride(dim), index.stride(dim), faults, from, at, to);
    } else {
      launch(join_atomically<Join, T, Y>, grid_for(n), Indexer<3>(piece), n, along(y, dim), faults,
             from, at, to);
    }
  });
}

}  // namespace

void scatter_reduce(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim,
                    const ScatterOp& op) {
  visit<dtypes::kEvery>(y.dtype(), [&]<class T>() {
    switch (op) {
      case ScatterOp::prod: {
        UpcastOperand products(y);  // accumulates in float32; extremes need no rounding
        run<Product, T, Computed<T>>(products.tensor(), index, src, dim);
        return products.write_back();
      }
      case ScatterOp::max:
        return run<Largest, T>(y, index, src, dim);
      case ScatterOp::min:
        return run<Smallest, T>(y, index, src, dim);
    }
  });
}

}  // namespace ambit::cuda
