#include "matmul_tiled.h"

#include "backends/cuda/loops/accumulator.h"
#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {
namespace {

constexpr int kTile = 16;
static_assert(kTile * kTile == kThreads);

// A block computes a tile of y, a thread one element, from tiles of a and b in shared memory.
template <class T>
__global__ void multiply_tiles(int64_t batch, int64_t M, int64_t N, int64_t K, Matrices a,
                               Matrices b, const T* bias, int64_t bias_step, T* y) {
  using Acc = Accumulator<T>;
  __shared__ T left[kTile][kTile], right[kTile][kTile + 1];
  const int i = static_cast<int>(threadIdx.x) / kTile, j = static_cast<int>(threadIdx.x) % kTile;
  const int64_t down = (M + kTile - 1) / kTile, across = (N + kTile - 1) / kTile;
  for (int64_t tile = blockIdx.x; tile < batch * down * across; tile += gridDim.x) {
    const int64_t matrix = tile / (down * across);
    const int64_t m = tile / across % down * kTile + i, n = tile % across * kTile + j;
    const T* pa = static_cast<const T*>(a.data) + matrix * a.batch;
    const T* pb = static_cast<const T*>(b.data) + matrix * b.batch;
    Acc sum = bias && n < N ? static_cast<Acc>(bias[n * bias_step]) : Acc{0};
    for (int64_t k = 0; k < K; k += kTile) {
      left[i][j] = m < M && k + j < K ? pa[m * a.row + (k + j) * a.column] : T{0};
      right[i][j] = k + i < K && n < N ? pb[(k + i) * b.row + n * b.column] : T{0};
      __syncthreads();
#pragma unroll
      for (int s = 0; s < kTile; ++s) {
        sum += static_cast<Acc>(left[i][s]) * static_cast<Acc>(right[s][j]);
      }
      __syncthreads();
    }
    if (m < M && n < N) y[(matrix * M + m) * N + n] = static_cast<T>(sum);
  }
}

}  // namespace

void matmul_tiled(Tensor& y, const Matrices& a, const Matrices& b, const Tensor& bias) {
  const int64_t batch = y.dim() == 3 ? y.size(0) : 1, M = a.rows, N = b.columns;
  const int64_t tiles = batch * ((M + kTile - 1) / kTile) * ((N + kTile - 1) / kTile);
  visit<dtypes::kNumbers | dtypes::kReducedFloating>(y.dtype(), [&]<class T>() {
    launch(multiply_tiles<T>, grid_for(tiles * kThreads), batch, M, N, a.columns, a, b,
           bias.defined() ? bias.data_ptr<T>() : nullptr, bias.defined() ? bias.stride(0) : 0,
           y.data_ptr<T>());
  });
}

}  // namespace ambit::cuda
