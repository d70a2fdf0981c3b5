// Operands of the attention kernels: tensors of heads with any strides, scores, and the weights for
// gradients.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

#include <cmath>
#include <limits>

#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/runtime/launch.h"

namespace ambit::cuda {

/// The matrix [N,D] of one head.
template <class T>
struct Head {
  __device__ T* at(int64_t n, int64_t d) const { return data + n * row + d * column; }
  /// Return the element, or 0 out of bounds.
  __device__ Computed<T> get(int64_t n, int64_t d) const {
    return n < N && d < D ? upcast(*at(n, d)) : Computed<T>(0);
  }
  T* data;
  int64_t N, D, row, column;
  bool by_eight;  ///< rows consist of contiguous, aligned groups of eight elements
};

/// A tensor [B,H,N,D]; data is null if it is undefined.
template <class T>
struct Heads {
  explicit Heads(const Tensor& t) : data(t.defined() ? t.data_ptr<T>() : nullptr) {
    if (!data) return;
    H = t.size(1), N = t.size(2), D = t.size(3);
    batch = t.stride(0), head = t.stride(1), row = t.stride(2), column = t.stride(3);
    by_eight = column == 1 && (D | batch | head | row) % 8 == 0 &&
               reinterpret_cast<uintptr_t>(data) % (8 * sizeof(T)) == 0;
  }
  __device__ Head<T> operator[](int64_t i) const {
    return {data + i / H * batch + i % H * head, N, D, row, column, by_eight};
  }
  T* data;
  int64_t H = 1, N = 0, D = 0, batch = 0, head = 0, row = 0, column = 0;
  bool by_eight = false;
};

/// scale * q k^T + mask, with the causal mask.
template <class T>
struct Scores {
  Heads<T> q, k, mask;
  Computed<T> scale;
  bool causal;
  int64_t heads;

  /// Return the number of keys that a query attends to.
  __device__ int64_t seen_by(int64_t query) const {
    if (query >= q.N) return 0;
    return causal ? min(k.N, query + 1) : k.N;
  }
  /// Return the number of keys that `count` queries from the first one attend to together.
  __device__ int64_t keys_of(int64_t first_query, int64_t count) const {
    return causal ? min(k.N, first_query + count) : k.N;
  }
  /// Return the first query that attends to a key.
  __device__ int64_t queries_from(int64_t key) const { return causal ? key : 0; }
};

template <class T>
Scores<T> scores_of(const Tensor& q, const Tensor& k, const Tensor& mask,
                    const AttentionParams& p) {
  return {Heads<T>(q), Heads<T>(k),          Heads<T>(mask), static_cast<Computed<T>>(p.scale),
          p.causal,    q.size(0) * q.size(1)};
}

/// Further operands of the gradient kernels; largest, log_total and share are [B,H,L].
template <class T>
struct Weights {
  using S = Computed<T>;
  Heads<T> v, dy;
  const S *largest, *log_total, *share;

  /// Return the weight for a score of the query at `place`.
  __device__ S of(S score, int64_t place) const {
    return std::exp(score - largest[place] - log_total[place]);
  }
};

}  // namespace ambit::cuda
