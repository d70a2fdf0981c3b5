// The gradient of attention, in the blocks of attention.cpp: the weights of a block of queries and
// a block of keys are recomputed from lse and used for all three gradients.
// Source: Dao et al. 2022, arXiv:2205.14135, algorithm 4.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/attention/attention_grad.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/cpu/kernels.h"
#include "backends/cpu/norm/softmax_line-inl.h"
#include "backends/cpu/runtime/scratch.h"
#include "blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// dk and dv of a head, or the contribution of a part of its queries, row by row.
template <class T>
struct KeySums {
  KeySums(const AttentionSizes& s, T* memory)
      : rows(round_up(s.S, kStrip)),
        k_width(round_up(s.E, kVector<T>)),
        v_width(round_up(s.F, kVector<T>)),
        dk(memory),
        dv(memory + rows * k_width) {}
  static int64_t numel(const AttentionSizes& s) {
    return round_up(s.S, kStrip) * (round_up(s.E, kVector<T>) + round_up(s.F, kVector<T>));
  }
  int64_t rows, k_width, v_width;
  T *dk, *dv;
};

/// Holds the keys and values of one head, and one block of its queries at a time.
template <class T>
class Backward {
 public:
  Backward(const AttentionSizes& s, const AttentionParams& p)
      : s_(s),
        p_(p),
        k_width_(round_up(s.E, kVector<T>)),
        v_width_(round_up(s.F, kVector<T>)),
        scratch_(sizeof(T) * static_cast<size_t>(round_up(s.S, kStrip) * (k_width_ + s.F) +
                                                 kQueries * (2 * k_width_ + v_width_ + s.E + s.F +
                                                             2 * kKeys + 3))) {
    k_ = scratch_.data<T>();
    v_ = k_ + round_up(s.S, kStrip) * k_width_;
    q_ = v_ + round_up(s.S, kStrip) * s.F;
    dq_ = q_ + kQueries * k_width_;
    dy_ = dq_ + kQueries * k_width_;
    qt_ = dy_ + kQueries * v_width_;
    dyt_ = qt_ + kQueries * s.E;
    weights_ = dyt_ + kQueries * s.F;
    ds_ = weights_ + kQueries * kKeys;
    largest_ = ds_ + kQueries * kKeys;
    log_total_ = largest_ + kQueries;
    share_ = log_total_ + kQueries;
  }

  void take(const Head<T>& k, const Head<T>& v) {
    const int64_t S = s_.S, past = round_up(S, kStrip);
    pack_rows(S, s_.E, k, 0, T(1), k_, k_width_);
    pack_rows(S, s_.F, v, 0, T(1), v_, s_.F);
    std::fill(k_ + S * k_width_, k_ + past * k_width_, T(0));
    std::fill(v_ + S * s_.F, v_ + past * s_.F, T(0));
  }

  /// Compute dq of `count` queries from `first` on, and add their contributions to the sums.
  void block(int64_t first, int64_t count, const Head<T>& q, const std::optional<Head<T>>& mask,
             const Head<T>& dy, const Head<T>& y, const T* lse, const Head<T>& dq,
             const KeySums<T>& sums) {
    pack_rows(count, s_.E, q, first, static_cast<T>(p_.scale), q_, k_width_);
    transpose_rows(count, s_.E, q_, k_width_, qt_);
    pack_rows(count, s_.F, dy, first, T(1), dy_, v_width_);
    transpose_rows(count, s_.F, dy_, v_width_, dyt_);
    take_shares(first, count, y, lse);
    std::fill_n(dq_, kQueries * k_width_, T(0));
    const int64_t keys = s_.keys_of(first + count - 1, p_.causal);
    for (int64_t key = 0; key < keys; key += kKeys) {
      const int64_t some = std::min(kKeys, keys - key);
      score_block(k_ + key * k_width_, k_width_, s_.E, qt_, key, some, first, count, mask,
                  p_.causal, weights_);
      multiply<T, Left::rows, false>(some, count, s_.F, v_ + key * s_.F, s_.F, dyt_, kQueries, ds_,
                                     kQueries);
      weigh(some, count);
      multiply<T, Left::rows, true>(some, s_.F, count, weights_, kQueries, dy_, v_width_,
                                    sums.dv + key * v_width_, v_width_);
      multiply<T, Left::rows, true>(some, s_.E, count, ds_, kQueries, q_, k_width_,
                                    sums.dk + key * k_width_, k_width_);
      multiply<T, Left::columns, true>(count, s_.E, some, ds_, kQueries, k_ + key * k_width_,
                                       k_width_, dq_, k_width_);
    }
    unpack_rows(count, s_.E, dq_, k_width_, static_cast<T>(p_.scale), dq, first);
  }

