// The kernels of all scans along one dim. Lines are split into chunks so that one long line fills
// the GPU, too: totals of all chunks are computed first, then every block scans its chunk, starting
// from the total of the preceding chunks. A scan S has
//   using Value = ...;                         the accumulator
//   Value first() const;                       the initial value
//   Value load(int64_t offset, int64_t i) const;    of element i of a line, at an offset in x
//   Value join(Value a, Value b) const;        a before b; chunk totals join in any order
//   void store(int64_t offset, Value v) const;
#pragma once

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "reduce.cuh"

namespace ambit::cuda {

/// The lines of a scan, and their direction.
struct ScanLines {
  ReduceWalk walk;  // over the starts of all lines
  int64_t count, length, step;
  int64_t begin = 0;       // offset of the first element in scan order
  bool exclusive = false;  // for results: each excludes its own element

  __device__ int64_t first(int64_t line) const { return walk.kept_offset(line) + begin; }
};

template <class S>
struct JoinOf {
  template <class Value>
  __device__ Value operator()(const Value& a, const Value& b) const {
    return scan.join(a, b);
  }
  S scan;
};

// Compute totals [lines, chunks] of lines
template <class S>
__global__ void chunk_totals(S scan, ScanLines from, int64_t chunks, int64_t chunk,
                             typename S::Value* totals) {
  using Value = typename S::Value;
  using Reduce = cub::BlockReduce<Value, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  const int64_t line = blockIdx.x / chunks, first = blockIdx.x % chunks * chunk;
  const int64_t start = from.first(line);
  const int64_t end = min(first + chunk, from.length);
  Value v = scan.first();
  for (int64_t i = first + threadIdx.x; i < end; i += kThreads) {
    v = scan.join(v, scan.load(start + i * from.step, i));
  }
  v = Reduce(storage).Reduce(v, JoinOf<S>{scan});
  if (threadIdx.x == 0) totals[blockIdx.x] = v;
}

// totals [lines, chunks], null if each line is one chunk
template <class S>
__global__ void scan_chunks(S scan, ScanLines from, ScanLines to, int64_t chunks, int64_t chunk,
                            const typename S::Value* totals) {
  using Value = typename S::Value;
  using Reduce = cub::BlockReduce<Value, kThreads>;
  using Scan = cub::BlockScan<Value, kThreads>;
  __shared__ typename Reduce::TempStorage of_totals;
  __shared__ typename Scan::TempStorage of_chunk;
  __shared__ Value before;
  const JoinOf<S> join{scan};
  const int64_t line = blockIdx.x / chunks, place = blockIdx.x % chunks;
  Value carry = scan.first();
  for (int64_t i = threadIdx.x; i < place; i += kThreads) {
    carry = scan.join(carry, totals[line * chunks + i]);
  }
  carry = Reduce(of_totals).Reduce(carry, join);
  if (threadIdx.x == 0) before = carry;
  __syncthreads();
  carry = before;
  const int64_t start = from.first(line), out = to.first(line);
  const int64_t end = min((place + 1) * chunk, from.length);
  if (to.exclusive && place == 0 && threadIdx.x == 0) scan.store(out, scan.first());
  for (int64_t begin = place * chunk; begin < end; begin += kThreads) {
    const int64_t i = begin + threadIdx.x;
    Value v = i < end ? scan.load(start + i * from.step, i) : scan.first(), all;
    Scan(of_chunk).InclusiveScan(v, v, join, all);
    const int64_t j = i + to.exclusive;
    if (i < end && j < to.length) scan.store(out + j * to.step, scan.join(carry, v));
    carry = scan.join(carry, all);
    __syncthreads();  // the storage is reused
  }
}

// One thread per line: adjacent threads process adjacent lines.
template <class S>
__global__ void scan_lines(S scan, ScanLines from, ScanLines to) {
  for (int64_t line = thread_index(); line < from.count; line += thread_count()) {
    const int64_t start = from.first(line), out = to.first(line);
    typename S::Value v = scan.first();
    for (int64_t i = 0; i < from.length; ++i) {
      if (to.exclusive) scan.store(out + i * to.step, v);
      v = scan.join(v, scan.load(start + i * from.step, i));
      if (!to.exclusive) scan.store(out + i * to.step, v);
    }
  }
}

inline ScanLines scan_lines_of(const Tensor& t, const ScanParams& p) {
  const auto keeps = [&](size_t d) { return static_cast<int64_t>(d) != p.dim; };
  const int64_t length = t.dim() == 0 ? 1 : t.size(p.dim);
  const int64_t count = length == 0 ? 0 : t.numel() / length;
  const int64_t step = t.dim() == 0 ? 1 : t.stride(p.dim);
  const ReduceWalk walk = reduce_walk(Call::op(), t, keeps);
  if (p.reverse) return {walk, count, length, -step, (length - 1) * step, p.exclusive};
  return {walk, count, length, step, 0, p.exclusive};
}

/// Scan the lines of x into y; all outputs have the strides of y. The index i passed to the scan's
/// load() counts in scan order.
template <class S>
void run_scan(const S& scan, const Tensor& y, const Tensor& x, const ScanParams& p) {
  constexpr int64_t kManyLines = 16384, kLeastPerChunk = 16 * kThreads, kMostBlocks = 1024;
  const ScanLines from = scan_lines_of(x, p), to = scan_lines_of(y, p);
  const bool apart = from.step > 1 || from.step < -1;
  if (from.length <= 32 || (from.count >= kManyLines && apart)) {
    return launch(scan_lines<S>, grid_for(from.count), scan, from, to);
  }
  const int64_t useful =
      std::min((from.length + kLeastPerChunk - 1) / kLeastPerChunk, kMostBlocks / from.count);
  const int64_t chunks = std::max<int64_t>(useful, 1);
  const int64_t chunk = (from.length + chunks - 1) / chunks;
  const Grid grid{static_cast<unsigned>(from.count * chunks)};
  using Value = typename S::Value;
  const size_t totals = chunks > 1 ? static_cast<size_t>(from.count * chunks) : 0;
  const Workspace workspace(totals * sizeof(Value));
  auto* sums = workspace.as<Value>();
  if (chunks > 1) launch(chunk_totals<S>, grid, scan, from, chunks, chunk, sums);
  launch(scan_chunks<S>, grid, scan, from, to, chunks, chunk, sums);
}

}  // namespace ambit::cuda
