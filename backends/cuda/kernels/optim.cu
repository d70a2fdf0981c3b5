// Steps of optimizers, for all parameters in one launch: they are many and mostly small, so that
// a launch for each would cost more than the work.
#include <ambit/backend/optim_rule.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/map.cuh"
#include "backends/cuda/loops/tensor_table.h"

namespace ambit::cuda {
namespace {

// Every block updates one piece; of the lists all are written but the last, the gradients. List
// `fresh`, -1: none, holds nothing yet: the rule does not ask for it.
template <class T, int N, class Rule>
__global__ void update(const __grid_constant__ TensorTable<N> table, Rule rule, int fresh) {
  using S = Computed<T>;
  constexpr int V = 16 / sizeof(S);  // of 16 bits too: as many as a piece has for each thread
  using Lanes = Vector<T, V>;
  const Piece piece = table.piece(blockIdx.x);
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
      for (int k = 0; k < N; ++k) values[k] = widened(lanes[k].lane[j]);
      rule(values);
      for (int k = 0; k < N; ++k) lanes[k].lane[j] = narrowed<T>(values[k]);
    }
    for (int k = 0; k < N - 1; ++k) *reinterpret_cast<Lanes*>(x[k] + i) = lanes[k];
  }
  for (int i = in_vectors + thread; i < piece.size; i += kThreads) {
    S values[N];
    for (int k = 0; k < N; ++k) values[k] = k == fresh ? S{0} : widened(x[k][i]);
    rule(values);
    for (int k = 0; k < N - 1; ++k) x[k][i] = narrowed<T>(values[k]);
  }
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
    if (params.first_step) {
      Call::expect_no_capture("a first step with momentum, which would begin anew at each replay");
    }
    update_all<T>({p, buf, g}, MomentumSgd<Computed<T>>(params), params.first_step ? 1 : -1);
  });
}

void adam_step(TensorList p, TensorList m, TensorList v, TensorList g, const AdamParams& params) {
  Call::expect_no_capture("a step's number, which would be the same at each replay");
  visit<dtypes::kAnyFloating>(p[0].dtype(), [&]<class T>() {
    update_all<T>({p, m, v, g}, AdamRule<Computed<T>>(params));
  });
}

}  // namespace ambit::cuda