 private:
  /// share_ = sum(dy * y), which is subtracted from the gradient of every weight.
  void take_shares(int64_t first, int64_t count, const Head<T>& y, const T* lse) {
    std::copy_n(lse + first, count, largest_);
    std::copy_n(lse + s_.heads * s_.L + first, count, log_total_);
    for (int64_t i = 0; i < count; ++i) {
      const T *g = dy_ + i * v_width_, *out = y.data + (first + i) * y.row;
      T sum = 0;
      for (int64_t f = 0; f < s_.F; ++f) sum += g[f] * out[f * y.column];
      share_[i] = sum;
    }
    std::fill(largest_ + count, largest_ + kQueries, T(0));
    std::fill(log_total_ + count, log_total_ + kQueries, T(0));
    std::fill(share_ + count, share_ + kQueries, T(0));
  }

  /// Convert scores to weights, and the gradients of weights to gradients of scores.
  void weigh(int64_t keys, int64_t queries) {
    const hn::ScalableTag<T> d;
    for (int64_t j = 0; j < keys; ++j) {
      T *w = weights_ + j * kQueries, *g = ds_ + j * kQueries;
      for (int64_t i = 0; i < queries; i += kVector<T>) {
        const auto below = hn::Sub(hn::LoadU(d, w + i), hn::LoadU(d, largest_ + i));
        const auto weight = exp_nonpositive(d, hn::Sub(below, hn::LoadU(d, log_total_ + i)));
        hn::StoreU(weight, d, w + i);
        hn::StoreU(hn::Mul(weight, hn::Sub(hn::LoadU(d, g + i), hn::LoadU(d, share_ + i))), d,
                   g + i);
      }
    }
  }

  const AttentionSizes& s_;
  const AttentionParams& p_;
  int64_t k_width_, v_width_;  // row lengths of k, q and their gradients; of v and dy
  Scratch scratch_;
  T *k_, *v_, *q_, *dq_, *dy_, *qt_, *dyt_, *weights_, *ds_, *largest_, *log_total_, *share_;
};

template <class T>
void differentiate(Tensor& dq, Tensor& dk, Tensor& dv, const Tensor& dy, const Tensor& q,
                   const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& y,
                   const Tensor& lse, const AttentionParams& p) {
  const AttentionSizes s(q, v);
  const int64_t each = KeySums<T>::numel(s), items = s.heads * s.parts;
  const int64_t work = s.L * s.S * (3 * s.E + 2 * s.F) / s.parts;
  // Sums per part of a head, or per thread if heads are not split.
  const Scratch parts(s.parts > 1 ? static_cast<size_t>(items * each) * sizeof(T) : 0);
  parallel_for(items, grain_for_products(work), [&](int64_t begin, int64_t end) {
    Backward<T> backward(s, p);
    const Scratch own(s.parts > 1 ? 0 : static_cast<size_t>(each) * sizeof(T));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t head = i / s.parts;
      const auto [first, past] = s.queries_of(i % s.parts);
      const KeySums<T> sums(s, s.parts > 1 ? parts.data<T>() + i * each : own.data<T>());
      std::fill_n(sums.dk, each, T(0));
      backward.take(Head<T>(k, head), Head<T>(v, head));
      for (int64_t at = first; at < past; at += kQueries) {
        backward.block(at, std::min(kQueries, past - at), Head<T>(q, head), mask_of<T>(mask, head),
                       Head<T>(dy, head), Head<T>(y, head), lse.data_ptr<T>() + head * s.L,
                       Head<T>(dq, head), sums);
      }
      if (s.parts > 1) continue;
      unpack_rows(s.S, s.E, sums.dk, sums.k_width, T(1), Head<T>(dk, head), 0);
      unpack_rows(s.S, s.F, sums.dv, sums.v_width, T(1), Head<T>(dv, head), 0);
    }
  });
  if (s.parts == 1) return;
  parallel_for(s.heads, grain_for(s.parts * each), [&](int64_t begin, int64_t end) {
    for (int64_t head = begin; head < end; ++head) {
      const KeySums<T> sums(s, parts.data<T>() + head * s.parts * each);
      for (int64_t part = 1; part < s.parts; ++part) {
        const T* from = sums.dk + part * each;
#pragma omp simd
        for (int64_t j = 0; j < each; ++j) sums.dk[j] += from[j];
      }
      unpack_rows(s.S, s.E, sums.dk, sums.k_width, T(1), Head<T>(dk, head), 0);
      unpack_rows(s.S, s.F, sums.dv, sums.v_width, T(1), Head<T>(dv, head), 0);
    }
  });
}

void differentiate_any(Tensor& dq, Tensor& dk, Tensor& dv, const Tensor& dy, const Tensor& q,
                       const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& y,
                       const Tensor& lse, const AttentionParams& p) {
  visit<dtypes::kFloating>(
      dq.dtype(), [&]<class T>() { differentiate<T>(dq, dk, dv, dy, q, k, v, mask, y, lse, p); });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(differentiate_any);

void attention_grad(Tensor& dq, Tensor& dk, Tensor& dv, const Tensor& dy, const Tensor& q,
                    const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& y,
                    const Tensor& lse, const AttentionParams& p) {
  HWY_DYNAMIC_DISPATCH(differentiate_any)(dq, dk, dv, dy, q, k, v, mask, y, lse, p);
}

}  // namespace ambit::cpu
#endif
