#include "transpose.h"

#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {
namespace {

constexpr int kSide = 32;

// A block moves tiles, through shared memory, so that both sides are read and written along rows.
template <class T>
__global__ void transpose_tiles(int64_t tiles, int64_t rows, int64_t columns, T* to,
                                const T* from) {
  __shared__ T tile[kSide][kSide + 1];
  constexpr int kStep = kThreads / kSide;  // rows that the threads of a block make at once
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
        target[(column + i) * rows + row + along] = tile[along][i];
      }
    }
    __syncthreads();
  }
}

}  // namespace

void transpose(void* to, const void* from, size_t element_bytes, int64_t batch, int64_t rows,
               int64_t columns) {
  const int64_t tiles = batch * ((rows + kSide - 1) / kSide) * ((columns + kSide - 1) / kSide);
  const auto run = [&]<class T>() {
    launch(transpose_tiles<T>, grid_for(tiles * kThreads), tiles, rows, columns,
           static_cast<T*>(to), static_cast<const T*>(from));
  };
  if (tiles == 0) return;
  if (element_bytes == sizeof(uint16_t)) return run.template operator()<uint16_t>();
  if (element_bytes == sizeof(uint64_t)) return run.template operator()<uint64_t>();
  run.template operator()<uint32_t>();
}

}  // namespace ambit::cuda
