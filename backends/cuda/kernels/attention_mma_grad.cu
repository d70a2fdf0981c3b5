// The gradient of attention on tensor cores: for dq, a block has 64 queries and iterates over all
// keys; for dk and dv, it has 64 keys and iterates over all queries. So each sum has a fixed order.
// Shapes are those of attention_mma.cu; dy [B,H,L,F], and largest, log_total, share [B,H,L].
#include "attention_mma.cuh"
#include "attention_tiles.cuh"

namespace ambit::cuda {
namespace {

/// Rows of the tiles over which a block iterates; more would exceed 48 KiB of shared memory.
template <int kDepth>
constexpr int kPassed = kDepth == 128  ? 16
                        : kDepth == 64 ? 32
                                       : 64;

/// Values from which the weights of one query are computed.
template <class T>
struct Level {
  __device__ Level(const Scores<T>& scores, const Weights<T>& weights, int64_t head, int64_t n)
      : query(n), seen(scores.seen_by(n)) {
    if (seen == 0) return;
    const int64_t place = head * scores.q.N + n;
    largest = weights.largest[place], log_total = weights.log_total[place];
    share = weights.share[place];
  }
  /// Convert products of rows of q with k (w) and dy with v (ds) to the weight and the gradient of
  /// its score; both are 0 if the key is masked.
  __device__ void weigh(float& w, float& ds, float scale, const Head<T>& mask, int64_t key) const {
    if (key < seen) {
      const float s = w * scale + (mask.data ? upcast(*mask.at(query, key)) : 0.f);
      w = std::exp(s - largest - log_total);
      ds = w * (ds - share);
    } else {
      w = ds = 0;
    }
  }

  int64_t query, seen;  ///< number of keys attended to, from 0
  float largest = 0, log_total = 0, share = 0;
};

template <class T, int kDepth>
__global__ void query_grads_kernel(Scores<T> scores, Weights<T> weights, Heads<T> dq) {
  constexpr int kKeys = kPassed<kDepth>;
  __shared__ Tile<kBlockRows, kDepth> queries, grads;
  __shared__ Tile<kKeys, kDepth> keys, values;
  begin_tiles(queries, grads, keys, values);
  const MmaLane me;
  const int64_t L = scores.q.N, tiles = (L + kBlockRows - 1) / kBlockRows;
  for (int64_t tile = blockIdx.x; tile < scores.heads * tiles; tile += gridDim.x) {
    const int64_t head = tile / tiles, first = (tiles - 1 - tile % tiles) * kBlockRows;
    const Head<T> k = scores.k[head], v = weights.v[head], mask = scores.mask[head];
    RaisedSums<T, kDepth> sums;
    const Level<T> levels[2] = {{scores, weights, head, first + me.row(0)},
                                {scores, weights, head, first + me.row(1)}};
    load_tile(queries, scores.q[head], first);
    load_tile(grads, weights.dy[head], first);
    for (int64_t key = 0; key < scores.keys_of(first, kBlockRows); key += kKeys) {
      load_tile(keys, k, key);
      load_tile(values, v, key);
      __syncthreads();
      if (first + me.first_row() < L) {
        float w[kKeys / 8][4], ds[kKeys / 8][4];
        multiply_rows<T, kKeys>(w, queries, keys);
        multiply_rows<T, kKeys>(ds, grads, values);
#pragma unroll
        for (int i = 0; i < kKeys / 8; ++i) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            levels[e / 2].weigh(w[i][e], ds[i][e], scores.scale, mask, key + me.column(i, e % 2));
          }
        }
        sums.template add<kKeys>(ds, keys);
      }
      __syncthreads();
    }
    sums.store(dq[head], first, scores.scale);
  }
}

template <class T, int kDepth>
__global__ void key_grads_kernel(Scores<T> scores, Weights<T> weights, Heads<T> dk, Heads<T> dv) {
  constexpr int kQueries = kPassed<kDepth>;
  static_assert(kBlockRows % kQueries == 0);
  __shared__ Tile<kBlockRows, kDepth> keys, values;
  __shared__ Tile<kQueries, kDepth> queries, grads;
  begin_tiles(queries, grads, keys, values);
  const MmaLane me;
  const int64_t L = scores.q.N, S = scores.k.N, tiles = (S + kBlockRows - 1) / kBlockRows;
  for (int64_t tile = blockIdx.x; tile < scores.heads * tiles; tile += gridDim.x) {
    const int64_t head = tile / tiles, first = tile % tiles * kBlockRows;
    const Head<T> q = scores.q[head], dy = weights.dy[head], mask = scores.mask[head];
    RaisedSums<T, kDepth> to_k, to_v;
    load_tile(keys, scores.k[head], first);
    load_tile(values, weights.v[head], first);
    for (int64_t query = scores.queries_from(first); query < L; query += kQueries) {
      load_tile(queries, q, query);
      load_tile(grads, dy, query);
      __syncthreads();
      if (first + me.first_row() < S) {
        float w[kQueries / 8][4], ds[kQueries / 8][4];
        multiply_rows<T, kQueries>(w, keys, queries);
        multiply_rows<T, kQueries>(ds, values, grads);
#pragma unroll
        for (int i = 0; i < kQueries / 8; ++i) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            const Level<T> level(scores, weights, head, query + me.column(i, e));
            for (int r = 0; r < 2; ++r) {
              level.weigh(w[i][2 * r + e], ds[i][2 * r + e], scores.scale, mask, first + me.row(r));
            }
          }
        }
        to_v.template add<kQueries>(w, grads);
        to_k.template add<kQueries>(ds, queries);
      }
      __syncthreads();
    }
    to_k.store(dk[head], first, scores.scale);
    to_v.store(dv[head], first, 1);
  }
}

}  // namespace

template <class T>
void attend_grad_by_mma(const Scores<T>& scores, const Weights<T>& weights, const Heads<T>& dq,
                        const Heads<T>& dk, const Heads<T>& dv) {
  for_depth(std::max(dq.D, dv.D), [&]<int kDepth>() {
    launch(query_grads_kernel<T, kDepth>,
           grid_of_tiles(scores.heads, scores.q.N, kBlockRows, kBlockThreads), scores, weights, dq);
    launch(key_grads_kernel<T, kDepth>,
           grid_of_tiles(scores.heads, scores.k.N, kBlockRows, kBlockThreads), scores, weights, dk,
           dv);
  });
}
template void attend_grad_by_mma(const Scores<Half>&, const Weights<Half>&, const Heads<Half>&,
                                 const Heads<Half>&, const Heads<Half>&);
template void attend_grad_by_mma(const Scores<BFloat16>&, const Weights<BFloat16>&,
                                 const Heads<BFloat16>&, const Heads<BFloat16>&,
                                 const Heads<BFloat16>&);

}  // namespace ambit::cuda
