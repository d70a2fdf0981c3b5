// Bags of rows: one thread per element of y. In the gradient several bags may add to a row: by
// atomics in any order, or, if the order must be deterministic, by one thread for each column. Sums
// for reduced floating-point types are float32. w [V,D], index [n], offsets [B+1], y [B,D].
#include <ambit/settings.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/atomic_add.cuh"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/runtime/launch.h"
#include "upcast_operand.h"

namespace ambit::cuda {
namespace {

using Mode = EmbeddingBagParams::Mode;

/// The operands of a call other than rows.
template <class T>
struct Bags {
  using C = Computed<T>;

  Bags(const Tensor& indices, const Tensor& ends, const Tensor& scales, int64_t rows,
       const EmbeddingBagParams& p)
      : n(indices.numel()),
        count(ends.numel() - 1),
        V(rows),
        padding(p.padding),
        index(indices.data_ptr<int64_t>()),
        offsets(ends.data_ptr<int64_t>()),
        factors(scales.defined() ? scales.data_ptr<T>() : nullptr),
        mode(p.mode),
        faults(Call::stream().gpu.faults().sink(Call::op())) {}

  /// Call f(i, index[i]) for all entries of bag b except padding.
  template <class F>
  __device__ void for_each(int64_t b, const F& f) const {
    const int64_t end = min(n, offsets[b + 1]);
    for (int64_t i = max(int64_t{0}, offsets[b]); i < end; ++i) {
      const int64_t row = index[i];
      if (row >= 0 && row == padding) continue;  // -1 is not padding
      if (row >= 0 && row < V) {
        f(i, row);
      } else {
        faults.report(FaultKind::index, row, V);
      }
    }
  }
  /// Return the weight of the rows of bag b, apart from their factors.
  __device__ C share(int64_t b) const {
    if (mode != Mode::mean) return C(1);
    int64_t rows = 0;
    for_each(b, [&](int64_t, int64_t) { ++rows; });
    return C(1) / static_cast<C>(rows > 1 ? rows : 1);
  }
  __device__ C factor(int64_t i) const { return factors ? upcast(factors[i]) : C(1); }

  int64_t n, count, V, padding;
  const int64_t *index, *offsets;
  const T* factors;
  Mode mode;
  FaultSink faults;
};

template <class T>
__global__ void sum_bags(int64_t n, int64_t D, Bags<T> bags, T* y, const T* w) {
  for (int64_t at = thread_index(); at < n; at += thread_count()) {
    const int64_t b = at / D, d = at % D;
    Computed<T> sum = 0;
    int64_t rows = 0;
    bags.for_each(b, [&](int64_t i, int64_t row) {
      sum += bags.factor(i) * upcast(w[row * D + d]);
      ++rows;
    });
    if (bags.mode == Mode::mean && rows > 1) sum /= static_cast<Computed<T>>(rows);
    y[at] = downcast<T>(sum);
  }
}

// A NaN wins only if it is the first element of the bag.
template <class T>
__global__ void find_largest(int64_t n, int64_t D, Bags<T> bags, T* y, int64_t* best, const T* w) {
  for (int64_t at = thread_index(); at < n; at += thread_count()) {
    const int64_t d = at % D;
    Computed<T> most = 0;
    int64_t chosen = -1;
    bags.for_each(at / D, [&](int64_t i, int64_t row) {
      const Computed<T> v = upcast(w[row * D + d]);
      if (chosen >= 0 && !(v > most)) return;
      most = v;
      chosen = i;
    });
    y[at] = downcast<T>(most);
    best[at] = chosen;
  }
}

/// Add the contribution of element d of bag b to dw; best null: sums and means.
template <class T>
__device__ void spread(const Bags<T>& bags, int64_t b, int64_t d, int64_t D, Computed<T>* dw,
                       const T* dy, const int64_t* best) {
  const int64_t at = b * D + d;
  if (best) {
    const int64_t i = best[at];
    if (i < 0 || i >= bags.n) return;
    const int64_t row = bags.index[i];
    if (row < 0 || row >= bags.V) return bags.faults.report(FaultKind::index, row, bags.V);
    return atomic_add(dw + row * D + d, upcast(dy[at]));
  }
  const Computed<T> g = upcast(dy[at]) * bags.share(b);
  bags.for_each(b,
                [&](int64_t i, int64_t row) { atomic_add(dw + row * D + d, g * bags.factor(i)); });
}

template <class T>
__global__ void spread_bags(int64_t n, int64_t D, Bags<T> bags, Computed<T>* dw, const T* dy,
                            const int64_t* best) {
  for (int64_t at = thread_index(); at < n; at += thread_count()) {
    spread(bags, at / D, at % D, D, dw, dy, best);
  }
}

template <class T>
__global__ void spread_bags_in_order(int64_t D, Bags<T> bags, Computed<T>* dw, const T* dy,
                                     const int64_t* best) {
  for (int64_t d = thread_index(); d < D; d += thread_count()) {
    for (int64_t b = 0; b < bags.count; ++b) spread(bags, b, d, D, dw, dy, best);
  }
}

}  // namespace

void embedding_bag(Tensor& y, Tensor& best, const Tensor& w, const Tensor& index,
                   const Tensor& offsets, const Tensor& factors, const EmbeddingBagParams& p) {
  const int64_t n = y.numel(), D = w.size(1);
  if (n == 0) return;
  visit<dtypes::kAnyFloating>(y.dtype(), [&]<class T>() {
    const Bags<T> bags(index, offsets, factors, w.size(0), p);
    if (p.mode == Mode::max) {
      launch(find_largest<T>, grid_for(n), n, D, bags, y.data_ptr<T>(), best.data_ptr<int64_t>(),
             w.data_ptr<T>());
    } else {
      launch(sum_bags<T>, grid_for(n), n, D, bags, y.data_ptr<T>(), w.data_ptr<T>());
    }
  });
}

void embedding_bag_grad(Tensor& dw, const Tensor& dy, const Tensor& best, const Tensor& index,
                        const Tensor& offsets, const Tensor& factors, const EmbeddingBagParams& p) {
  if (dw.numel() == 0) return;
  UpcastOperand sums = UpcastOperand::for_output(dw);
  fill(sums.tensor(), 0);
  const int64_t n = dy.numel(), D = dw.size(1);
  if (n == 0) return sums.write_back();
  visit<dtypes::kAnyFloating>(dw.dtype(), [&]<class T>() {
    const Bags<T> bags(index, offsets, factors, dw.size(0), p);
    auto* const to = sums.data<Computed<T>>();
    const int64_t* places = p.mode == Mode::max ? best.data_ptr<int64_t>() : nullptr;
    if (is_deterministic()) {
      launch(spread_bags_in_order<T>, grid_for(D), D, bags, to, dy.data_ptr<T>(), places);
    } else {
      launch(spread_bags<T>, grid_for(n), n, D, bags, to, dy.data_ptr<T>(), places);
    }
  });
  sums.write_back();
}

}  // namespace ambit::cuda
