// Sorting along one dim. Each element becomes a key, which compares as an integer, and its position
// in the line. Blocks sort tiles of a line in shared memory, by Batcher's bitonic network (1968);
// then sorted runs are merged in pairs, each thread computing a few consecutive results (Green,
// McColl & Bader 2012, "GPU merge path"). For small k, top-k needs no merge: the results are among
// the k first of each tile.
#include <ambit/backend/sort_key.h>
#include <ambit/error.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/reduce.cuh"

namespace ambit::cuda {
namespace {

/// Two widths of keys suffice.
template <class T>
using Key = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

/// Consecutive lines of keys and positions.
template <class K>
struct Items {
  K* keys;
  uint32_t* places;
};

/// How a line is split into tiles for blocks, each of which keeps its first elements.
struct Tiles {
  int64_t lines, length, keep;
  int tile;
  AMBIT_HOST_DEVICE int64_t per_line() const { return (length + tile - 1) / tile; }
  AMBIT_HOST_DEVICE int64_t count() const { return lines * per_line(); }
  /// Return how many elements of a line are kept: only its last tile may have less than `keep`.
  AMBIT_HOST_DEVICE int64_t kept() const {
    const int64_t last = length - (per_line() - 1) * tile;
    return (per_line() - 1) * keep + (last < keep ? last : keep);
  }
};

/// Reads items from elements of x.
template <class T>
struct FromTensor {
  __device__ Key<T> key(int64_t line, int64_t i) const {
    return sort_key(upcast(x[walk.kept_offset(line) + i * step]), descending);
  }
  __device__ uint32_t place(int64_t, int64_t i) const { return static_cast<uint32_t>(i); }
  const T* x;
  ReduceWalk walk;  // over the starts of all lines
  int64_t step;
  bool descending;
};

/// Reads existing items.
template <class K>
struct FromItems {
  __device__ K key(int64_t line, int64_t i) const { return items.keys[line * length + i]; }
  __device__ uint32_t place(int64_t line, int64_t i) const {
    return items.places[line * length + i];
  }
  Items<K> items;
  int64_t length;
};

// Sort items [lines, length] in tiles of kTile, each by a block of kTile / 4 threads; write the
// first ones of each, [lines, kept]
template <int kTile, class K, class Source>
__global__ void sort_tiles(Tiles tiles, Source source, Items<K> out) {
  constexpr int kBlock = kTile / 4;
  __shared__ K keys[kTile];
  __shared__ uint32_t places[kTile];
  const int t = static_cast<int>(threadIdx.x);
  for (int64_t tile = blockIdx.x; tile < tiles.count(); tile += gridDim.x) {
    const int64_t line = tile / tiles.per_line(), index = tile % tiles.per_line();
    const int64_t first = index * kTile;
    const int n = static_cast<int>(min(int64_t{kTile}, tiles.length - first));
    for (int i = t; i < kTile; i += kBlock) {  // padding sorts last
      keys[i] = i < n ? source.key(line, first + i) : ~K{0};
      places[i] = i < n ? source.place(line, first + i) : ~uint32_t{0};
    }
    for (int size = 2; size <= kTile; size *= 2) {
      for (int apart = size / 2; apart > 0; apart /= 2) {
        __syncthreads();
        for (int pair = t; pair < kTile / 2; pair += kBlock) {
          const int low = 2 * pair - (pair & (apart - 1)), high = low + apart;
          const bool rising = (low & size) == 0;
          const K a = keys[low], b = keys[high];
          const uint32_t pa = places[low], pb = places[high];
          const bool behind = a != b ? a > b : pa > pb;
          if (behind != rising) continue;
          keys[low] = b;
          keys[high] = a;
          places[low] = pb;
          places[high] = pa;
        }
      }
    }
    __syncthreads();
    const int64_t to = line * tiles.kept() + index * tiles.keep;
    const int kept = static_cast<int>(min(int64_t{n}, tiles.keep));
    for (int i = t; i < kept; i += kBlock) {
      out.keys[to + i] = keys[i];
      out.places[to + i] = places[i];
    }
    __syncthreads();  // the tile is reused
  }
}

// Return how many of the first `count` elements of two merged runs are from a; the merge is stable.
template <class K>
__device__ int64_t taken_from(const K* a, int64_t na, const K* b, int64_t nb, int64_t count) {
  int64_t low = count > nb ? count - nb : 0, high = min(count, na);
  while (low < high) {
    const int64_t mid = low + (high - low) / 2;
    if (a[mid] <= b[count - 1 - mid]) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

constexpr int kMerged = 8;  // elements per thread

// from, to [lines, length]: merge pairs of sorted runs of `width`
template <class K>
__global__ void merge_runs(int64_t lines, int64_t length, int64_t width, Items<K> from,
                           Items<K> to) {
  const int64_t per_line = (length + kMerged - 1) / kMerged;
  for (int64_t part = thread_index(); part < lines * per_line; part += thread_count()) {
    const int64_t line = part / per_line, start = line * length;
    // kMerged divides the width, so that a thread works on one pair.
    int64_t out = part % per_line * kMerged;
    const int64_t pair = out / (2 * width) * (2 * width);
    const int64_t middle = min(pair + width, length), end = min(pair + 2 * width, length);
    const K* a = from.keys + start + pair;
    const K* b = from.keys + start + middle;
    const int64_t na = middle - pair, nb = end - middle;
    int64_t i = taken_from(a, na, b, nb, out - pair), j = out - pair - i;
    for (const int64_t last = min(out + kMerged, end); out < last; ++out) {
      const bool takes_a = j >= nb || (i < na && a[i] <= b[j]);
      const int64_t at = takes_a ? i++ : na + j++;
      to.keys[start + out] = a[at];
      to.places[start + out] = from.places[start + pair + at];
    }
  }
}

// y, index [lines, k] (by walk `to`) = the first k of items [lines, length]
template <class T, class K>
__global__ void write_sorted(int64_t lines, int64_t k, int64_t length, ReduceWalk from,
                             int64_t from_step, ReduceWalk to, int64_t to_step, Items<K> items,
                             const T* x, T* y, int64_t* index) {
  for (int64_t i = thread_index(); i < lines * k; i += thread_count()) {
    const int64_t line = i / k, n = i % k;
    const int64_t place = items.places[line * length + n];
    const int64_t at = to.kept_offset(line) + n * to_step;
    y[at] = x[from.kept_offset(line) + place * from_step];
    index[at] = place;
  }
}

ReduceWalk lines_of(const Tensor& t, int64_t dim) {
  return reduce_walk(Call::op(), t, [&](size_t d) { return static_cast<int64_t>(d) != dim; });
}
int64_t length_of(const Tensor& t, int64_t dim) { return t.dim() == 0 ? 1 : t.size(dim); }
int64_t step_of(const Tensor& t, int64_t dim) { return t.dim() == 0 ? 1 : t.stride(dim); }

/// Two buffers for items; each pass reads one and writes the other.
template <class K>
class Buffers {
 public:
  explicit Buffers(int64_t n)
      : memory_(2 * static_cast<size_t>(n) * (sizeof(K) + sizeof(uint32_t))), n_(n) {}
  Items<K> operator[](int which) const {
    K* const keys = memory_.template as<K>();
    auto* const places = reinterpret_cast<uint32_t*>(keys + 2 * n_);
    return {keys + which * n_, places + which * n_};
  }

 private:
  Workspace memory_;
  int64_t n_;
};

constexpr int kSmall = 128, kLarge = 1024;

template <class K, class Source>
void launch_tiles(const Tiles& tiles, const Source& source, Items<K> out) {
  const auto blocks = static_cast<unsigned>(std::min<int64_t>(tiles.count(), INT32_MAX));
  if (tiles.tile == kSmall) {
    return launch(sort_tiles<kSmall, K, Source>, Grid{blocks, kSmall / 4}, tiles, source, out);
  }
  launch(sort_tiles<kLarge, K, Source>, Grid{blocks, kLarge / 4}, tiles, source, out);
}

template <class T>
void run(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool descending) {
  using K = Key<T>;
  const int64_t k = length_of(y, dim), lines = y.numel() / k;
  Tiles tiles{lines, length_of(x, dim), k, length_of(x, dim) <= kSmall ? kSmall : kLarge};
  const bool selects = k <= kLarge / 4;  // otherwise tiles would keep too many elements
  if (!selects) tiles.keep = tiles.tile;
  const Buffers<K> buffers(lines * tiles.kept());
  const ReduceWalk from = lines_of(x, dim);
  int now = 0;
  launch_tiles(tiles, FromTensor<T>{x.data_ptr<T>(), from, step_of(x, dim), descending},
               buffers[now]);
  int64_t length = tiles.kept();
  while (selects && tiles.per_line() > 1) {
    tiles.length = length;
    launch_tiles(tiles, FromItems<K>{buffers[now], length}, buffers[1 - now]);
    now = 1 - now;
    length = tiles.kept();
  }
  for (int64_t width = tiles.tile; !selects && width < length; width *= 2) {
    const int64_t parts = lines * ((length + kMerged - 1) / kMerged);
    launch(merge_runs<K>, grid_for(parts), lines, length, width, buffers[now], buffers[1 - now]);
    now = 1 - now;
  }
  launch(write_sorted<T, K>, grid_for(lines * k), lines, k, length, from, step_of(x, dim),
         lines_of(y, dim), step_of(y, dim), buffers[now], static_cast<const T*>(x.data_ptr<T>()),
         y.data_ptr<T>(), index.data_ptr<int64_t>());
}

void run_any(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool descending) {
  if (y.numel() == 0) return;
  if (length_of(x, dim) >= int64_t{UINT32_MAX}) {
    throw ShapeError(Call::op() +
                     std::string(": expected lines of less than 2^32 - 1 elements, got ") +
                     std::to_string(length_of(x, dim)));
  }
  visit<dtypes::kEvery>(x.dtype(), [&]<class T>() { run<T>(y, index, x, dim, descending); });
}

}  // namespace

// y, index, x [.., n, ..]; y and index contiguous
void sort(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool descending) {
  run_any(y, index, x, dim, descending);
}

// y, index [.., k, ..], x [.., n, ..]; y and index contiguous
void topk(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool largest) {
  run_any(y, index, x, dim, largest);
}

}  // namespace ambit::cuda
