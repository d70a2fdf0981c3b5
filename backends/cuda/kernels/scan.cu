// Running sums along one dim. Lines are cut into chunks so that one long line fills the GPU too:
// the totals of all chunks come first, then every block scans its chunk, from the total of those
// before.
#include <ambit/error.h>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/accumulator.h"
#include "backends/cuda/loops/reduce.cuh"

namespace ambit::cuda {
namespace {

/// Where lines lie, and how they are cut.
struct Lines {
  ReduceWalk walk;  // of the starts of all lines
  int64_t count, length, step;
};

template <class Acc>
using BlockReduce = cub::BlockReduce<Acc, kThreads>;
template <class Acc>
using BlockScan = cub::BlockScan<Acc, kThreads>;

// x lines -> totals [lines, chunks]
template <class T>
__global__ void chunk_totals(Lines from, int64_t chunks, int64_t chunk, const T* x,
                             Accumulator<T>* totals) {
  using Acc = Accumulator<T>;
  __shared__ typename BlockReduce<Acc>::TempStorage storage;
  const int64_t line = blockIdx.x / chunks, first = blockIdx.x % chunks * chunk;
  const T* px = x + from.walk.kept_offset(line);
  const int64_t end = min(first + chunk, from.length);
  Acc sum{};
  for (int64_t i = first + threadIdx.x; i < end; i += kThreads) {
    sum += static_cast<Acc>(px[i * from.step]);
  }
  sum = BlockReduce<Acc>(storage).Sum(sum);
  if (threadIdx.x == 0) totals[blockIdx.x] = sum;
}

// x, y lines; totals [lines, chunks], null where a line is one chunk
template <class T>
__global__ void scan_chunks(Lines from, Lines to, int64_t chunks, int64_t chunk, const T* x, T* y,
                            const Accumulator<T>* totals) {
  using Acc = Accumulator<T>;
  __shared__ union {
    typename BlockReduce<Acc>::TempStorage reduce;
    typename BlockScan<Acc>::TempStorage scan;
  } storage;
  __shared__ Acc before;
  const int64_t line = blockIdx.x / chunks, place = blockIdx.x % chunks;
  Acc sum{};
  for (int64_t i = threadIdx.x; i < place; i += kThreads) sum += totals[line * chunks + i];
  sum = BlockReduce<Acc>(storage.reduce).Sum(sum);
  if (threadIdx.x == 0) before = sum;
  __syncthreads();
  Acc carry = before;
  const T* px = x + from.walk.kept_offset(line);
  T* py = y + to.walk.kept_offset(line);
  const int64_t end = min((place + 1) * chunk, from.length);
  for (int64_t begin = place * chunk; begin < end; begin += kThreads) {
    const int64_t i = begin + threadIdx.x;
    Acc v = i < end ? static_cast<Acc>(px[i * from.step]) : Acc{}, all;
    BlockScan<Acc>(storage.scan).InclusiveSum(v, v, all);
    if (i < end) py[i * to.step] = static_cast<T>(carry + v);
    carry += all;
    __syncthreads();  // the storage is used again
  }
}

// x, y lines, each by one thread: neighbouring threads walk neighbouring lines.
template <class T>
__global__ void scan_lines(Lines from, Lines to, const T* x, T* y) {
  for (int64_t line = thread_index(); line < from.count; line += thread_count()) {
    const T* px = x + from.walk.kept_offset(line);
    T* py = y + to.walk.kept_offset(line);
    Accumulator<T> sum{};
    for (int64_t i = 0; i < from.length; ++i) {
      sum += static_cast<Accumulator<T>>(px[i * from.step]);
      py[i * to.step] = static_cast<T>(sum);
    }
  }
}

Lines lines_of(const Tensor& t, int64_t dim) {
  const auto keeps = [&](size_t d) { return static_cast<int64_t>(d) != dim; };
  const int64_t length = t.dim() == 0 ? 1 : t.size(dim);
  const int64_t count = length == 0 ? 0 : t.numel() / length;
  return {reduce_walk(Call::op(), t, keeps), count, length, t.dim() == 0 ? 1 : t.stride(dim)};
}

template <class T>
void run_scan(Tensor& y, const Tensor& x, const Lines& from, const Lines& to) {
  constexpr int64_t kManyLines = 16384, kLeastPerChunk = 16 * kThreads, kMostBlocks = 1024;
  const T* px = x.data_ptr<T>();
  T* py = y.data_ptr<T>();
  if (from.length <= 32 || (from.count >= kManyLines && from.step > 1)) {
    return launch(scan_lines<T>, grid_for(from.count), from, to, px, py);
  }
  const int64_t useful =
      std::min((from.length + kLeastPerChunk - 1) / kLeastPerChunk, kMostBlocks / from.count);
  const int64_t chunks = std::max<int64_t>(useful, 1);
  const int64_t chunk = (from.length + chunks - 1) / chunks;
  const Grid grid{static_cast<unsigned>(from.count * chunks)};
  const size_t totals = chunks > 1 ? static_cast<size_t>(from.count * chunks) : 0;
  const Workspace workspace(totals * sizeof(Accumulator<T>));
  auto* sums = workspace.as<Accumulator<T>>();
  if (chunks > 1) launch(chunk_totals<T>, grid, from, chunks, chunk, px, sums);
  launch(scan_chunks<T>, grid, from, to, chunks, chunk, px, py, sums);
}

}  // namespace

void scan(Tensor& y, const Tensor& x, int64_t dim, const ScanOp&) {
  if (x.numel() == 0) return;
  const Lines from = lines_of(x, dim), to = lines_of(y, dim);
  visit(x.dtype(), [&]<class T>() { run_scan<T>(y, x, from, to); });
}

}  // namespace ambit::cuda
