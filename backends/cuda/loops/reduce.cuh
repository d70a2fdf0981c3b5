// The kernel of all reductions: folds the elements of each result. A fold F has
//   using Value = ...;                         the accumulator
//   Value first() const;                       the initial value
//   Value load(const X* x, int64_t position) const;   of an element, `position` within the result
//   Value join(Value a, Value b) const;        in any order
//   void store(int64_t result, Value v) const;
#pragma once

#include <ambit/tensor.h>

#include "backends/cuda/runtime/launch.h"
#include "backends/cuda/runtime/workspace.h"
#include "reduce_plan.h"
#include "reduce_walk.h"

namespace ambit::cuda {

// The role of a thread of a block.
struct ReduceThread {
  __device__ ReduceThread(const ReducePlan& plan) {
    const int t = static_cast<int>(threadIdx.x);
    const int output = plan.lanes_adjacent ? t / plan.lanes : t % plan.outputs;
    lane = plan.lanes_adjacent ? t % plan.lanes : t / plan.outputs;
    next_lane = plan.lanes_adjacent ? 1 : plan.outputs;
    const auto splits = static_cast<unsigned>(plan.splits), block = blockIdx.x / splits;
    split = blockIdx.x - block * splits;
    result = int64_t{block} * plan.outputs + output;
  }
  int64_t result, split;
  int lane, next_lane;  // distance between threads of consecutive lanes of a result
};

// Join the values of all lanes of a result; the total is valid in lane 0.
template <class F, class Value = typename F::Value>
__device__ Value join_lanes(const F& f, const ReducePlan& plan, const ReduceThread& me, Value v) {
  __shared__ Value values[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  values[t] = v;
  for (int half = plan.lanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (me.lane < half) values[t] = f.join(values[t], values[t + half * me.next_lane]);
  }
  return values[t];
}

// Compute results, or with splits partials [results, splits], from the elements of x.
template <class F, class X>
__global__ void reduce_kernel(F f, ReducePlan plan, ReduceWalk walk, const X* x,
                              typename F::Value* partials) {
  constexpr int kAhead = 4;  // reads in flight
  const ReduceThread me(plan);
  typename F::Value v[kAhead];
  for (int j = 0; j < kAhead; ++j) v[j] = f.first();
  if (me.result < plan.results) {
    const X* from = x + walk.kept_offset(me.result);
    const int64_t end = plan.split_begin(me.split + 1);
    int64_t i = plan.split_begin(me.split) + me.lane;
    ReduceSteps steps(walk, i, plan.lanes);
    while (i + (kAhead - 1) * plan.lanes < end) {
#pragma unroll
      for (int j = 0; j < kAhead; ++j, i += plan.lanes, steps.advance()) {
        v[j] = f.join(v[j], f.load(from + steps.offset(), i));
      }
    }
    for (; i < end; i += plan.lanes, steps.advance()) {
      v[0] = f.join(v[0], f.load(from + steps.offset(), i));
    }
  }
  const auto whole = join_lanes(f, plan, me, f.join(f.join(v[0], v[1]), f.join(v[2], v[3])));
  if (me.lane != 0 || me.result >= plan.results) return;
  if (partials) {
    partials[me.result * plan.splits + me.split] = whole;
  } else {
    f.store(me.result, whole);
  }
}

// Join partials [results, length] to results; one split.
template <class F>
__global__ void join_partials(F f, ReducePlan plan, const typename F::Value* partials) {
  const ReduceThread me(plan);
  typename F::Value v = f.first();
  if (me.result < plan.results) {
#pragma unroll 1  // unrolling would need a division for the trip count
    for (int64_t i = me.lane; i < plan.length; i += plan.lanes) {
      v = f.join(v, partials[me.result * plan.length + i]);
    }
  }
  v = join_lanes(f, plan, me, v);
  if (me.lane == 0 && me.result < plan.results) f.store(me.result, v);
}

/// Reduce the elements of x, in the order of walk, to results that f stores.
template <class X, class F>
void run_reduce(const F& f, const Tensor& x, const ReduceWalk& walk, int64_t results,
                int64_t length) {
  if (results == 0) return;
  const bool along_memory = walk.kept_dims == 0 ||
                            (walk.reduced_dims > 0 && walk.reduced[0].stride < walk.kept[0].stride);
  const int processors = Call::stream().gpu.properties().multiProcessorCount;
  const ReducePlan plan = plan_reduce(results, length, along_memory, processors);
  using Value = typename F::Value;
  const size_t partials = plan.splits > 1 ? static_cast<size_t>(results * plan.splits) : 0;
  const Workspace workspace(partials * sizeof(Value));
  const X* px = static_cast<const X*>(x.data_ptr());
  launch(reduce_kernel<F, X>, Grid{static_cast<unsigned>(plan.blocks())}, f, plan, walk, px,
         workspace.as<Value>());
  if (plan.splits == 1) return;
  ReducePlan second = plan_reduce(results, plan.splits, true, 1);
  second.split_into(1);
  launch(join_partials<F>, Grid{static_cast<unsigned>(second.blocks())}, f, second,
         static_cast<const Value*>(workspace.as<Value>()));
}

}  // namespace ambit::cuda
