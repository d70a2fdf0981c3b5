// Attention on tensor cores. q [B,H,L,E], k [B,H,S,E], v [B,H,S,F], y [B,H,L,F], any strides; lse
// [2,B,H,L]. A block has 64 queries and iterates over all keys, kKeys at a time, and rescales
// softmax's sums when larger scores occur.
#include "attention_mma.cuh"
#include "attention_tiles.cuh"

namespace ambit::cuda {
namespace {

constexpr int kKeys = 32;  // per tile; more would use the registers of another block
constexpr float kNone = -std::numeric_limits<float>::infinity();

/// Compute the scores of a thread's two queries and keys from `key` on, from products.
template <class T>
__device__ void score(float (&s)[kKeys / 8][4], const Scores<T>& scores, const Head<T>& mask,
                      int64_t first, int64_t key) {
  const MmaLane me;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int64_t query = first + me.row(r);
    const auto seen =
        static_cast<int>(max(min(scores.seen_by(query) - key, int64_t{kKeys}), int64_t{0}));
#pragma unroll
    for (int i = 0; i < kKeys / 8; ++i) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float& of_key = s[i][2 * r + e];
        const int column = me.column(i, e);
        of_key = column < seen ? of_key * scores.scale : kNone;
        if (mask.data && column < seen) of_key += upcast(*mask.at(query, key + column));
      }
    }
  }
}

/// The softmax state of a thread's two queries.
template <class T, int kDepth>
struct Softmax {
  /// Factor of the weights, which are at most 1, so that small ones are not subnormal in float16.
  static constexpr float kRaised = std::same_as<T, Half> ? 0x1p15f : 1.f;

  /// Convert scores to such weights, and rescale held sums if the largest score has grown.
  __device__ void weigh(float (&s)[kKeys / 8][4], float (&held)[kDepth / 8][4]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float top = largest[r];
#pragma unroll
      for (auto& scores : s) top = fmax(top, fmax(scores[2 * r], scores[2 * r + 1]));
      top = join_mma_row(top, [](float a, float b) { return fmax(a, b); });
      const float shift = top == kNone ? 0.f : top;  // no key attended to so far
      const float lower = std::exp(largest[r] - shift);
      largest[r] = top;
      total[r] *= lower;
#pragma unroll
      for (auto& scores : s) {
        for (int e = 2 * r; e < 2 * r + 2; ++e) {
          const float weight = std::exp(scores[e] - shift);
          total[r] += weight;
          scores[e] = weight * kRaised;
        }
      }
#pragma unroll
      for (auto& h : held) {
        for (int e = 2 * r; e < 2 * r + 2; ++e) h[e] *= lower;
      }
    }
  }

  float largest[2] = {kNone, kNone}, total[2] = {};  ///< total: partial sum of each thread
};

template <class T, int kDepth>
__global__ void attend_kernel(Scores<T> scores, Heads<T> v, Heads<T> y, float* lse) {
  __shared__ Tile<kBlockRows, kDepth> queries;
  __shared__ Tile<kKeys, kDepth> keys, values;
  begin_tiles(queries, keys, values);
  const MmaLane me;
  const int64_t L = scores.q.N, tiles = (L + kBlockRows - 1) / kBlockRows;
  for (int64_t tile = blockIdx.x; tile < scores.heads * tiles; tile += gridDim.x) {
    // With a causal mask the last tiles have the most work; start with them.
    const int64_t head = tile / tiles, first = (tiles - 1 - tile % tiles) * kBlockRows;
    const Head<T> k = scores.k[head], of_v = v[head], mask = scores.mask[head];
    Softmax<T, kDepth> softmax;
    float held[kDepth / 8][4] = {};
    load_tile(queries, scores.q[head], first);
    for (int64_t key = 0; key < scores.keys_of(first, kBlockRows); key += kKeys) {
      load_tile(keys, k, key);
      load_tile(values, of_v, key);
      __syncthreads();
      if (first + me.first_row() < L) {
        float s[kKeys / 8][4];
        multiply_rows<T, kKeys>(s, queries, keys);
        score(s, scores, mask, first, key);
        softmax.weigh(s, held);
        add_rows<T, kKeys>(held, s, values);
      }
      __syncthreads();
    }
    float factor[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float total = join_mma_row(softmax.total[r], [](float a, float b) { return a + b; });
      float largest = softmax.largest[r];
      if (total == 0) largest = 0, total = 1;  // see attention.cu
      factor[r] = 1 / (total * Softmax<T, kDepth>::kRaised);
      const int64_t query = first + me.row(r);
      if (me.column(0, 0) == 0 && query < L) {
        float* to = lse + head * L + query;
        to[0] = largest;
        to[scores.heads * L] = std::log(total);
      }
    }
    store_rows<T, kDepth>(y[head], first, held, factor);
  }
}

}  // namespace

bool fits_tensor_cores(int64_t features) {
  if (features > 128) return false;
  cudaFuncAttributes attributes;
  const auto* kernel = reinterpret_cast<const void*>(attend_kernel<Half, 32>);
  check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  return attributes.ptxVersion >= 80;
}

template <class T>
void attend_by_mma(const Scores<T>& scores, const Heads<T>& v, const Heads<T>& y, float* lse) {
  for_depth(std::max(scores.q.D, v.D), [&]<int kDepth>() {
    const Grid grid = grid_of_tiles(scores.heads, scores.q.N, kBlockRows, kBlockThreads);
    launch(attend_kernel<T, kDepth>, grid, scores, v, y, lse);
  });
}
template void attend_by_mma(const Scores<Half>&, const Heads<Half>&, const Heads<Half>&, float*);
template void attend_by_mma(const Scores<BFloat16>&, const Heads<BFloat16>&, const Heads<BFloat16>&,
                            float*);

}  // namespace ambit::cuda
