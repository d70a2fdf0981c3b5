// Sums of rows ("bags") and their gradient: w [V,D], index [n], offsets [B+1], y [B,D]. Each bag is
// processed by one thread. In the gradient each thread owns a range of rows and searches the whole
// index for them, so that no sum depends on the number of threads.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/index/embedding_bag.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <ambit/ops/creation.h>

#include <algorithm>
#include <vector>

#include "backends/cpu/elementwise/half_loops.h"
#include "backends/cpu/index/indices.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/upcast.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

using Mode = EmbeddingBagParams::Mode;

/// y[d] += a * x[d]; iterations are independent.
template <class T>
void add_scaled(int64_t n, T* y, const T* x, T a) {
#pragma omp simd
  for (int64_t d = 0; d < n; ++d) y[d] += a * x[d];
}
template <class T>
void add(int64_t n, T* y, const T* x) {
#pragma omp simd
  for (int64_t d = 0; d < n; ++d) y[d] += x[d];
}

/// Rows [D] of a tensor for computation: in place, or upcast from a reduced floating-point type.
template <class T>
class Rows {
 public:
  explicit Rows(const Tensor& t)
      : first_(static_cast<char*>(t.data_ptr())),
        D_(t.size(1)),
        bytes_(D_ * static_cast<int64_t>(element_size(t.dtype()))),
        upcast_(is_reduced_floating(t.dtype()) ? upcast_loop(t.dtype()) : nullptr),
        downcast_(is_reduced_floating(t.dtype()) ? downcast_loop(t.dtype()) : nullptr),
        room_(upcast_ ? static_cast<size_t>(D_) * sizeof(T) : 0) {}
  /// Return a row for reading; valid until the next call.
  const T* read(int64_t row) const {
    const char* const at = first_ + row * bytes_;
    if (!upcast_) return reinterpret_cast<const T*>(at);
    upcast_(D_, room_.data<T>(), at);
    return room_.data<T>();
  }
  /// Return the memory in which to write a row, before calling write(row).
  T* place(int64_t row) const {
    return upcast_ ? room_.data<T>() : reinterpret_cast<T*>(first_ + row * bytes_);
  }
  void write(int64_t row) const {
    if (downcast_) downcast_(D_, first_ + row * bytes_, room_.data<T>());
  }

 private:
  char* first_;
  int64_t D_, bytes_;
  UnaryLoop upcast_, downcast_;
  Scratch room_;
};

/// The operands of forward and backward. factors [n], null if there are none.
template <class T>
struct Bags {
  Bags(const Tensor& indices, const Tensor& ends, const Tensor& scales,
       const EmbeddingBagParams& params)
      : n(indices.numel()),
        count(ends.numel() - 1),
        index(indices.data_ptr<int64_t>()),
        offsets(ends.data_ptr<int64_t>()),
        factors(scales.defined() ? scales.data_ptr<T>() : nullptr),
        p(params) {}
  /// Call f(i) for all entries of bag b except padding.
  template <class F>
  void for_each(int64_t b, const F& f) const {
    const int64_t end = std::clamp<int64_t>(offsets[b + 1], 0, n);
    for (int64_t i = std::clamp<int64_t>(offsets[b], 0, n); i < end; ++i) {
      if (index[i] != p.padding) f(i);
    }
  }
  /// Return the weight of the rows of bag b, apart from their factors.
  T share(int64_t b) const {
    if (p.mode != Mode::mean) return 1;
    int64_t rows = 0;
    for_each(b, [&](int64_t) { ++rows; });
    return T(1) / static_cast<T>(std::max<int64_t>(rows, 1));
  }
  int64_t n, count;
  const int64_t *index, *offsets;
  const T* factors;
  const EmbeddingBagParams& p;
};

template <class T>
void sum_bag(const Bags<T>& bags, int64_t b, const Rows<T>& w, int64_t D, T* y) {
  std::fill_n(y, D, T(0));
  int64_t rows = 0;
  bags.for_each(b, [&](int64_t i) {
    const T* row = w.read(bags.index[i]);
    ++rows;
    if (bags.factors) {
      add_scaled(D, y, row, bags.factors[i]);
    } else {
      add(D, y, row);
    }
  });
  if (bags.p.mode != Mode::mean || rows < 2) return;
  const T share = T(1) / static_cast<T>(rows);
#pragma omp simd
  for (int64_t d = 0; d < D; ++d) y[d] *= share;
}

/// Take the first of the largest elements. A NaN wins only if it is the first element of the bag.
template <class T>
void largest_of_bag(const Bags<T>& bags, int64_t b, const Rows<T>& w, int64_t D, T* y,
                    int64_t* best) {
  bool any = false;
  bags.for_each(b, [&](int64_t i) {
    const T* row = w.read(bags.index[i]);
    if (!any) {
      std::copy_n(row, D, y);
      std::fill_n(best, D, i);
      any = true;
      return;
    }
#pragma omp simd
    for (int64_t d = 0; d < D; ++d) {
      const bool larger = row[d] > y[d];
      y[d] = larger ? row[d] : y[d];
      best[d] = larger ? i : best[d];
    }
  });
  if (any) return;
  std::fill_n(y, D, T(0));
  std::fill_n(best, D, -1);
}

