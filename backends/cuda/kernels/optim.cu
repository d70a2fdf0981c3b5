// Optimizer steps for all parameters in one launch: parameters are many and mostly small, so that a
// launch for each would cost more than the work.
#include <ambit/backend/optim_rule.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/map.cuh"
#include "backends/cuda/loops/tensor_table.h"

namespace ambit::cuda {
namespace {

// Each block updates one piece. The rule's lists are the first of the table; all are written except
// the last one, the gradients. List `fresh` (-1: none) is uninitialised and not read.
template <class T, int M, class Rule>
__device__ void update_piece(const TensorTable<M>& table, const Piece& piece, const Rule& rule,
                             int fresh) {
  constexpr int N = Rule::kLists;
  using S = Computed<T>;
  constexpr int V = 16 / sizeof(S);  // elements per thread, also for float16 and bfloat16
  using Lanes = Vector<T, V>;
  T* x[N];
  uintptr_t bits = 0;
  for (int k = 0; k < N; ++k) {
    x[k] = table.template at<T>(k, piece);
    bits |= reinterpret_cast<uintptr_t>(x[k]);
  }
  const int thread = static_cast<int>(threadIdx.x);
  const int in_vectors = bits % sizeof(Lanes) == 0 ? piece.size / V * V : 0;
  for (int i = thread * V; i < in_vectors; i += kThreads * V) {
    Lanes lanes[N] = {};
    for (int k = 0; k < N; ++k) {
      if (k != fresh) lanes[k] = *reinterpret_cast<const Lanes*>(x[k] + i);
    }
#pragma unroll
    for (int j = 0; j < V; ++j) {
      S values[N];
      for (int k = 0; k < N; ++k) values[k] = upcast(lanes[k].lane[j]);
      rule(values);
      for (int k = 0; k < N; ++k) lanes[k].lane[j] = downcast<T>(values[k]);
    }
    for (int k = 0; k < N - 1; ++k) *reinterpret_cast<Lanes*>(x[k] + i) = lanes[k];
  }
  for (int i = in_vectors + thread; i < piece.size; i += kThreads) {
    S values[N];
    for (int k = 0; k < N; ++k) values[k] = k == fresh ? S{0} : upcast(x[k][i]);
    rule(values);
    for (int k = 0; k < N - 1; ++k) x[k][i] = downcast<T>(values[k]);
  }
}

template <class T, int N, class Rule>
__global__ void update(const __grid_constant__ TensorTable<N> table, Rule rule, int fresh) {
  update_piece<T>(table, table.piece(blockIdx.x), rule, fresh);
}

// Adam with step counts in tensors, the fifth list: one thread of each block computes the bias
// corrections.
template <class T>
__global__ void update_counted(const __grid_constant__ TensorTable<5> table,
                               AdamRule<Computed<T>> rule, AdamParams params) {
  __shared__ Computed<T> corrections[2];
  const Piece piece = table.piece(blockIdx.x);
  if (threadIdx.x == 0) {
    rule.correct(params, 1 + double{*static_cast<const float*>(table.data[4][piece.tensor])});
    corrections[0] = rule.step_size;
    corrections[1] = rule.root_scale;
  }
  __syncthreads();
  rule.step_size = corrections[0];
  rule.root_scale = corrections[1];
  update_piece<T>(table, piece, rule, -1);
}

template <class T>
__global__ void unscale_pieces(const __grid_constant__ TensorTable<1> table,
                               Unscale<Computed<T>> rule, float* found) {
  using S = Computed<T>;
  constexpr int V = 16 / sizeof(S);
  using Lanes = Vector<T, V>;
  const Piece piece = table.piece(blockIdx.x);
  T* const x = table.template at<T>(0, piece);
  const int thread = static_cast<int>(threadIdx.x);
  const int in_vectors =
      reinterpret_cast<uintptr_t>(x) % sizeof(Lanes) == 0 ? piece.size / V * V : 0;
  bool finite = true;
  const auto apply = [&](T& element) {
    S value = upcast(element);
    finite &= rule(value);
    element = downcast<T>(value);
  };
  for (int i = thread * V; i < in_vectors; i += kThreads * V) {
    Lanes lanes = *reinterpret_cast<const Lanes*>(x + i);
#pragma unroll
    for (int j = 0; j < V; ++j) apply(lanes.lane[j]);
    *reinterpret_cast<Lanes*>(x + i) = lanes;
  }
  for (int i = in_vectors + thread; i < piece.size; i += kThreads) apply(x[i]);
  if (!finite) atomicExch(found, 1.F);
}

template <class T, class Rule>
void update_all(const std::array<TensorList, Rule::kLists>& lists, const Rule& rule,
                int fresh = -1) {
  constexpr int N = Rule::kLists;
  static_assert(sizeof(TensorTable<N>) + sizeof(Rule) + sizeof(fresh) <= 4096);
  for_each_table<N>(lists, [&](const TensorTable<N>& table) {
    launch(update<T, N, Rule>, Grid{table.blocks}, table, rule, fresh);
  });
}

}  // namespace

void sgd_step(TensorList p, TensorList buf, TensorList g, const SgdParams& params) {
  visit<dtypes::kAnyFloating>(p[0].dtype(), [&]<class T>() {
    if (buf.empty()) return update_all<T>({p, g}, PlainSgd<Computed<T>>(params));
    update_all<T>({p, buf, g}, MomentumSgd<Computed<T>>(params), params.first_step ? 1 : -1);
  });
}

void adam_step(TensorList p, TensorList m, TensorList v, TensorList t, TensorList g,
               const AdamParams& params) {
  visit<dtypes::kAnyFloating>(p[0].dtype(), [&]<class T>() {
    const AdamRule<Computed<T>> rule(params);
    if (t.empty()) {
      Call::expect_no_capture("a step's number, which would be the same at each replay");
      return update_all<T>({p, m, v, g}, rule);
    }
    static_assert(sizeof(TensorTable<5>) + sizeof(rule) + sizeof(params) <= 4096);
    for_each_table<5>({p, m, v, g, t}, [&](const TensorTable<5>& table) {
      launch(update_counted<T>, Grid{table.blocks}, table, rule, params);
    });
  });
}

void unscale(TensorList g, Tensor& found, double factor) {
  visit<dtypes::kAnyFloating>(g[0].dtype(), [&]<class T>() {
    const Unscale<Computed<T>> rule(factor);
    for_each_table<1>({g}, [&](const TensorTable<1>& table) {
      launch(unscale_pieces<T>, Grid{table.blocks}, table, rule, found.data_ptr<float>());
    });
  });
}

}  // namespace ambit::cuda
