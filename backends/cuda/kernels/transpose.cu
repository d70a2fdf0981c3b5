#include "transpose.h"

#include <ambit/backend/functors.h>

#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {
namespace {

constexpr int kSide = 32;

struct Unchanged {
  template <class T>
  AMBIT_HOST_DEVICE T operator()(T x) const {
    return x;
  }
};

// Blocks move tiles through shared memory, so that both operands are accessed along rows.
template <class T, class F>
__global__ void transpose_tiles(F f, int64_t tiles, int64_t rows, int64_t columns, T* to,
                                const T* from) {
  __shared__ T tile[kSide][kSide + 1];
  constexpr int kStep = kThreads / kSide;  // rows that the threads of a block process at a time
  const int along = static_cast<int>(threadIdx.x) % kSide,
            across = static_cast<int>(threadIdx.x) / kSide;
  const int64_t down = (rows + kSide - 1) / kSide, right = (columns + kSide - 1) / kSide;
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int64_t matrix = t / (down * right);
    const int64_t row = t / right % down * kSide, column = t % right * kSide;
    const T* source = from + matrix * rows * columns;
    T* target = to + matrix * rows * columns;
    for (int i = across; i < kSide; i += kStep) {
      if (row + i < rows && column + along < columns) {
        tile[i][along] = source[(row + i) * columns + column + along];
      }
    }
    __syncthreads();
    for (int i = across; i < kSide; i += kStep) {
      if (column + i < columns && row + along < rows) {
        target[(column + i) * rows + row + along] = f(tile[along][i]);
      }
    }
    __syncthreads();
  }
}

template <class T, class F>
void queue(const F& f, void* to, const void* from, int64_t batch, int64_t rows, int64_t columns) {
  const int64_t tiles = batch * ((rows + kSide - 1) / kSide) * ((columns + kSide - 1) / kSide);
  if (tiles == 0) return;
  launch(transpose_tiles<T, F>, grid_for(tiles * kThreads), f, tiles, rows, columns,
         static_cast<T*>(to), static_cast<const T*>(from));
}

}  // namespace

void transpose(void* to, const void* from, size_t element_bytes, int64_t batch, int64_t rows,
               int64_t columns) {
  if (element_bytes == sizeof(uint16_t)) {
    return queue<uint16_t>(Unchanged(), to, from, batch, rows, columns);
  }
  if (element_bytes == sizeof(uint64_t)) {
    return queue<uint64_t>(Unchanged(), to, from, batch, rows, columns);
  }
  queue<uint32_t>(Unchanged(), to, from, batch, rows, columns);
}

void transpose_map(void* to, const void* from, DType dtype, int64_t batch, int64_t rows,
                   int64_t columns, UnaryOp map) {
  const auto by = [&]<UnaryOp op>() {
    using F = arithmetic::Functor<op>;
    if (dtype == kFloat32) return queue<float>(F(), to, from, batch, rows, columns);
    queue<Element16>(On16<F>{F(), Dtype16(dtype)}, to, from, batch, rows, columns);
  };
  if (map == UnaryOp::relu) return by.template operator()<UnaryOp::relu>();
  if (map == UnaryOp::gelu) return by.template operator()<UnaryOp::gelu>();
  by.template operator()<UnaryOp::gelu_tanh>();
}

}  // namespace ambit::cuda
