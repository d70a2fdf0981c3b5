// A linear layer with int8 weights: the rows of x are quantised once, then products of four bytes
// at a time are summed exactly. With few rows, reading the weights dominates, and one warp computes
// a column. With more rows a block computes a tile.
#include <limits>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/lines.cuh"
#include "backends/cuda/loops/repeated.h"
#include "backends/cuda/runtime/workspace.h"
#include "upcast_operand.h"

namespace ambit::cuda {
namespace {

// q [M,pitch] (K elements used) and scale [M] of x [M,K], as quantize_rows in core computes them.
template <class T, int kLanes>
__global__ void quantize(ContiguousLines rows, int64_t pitch, int8_t* q, float* scale, const T* x) {
  for_each_line<kLanes>(rows, [&](int64_t row, int64_t lane) {
    const auto larger = [](float a, float b) { return a > b || std::isnan(a) ? a : b; };
    const T* from = x + row * rows.length;
    float largest = 0;
    for (int64_t k = lane; k < rows.length; k += kLanes) {
      largest = larger(largest, std::fabs(upcast(from[k])));
    }
    largest = join_line<kLanes>(largest, larger);
    const bool counts = largest >= 1e-36f && largest <= std::numeric_limits<float>::max();
    const float factor = counts ? 127 / largest : 0;
    for (int64_t k = lane; k < rows.length; k += kLanes) {
      q[row * pitch + k] = static_cast<int8_t>(std::rint(counts ? upcast(from[k]) * factor : 0));
    }
    if (lane == 0) scale[row] = largest / 127;
  });
}

/// Rows of bytes [count,K], read as words of four; 0 out of bounds.
struct Words {
  __device__ int at(int64_t row, int64_t word) const {
    const int64_t k = 4 * word;
    if (row >= count || k >= K) return 0;
    const int8_t* p = data + row * pitch + k;
    if (aligned && k + 4 <= K) return *reinterpret_cast<const int*>(p);
    unsigned bytes = 0;
    for (int i = 0; i < 4 && k + i < K; ++i) bytes |= unsigned{static_cast<uint8_t>(p[i])} << 8 * i;
    return static_cast<int>(bytes);
  }
  __device__ int64_t words() const { return (K + 3) / 4; }