void forward(Tensor& y, Tensor& best, const Tensor& w, const Tensor& index, const Tensor& offsets,
             const Tensor& factors, const EmbeddingBagParams& p) {
  visit<dtypes::kFloating>(is_reduced_floating(y.dtype()) ? kFloat32 : y.dtype(), [&]<class T>() {
    const Bags<T> bags(index, offsets, factors, p);
    const int64_t D = w.size(1), rows = bags.n / std::max<int64_t>(bags.count, 1) + 1;
    parallel_for(bags.count, grain_for(rows * D), [&](int64_t begin, int64_t end) {
      const Rows<T> from(w), to(y);
      for (int64_t b = begin; b < end; ++b) {
        if (p.mode == Mode::max) {
          largest_of_bag(bags, b, from, D, to.place(b), best.data_ptr<int64_t>() + b * D);
        } else {
          sum_bag(bags, b, from, D, to.place(b));
        }
        to.write(b);
      }
    });
  });
}

/// Compute rows v_begin to v_end of dw.
template <class T>
void spread_bags(const Bags<T>& bags, const T* shares, const T* dy, int64_t D, int64_t v_begin,
                 int64_t v_end, T* dw) {
  for (int64_t b = 0; b < bags.count; ++b) {
    bags.for_each(b, [&](int64_t i) {
      const int64_t v = bags.index[i];
      if (v < v_begin || v >= v_end) return;
      const T factor = (bags.factors ? bags.factors[i] : T(1)) * shares[b];
      add_scaled(D, dw + v * D, dy + b * D, factor);
    });
  }
}

template <class T>
void spread_largest(const Bags<T>& bags, const int64_t* best, const T* dy, int64_t D,
                    int64_t v_begin, int64_t v_end, T* dw) {
  for (int64_t at = 0; at < bags.count * D; ++at) {
    if (best[at] < 0 || best[at] >= bags.n) continue;
    const int64_t v = bags.index[best[at]];
    if (v >= v_begin && v < v_end) dw[v * D + at % D] += dy[at];
  }
}

void backward(Tensor& dw, const Tensor& dy, const Tensor& best, const Tensor& index,
              const Tensor& offsets, const Tensor& factors, const EmbeddingBagParams& p) {
  visit<dtypes::kFloating>(dw.dtype(), [&]<class T>() {
    const Bags<T> bags(index, offsets, factors, p);
    const int64_t V = dw.size(0), D = dw.size(1);
    const T* g = dy.data_ptr<T>();
    std::vector<T> shares;
    for (int64_t b = 0; b < bags.count; ++b) shares.push_back(bags.share(b));
    const int64_t work = D + bags.n * D / std::max<int64_t>(V, 1);
    parallel_for(V, grain_for(work), [&](int64_t begin, int64_t end) {
      T* to = dw.data_ptr<T>();
      std::fill(to + begin * D, to + end * D, T(0));
      if (p.mode == Mode::max) {
        spread_largest(bags, best.data_ptr<int64_t>(), g, D, begin, end, to);
      } else {
        spread_bags(bags, shares.data(), g, D, begin, end, to);
      }
    });
  });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {
HWY_EXPORT(forward);
HWY_EXPORT(backward);

void embedding_bag(Tensor& y, Tensor& best, const Tensor& w, const Tensor& index,
                   const Tensor& offsets, const Tensor& factors, const EmbeddingBagParams& p) {
  check_indices("embedding_bag", index, w.size(0));
  if (is_reduced_floating(w.dtype()) &&
      index.numel() > w.size(0)) {  // most rows are used several times
    return run_upcast(kernels::embedding_bag, embedding_bag, y, best, w, index, offsets, factors,
                      p);
  }
  Tensor wide = factors;
  if (factors.defined() && is_reduced_floating(factors.dtype())) {
    wide = empty(factors.sizes(), TensorOptions(kFloat32).device(kCPU));
    copy(wide, factors);
  }
  HWY_DYNAMIC_DISPATCH(forward)(y, best, w, index, offsets, wide, p);
}

void embedding_bag_grad(Tensor& dw, const Tensor& dy, const Tensor& best, const Tensor& index,
                        const Tensor& offsets, const Tensor& factors, const EmbeddingBagParams& p) {
  check_indices("embedding_bag_grad", index, dw.size(0));
  HWY_DYNAMIC_DISPATCH(backward)(dw, dy, best, index, offsets, factors, p);
}

}  // namespace ambit::cpu
#endif
