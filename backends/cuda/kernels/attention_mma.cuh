// Attention of reduced floating-point types on tensor cores, for heads of up to 128 features.
#pragma once

#include "attention_operands.cuh"

namespace ambit::cuda {

/// Return true if heads have few enough features, the current GPU's tensor cores support m16n8k16,
/// and the library contains code for them; code for older GPUs also runs on newer ones.
bool fits_tensor_cores(int64_t features);

/// T is Half or BFloat16; lse, per query of y, stores the largest score and log_total.
template <class T>
void attend_by_mma(const Scores<T>& scores, const Heads<T>& v, const Heads<T>& y, float* lse);
template <class T>
void attend_grad_by_mma(const Scores<T>& scores, const Weights<T>& weights, const Heads<T>& dq,
                        const Heads<T>& dk, const Heads<T>& dv);

/// Call f.template operator()<kDepth>() with the smallest tile depth that fits the features.
template <class F>
void for_depth(int64_t features, const F& f) {
  if (features <= 32) return f.template operator()<32>();
  if (features <= 64) return f.template operator()<64>();
  f.template operator()<128>();
}

/// Return a grid with a block for each tile of n rows, of every head.
inline Grid grid_of_tiles(int64_t heads, int64_t n, int rows, int threads) {
  const int64_t blocks = heads * ((n + rows - 1) / rows);
  return {static_cast<unsigned>(std::min<int64_t>(blocks, INT32_MAX)),
          static_cast<unsigned>(threads)};
}

}  // namespace ambit::cuda