  const int8_t* data;
  int64_t count, K, pitch;
  bool aligned;
};

/// Return sum plus the products of the bytes of a and b.
__device__ int add_products(int sum, int a, int b) {
#ifdef __CUDA_ARCH__
  return __dp4a(a, b, sum);
#else
  for (int shift = 0; shift < 32; shift += 8) {
    sum += static_cast<int8_t>(a >> shift) * static_cast<int8_t>(b >> shift);
  }
  return sum;
#endif
}

/// Converts sums to y [M,N]; scale [N], b [N] or null, row_scale [M].
template <class T>
struct Scaled {
  __device__ void store(int64_t m, int64_t n, int sum) const {
    const float product = static_cast<float>(sum) * (row_scale[m] * scale[n]);
    y[m * N + n] = downcast<T>(b ? product + b[n] : product);
  }
  T* y;
  int64_t N;
  const float *row_scale, *scale, *b;
};

constexpr int kFew = 4;  // rows that a warp multiplies by a column

template <class T>
__global__ void multiply_few(Words q, Words w, Scaled<T> out) {
  const int64_t lane = threadIdx.x % kWarp;
  for (int64_t n = thread_index() / kWarp; n < w.count; n += thread_count() / kWarp) {
    for (int64_t m = 0; m < q.count; m += kFew) {
      int sums[kFew] = {};
      for (int64_t k = lane; k < w.words(); k += kWarp) {
        const int weights = w.at(n, k);
#pragma unroll
        for (int r = 0; r < kFew; ++r) sums[r] = add_products(sums[r], q.at(m + r, k), weights);
      }
#pragma unroll
      for (int r = 0; r < kFew; ++r) {
        const int sum = join_line<kWarp>(sums[r], [](int a, int b) { return a + b; });
        if (lane == 0 && m + r < q.count) out.store(m + r, n, sum);
      }
    }
  }
}

constexpr int kSide = 16;  // threads
static_assert(kSide * kSide == kThreads);
constexpr int kHeld = 4;  // a thread computes kHeld rows times kHeld columns
constexpr int kTile = kHeld * kSide;

template <class T>
__global__ void multiply_tiles(Words q, Words w, Scaled<T> out) {
  __shared__ int left[kTile][kSide + 1], right[kTile][kSide + 1];
  const int i = static_cast<int>(threadIdx.x) / kSide, j = static_cast<int>(threadIdx.x) % kSide;
  const int64_t across = (w.count + kTile - 1) / kTile, down = (q.count + kTile - 1) / kTile;
  for (int64_t tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
    const int64_t m = tile / across * kTile, n = tile % across * kTile;
    int sums[kHeld][kHeld] = {};
    for (int64_t k = 0; k < w.words(); k += kSide) {
#pragma unroll
      for (int r = 0; r < kTile; r += kSide) {
        left[i + r][j] = q.at(m + i + r, k + j);
        right[i + r][j] = w.at(n + i + r, k + j);
      }
      __syncthreads();
      for (int s = 0; s < kSide; ++s) {
#pragma unroll
        for (int r = 0; r < kHeld; ++r) {
#pragma unroll
          for (int c = 0; c < kHeld; ++c) {
            sums[r][c] = add_products(sums[r][c], left[i + r * kSide][s], right[j + c * kSide][s]);
          }
        }
      }
      __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < kHeld; ++r) {
#pragma unroll
      for (int c = 0; c < kHeld; ++c) {
        const int64_t row = m + i + r * kSide, column = n + j + c * kSide;
        if (row < q.count && column < w.count) out.store(row, column, sums[r][c]);
      }
    }
  }
}

}  // namespace

// y [M,N], x [M,K], w [N,K], scale [N], b [N]
void linear_int8(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& scale,
                 const Tensor& b) {
  if (y.numel() == 0) return;
  const int64_t M = y.size(0), N = y.size(1), K = x.size(1);
  if (K == 0) return b.defined() ? copy(y, repeated(b, y)) : fill(y, 0);
  const int64_t pitch = (K + 3) / 4 * 4;
  const Workspace bytes(static_cast<size_t>(M * pitch)), row_scale(M * sizeof(float));
  const UpcastOperand own_scale(scale), own_b(b);
  visit_lines<dtypes::with_reduced_floating({kFloat32})>(
      x, 1, [&]<class T, int kLanes>(const ContiguousLines& rows, Grid grid) {
        launch(quantize<T, kLanes>, grid, rows, pitch, bytes.as<int8_t>(), row_scale.as<float>(),
               static_cast<const T*>(x.data_ptr<T>()));
      });
  const int8_t* weight = w.data_ptr<int8_t>();
  const Words q{bytes.as<int8_t>(), M, K, pitch, true};
  const Words of_w{weight, N, K, K, K % 4 == 0 && reinterpret_cast<uintptr_t>(weight) % 4 == 0};
  visit<dtypes::with_reduced_floating({kFloat32})>(y.dtype(), [&]<class T>() {
    const Scaled<T> out{y.data_ptr<T>(), N, row_scale.as<float>(), own_scale.data<float>(),
                        own_b.data<float>()};
    constexpr int64_t kFewRows = 4 * kFew;
    if (M <= kFewRows) {
      launch(multiply_few<T>, grid_for(N * kWarp), q, of_w, out);
    } else {
      const int64_t tiles = (M + kTile - 1) / kTile * ((N + kTile - 1) / kTile);
      launch(multiply_tiles<T>, grid_for(tiles * kThreads), q, of_w, out);
    }
  });
}

}  // namespace ambit::cuda
