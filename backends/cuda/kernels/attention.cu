// Attention and its gradient. Tensor cores compute supported shapes of reduced floating-point
// types; this file the rest. A block of threads has one tile of queries and iterates over all tiles
// of keys; for dk and dv it has a tile of keys and iterates over the queries. So the matrix of
// weights is never stored. Scores are recomputed for every kPart of the features, and in the
// gradient from lse: once for up to kPart features. Source: Milakov & Gimelshein 2018,
// arXiv:1805.02867; Dao et al. 2022, arXiv:2205.14135.
#include "attention_mma.cuh"
#include "attention_operands.cuh"
#include "backends/cuda/kernels.h"
#include "backends/cuda/runtime/workspace.h"
#include "upcast_operand.h"

namespace ambit::cuda {
namespace {

constexpr int kTile = 16;  // queries and keys; thread (i, j) computes score (i, j) of two tiles
static_assert(kTile * kTile == kThreads);
constexpr int kHeld = 4;  // features that a thread accumulates
constexpr int kPart = kHeld * kTile;

/// The position of a thread in its tile.
struct Lane {
  int i = static_cast<int>(threadIdx.x) / kTile, j = static_cast<int>(threadIdx.x) % kTile;
};

/// Return the product of row a_first + i of a and row b_first + j of b.
template <class T>
__device__ Computed<T> product_of_rows(const Head<T>& a, int64_t a_first, const Head<T>& b,
                                       int64_t b_first) {
  __shared__ Computed<T> left[kTile][kTile], right[kTile][kTile + 1];
  const auto [i, j] = Lane();
  Computed<T> sum = 0;
  for (int64_t d = 0; d < a.D; d += kTile) {
    left[i][j] = a.get(a_first + i, d + j);
    right[i][j] = b.get(b_first + i, d + j);
    __syncthreads();
#pragma unroll
    for (int t = 0; t < kTile; ++t) sum += left[i][t] * right[j][t];
    __syncthreads();
  }
  return sum;
}

/// held[r] += sum over t of factor (i, t) * row first + t of x, feature part + j + r kTile.
template <class T>
__device__ void add_rows(Computed<T> (&held)[kHeld], Computed<T> factor, const Head<T>& x,
                         int64_t first, int64_t part) {
  __shared__ Computed<T> factors[kTile][kTile + 1], rows[kTile][kPart];
  const auto [i, j] = Lane();
  factors[i][j] = factor;
#pragma unroll
  for (int r = 0; r < kHeld; ++r) {
    rows[i][j + r * kTile] = x.get(first + i, part + j + r * kTile);
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < kHeld; ++r) {
    for (int t = 0; t < kTile; ++t) held[r] += factors[i][t] * rows[t][j + r * kTile];
  }
  __syncthreads();
}

/// Store factor * held in row first + i of x.
template <class T>
__device__ void store_row(const Head<T>& x, int64_t first, int64_t part,
                          const Computed<T> (&held)[kHeld], Computed<T> factor) {
  const auto [i, j] = Lane();
  for (int r = 0; r < kHeld; ++r) {
    const int64_t d = part + j + r * kTile;
    if (first + i < x.N && d < x.D) *x.at(first + i, d) = downcast<T>(factor * held[r]);
  }
}

/// Return the score of a query and a key from the product of their rows.
template <class T>
__device__ Computed<T> score_of(Computed<T> product, const Scores<T>& scores, const Head<T>& mask,
                                int64_t query, int64_t key) {
  using S = Computed<T>;
  if (key >= scores.seen_by(query)) return -std::numeric_limits<S>::infinity();
  return product * scores.scale + (mask.data ? upcast(*mask.at(query, key)) : S(0));
}

/// Return join over the 16 threads of a tile's row; every thread gets the result.
template <class T, class Join>
__device__ T join_row(T v, const Join& join) {
  for (int step = kTile / 2; step > 0; step /= 2) v = join(v, __shfl_xor_sync(~0u, v, step));
  return v;
}

__host__ __device__ int64_t tiles_of(int64_t n) { return (n + kTile - 1) / kTile; }

template <class T>
__global__ void attend(Scores<T> scores, Heads<T> v, Heads<T> y, Computed<T>* lse) {
  using S = Computed<T>;
  constexpr S kNone = -std::numeric_limits<S>::infinity();
  const auto [i, j] = Lane();
  const int64_t L = scores.q.N, tiles = tiles_of(L), parts = (v.D + kPart - 1) / kPart;
  for (int64_t tile = blockIdx.x; tile < scores.heads * tiles * parts; tile += gridDim.x) {
    const int64_t part = tile % parts * kPart, first = tile / parts % tiles * kTile;
    const int64_t head = tile / parts / tiles;
    const Head<T> q = scores.q[head], k = scores.k[head], of_v = v[head], mask = scores.mask[head];
    S largest = kNone, total = 0, held[kHeld] = {};
    for (int64_t key = 0; key < scores.keys_of(first, kTile); key += kTile) {
      const S s = score_of(product_of_rows(q, first, k, key), scores, mask, first + i, key + j);
      const S top = fmax(largest, join_row(s, [](S a, S b) { return fmax(a, b); }));
      const S shift = top == kNone ? S(0) : top;  // no key attended to so far
      const S weight = std::exp(s - shift), lower = std::exp(largest - shift);
      total = total * lower + join_row(weight, [](S a, S b) { return a + b; });
      largest = top;
      for (S& sum : held) sum *= lower;
      add_rows(held, weight, of_v, key, part);
    }
    // If no key is attended to, y is 0, and so are weights computed from lse.
    if (total == 0) largest = 0, total = 1;
    store_row(y[head], first, part, held, 1 / total);
    if (part == 0 && j == 0 && first + i < L) {
      S* to = lse + head * L + first + i;
      to[0] = largest;
      to[scores.heads * L] = std::log(total);
    }
  }
}

// share [B,H,L] = sum(dy * y), which is subtracted from the gradients of a query's weights.
template <class T>
__global__ void take_shares(int64_t queries, Heads<T> dy, Heads<T> y, Computed<T>* share) {
  for (int64_t n = thread_index(); n < queries; n += thread_count()) {
    Computed<T> sum = 0;
    for (int64_t d = 0; d < y.D; ++d) {
      sum += dy[n / y.N].get(n % y.N, d) * y[n / y.N].get(n % y.N, d);
    }
    share[n] = sum;
  }
}

template <class T>
__global__ void query_grads(Scores<T> scores, Weights<T> weights, Heads<T> dq) {
  using S = Computed<T>;
  const auto [i, j] = Lane();
  const int64_t L = scores.q.N, tiles = tiles_of(L), parts = (dq.D + kPart - 1) / kPart;
  for (int64_t tile = blockIdx.x; tile < scores.heads * tiles * parts; tile += gridDim.x) {
    const int64_t part = tile % parts * kPart, first = tile / parts % tiles * kTile;
    const int64_t head = tile / parts / tiles, place = head * L + first + i;
    const Head<T> q = scores.q[head], k = scores.k[head], v = weights.v[head];
    const Head<T> dy = weights.dy[head], mask = scores.mask[head];
    S held[kHeld] = {};
    for (int64_t key = 0; key < scores.keys_of(first, kTile); key += kTile) {
      const S product = product_of_rows(q, first, k, key);
      const S dw = product_of_rows(dy, first, v, key);
      S ds = 0;
      if (key + j < scores.seen_by(first + i)) {
        const S s = score_of(product, scores, mask, first + i, key + j);
        ds = weights.of(s, place) * (dw - weights.share[place]);
      }
      add_rows(held, ds, k, key, part);
    }
    store_row(dq[head], first, part, held, scores.scale);
  }
}

template <class T>
__global__ void key_grads(Scores<T> scores, Weights<T> weights, Heads<T> dk, Heads<T> dv) {
  using S = Computed<T>;
  const auto [i, j] = Lane();
  const int64_t L = scores.q.N, tiles = tiles_of(dk.N);
  const int64_t parts = (max(dk.D, dv.D) + kPart - 1) / kPart;
  for (int64_t tile = blockIdx.x; tile < scores.heads * tiles * parts; tile += gridDim.x) {
    const int64_t part = tile % parts * kPart, first = tile / parts % tiles * kTile;
    const int64_t head = tile / parts / tiles;
    const Head<T> q = scores.q[head], k = scores.k[head], v = weights.v[head];
    const Head<T> dy = weights.dy[head], mask = scores.mask[head];
    S held_k[kHeld] = {}, held_v[kHeld] = {};
    for (int64_t query = scores.queries_from(first); query < L; query += kTile) {
      const S product = product_of_rows(k, first, q, query);
      const S dw = product_of_rows(v, first, dy, query);
      S w = 0, ds = 0;
      if (first + i < scores.seen_by(query + j)) {
        const int64_t place = head * L + query + j;
        w = weights.of(score_of(product, scores, mask, query + j, first + i), place);
        ds = w * (dw - weights.share[place]);
      }
      add_rows(held_v, w, dy, query, part);
      add_rows(held_k, ds, q, query, part);
    }
    store_row(dk[head], first, part, held_k, scores.scale);
    store_row(dv[head], first, part, held_v, S(1));
  }
}

/// Return a grid with a block for each tile of n rows, of every head and part of the features.
Grid grid_of(int64_t heads, int64_t n, int64_t features) {
  return grid_for(heads * tiles_of(n) * ((features + kPart - 1) / kPart) * kThreads);
}

}  // namespace

void attention(Tensor& y, Tensor& lse, const Tensor& q, const Tensor& k, const Tensor& v,
               const Tensor& mask, const AttentionParams& p) {
  UpcastOperand own_lse = UpcastOperand::for_output(lse);
  visit<dtypes::kAnyFloating>(y.dtype(), [&]<class T>() {
    const Scores<T> scores = scores_of<T>(q, k, mask, p);
    if constexpr (ReducedFloat<T>) {
      if (fits_tensor_cores(std::max(q.size(3), v.size(3)))) {
        return attend_by_mma<T>(scores, Heads<T>(v), Heads<T>(y), own_lse.data<float>());
      }
    }
    launch(attend<T>, grid_of(scores.heads, q.size(2), v.size(3)), scores, Heads<T>(v), Heads<T>(y),
           own_lse.data<Computed<T>>());
  });
  own_lse.write_back();
}

void attention_grad(Tensor& dq, Tensor& dk, Tensor& dv, const Tensor& dy, const Tensor& q,
                    const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& y,
                    const Tensor& lse, const AttentionParams& p) {
  const UpcastOperand own_lse(lse);
  visit<dtypes::kAnyFloating>(dq.dtype(), [&]<class T>() {
    using S = Computed<T>;
    const Scores<T> scores = scores_of<T>(q, k, mask, p);
    const int64_t queries = scores.heads * q.size(2);
    const Workspace share(static_cast<size_t>(queries) * sizeof(S));
    launch(take_shares<T>, grid_for(queries), queries, Heads<T>(dy), Heads<T>(y), share.as<S>());
    const S* levels = own_lse.data<S>();
    const Weights<T> weights{Heads<T>(v), Heads<T>(dy), levels, levels + queries, share.as<S>()};
    if constexpr (ReducedFloat<T>) {
      if (fits_tensor_cores(std::max(q.size(3), v.size(3)))) {
        return attend_grad_by_mma<T>(scores, weights, Heads<T>(dq), Heads<T>(dk), Heads<T>(dv));
      }
    }
    launch(query_grads<T>, grid_of(scores.heads, q.size(2), q.size(3)), scores, weights,
           Heads<T>(dq));
    launch(key_grads<T>, grid_of(scores.heads, k.size(2), std::max(k.size(3), v.size(3))), scores,
           weights, Heads<T>(dk), Heads<T>(dv));
  });
}

}  // namespace ambit::cuda
