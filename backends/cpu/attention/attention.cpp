// Attention: y = softmax(scale * q k^T + mask) v of q [B,H,L,E], k [B,H,S,E], v [B,H,S,F], computed
// by blocks of queries and keys. For each query the largest score so far, the sum of exponentials
// and the unnormalised y are kept, and rescaled when a larger score occurs.
// Source: Milakov & Gimelshein 2018, arXiv:1805.02867; Dao et al. 2022, arXiv:2205.14135.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/attention/attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "backends/cpu/kernels.h"
#include "backends/cpu/norm/softmax_line-inl.h"
#include "backends/cpu/runtime/scratch.h"
#include "blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// Holds the keys and values of one head, and one block of its queries at a time.
template <class T>
class Forward {
 public:
  Forward(const AttentionSizes& s, const AttentionParams& p)
      : s_(s),
        p_(p),
        width_(round_up(s.F, kVector<T>)),
        scratch_(sizeof(T) * static_cast<size_t>(round_up(s.S, kStrip) * s.E + s.S * width_ +
                                                 kQueries * (2 * s.E + width_ + kKeys + 3))) {
    k_ = scratch_.data<T>();
    v_ = k_ + round_up(s.S, kStrip) * s.E;
    q_ = v_ + s.S * width_;
    qt_ = q_ + kQueries * s.E;
    sums_ = qt_ + kQueries * s.E;
    scores_ = sums_ + kQueries * width_;
    largest_ = scores_ + kQueries * kKeys;
    total_ = largest_ + kQueries;
    lower_ = total_ + kQueries;
  }

  /// Pack the keys and values that queries before `past` attend to.
  void take(const Head<T>& k, const Head<T>& v, int64_t past) {
    const int64_t keys = s_.keys_of(past - 1, p_.causal);
    pack_rows(keys, s_.E, k, 0, T(1), k_, s_.E);
    std::fill(k_ + keys * s_.E, k_ + round_up(keys, kStrip) * s_.E, T(0));
    pack_rows(keys, s_.F, v, 0, T(1), v_, width_);
  }

  /// Compute y and lse of `count` queries from `first` on; lse: largest scores, then logs of sums.
  void block(int64_t first, int64_t count, const Head<T>& q, const std::optional<Head<T>>& mask,
             const Head<T>& y, T* lse) {
    constexpr T kNone = -std::numeric_limits<T>::infinity();
    pack_rows(count, s_.E, q, first, static_cast<T>(p_.scale), q_, s_.E);
    transpose_rows(count, s_.E, q_, s_.E, qt_);
    std::fill_n(sums_, kQueries * width_, T(0));
    std::fill_n(largest_, kQueries, kNone);
    std::fill_n(total_, kQueries, T(0));
    const int64_t keys = s_.keys_of(first + count - 1, p_.causal);
    for (int64_t key = 0; key < keys; key += kKeys) {
      const int64_t some = std::min(kKeys, keys - key);
      score_block(k_ + key * s_.E, s_.E, s_.E, qt_, key, some, first, count, mask, p_.causal,
                  scores_);
      exponentials(some, count);
      for (int64_t i = 0; key > 0 && i < count; ++i) {
        if (lower_[i] != 1) scale(width_, sums_ + i * width_, lower_[i]);
      }
      multiply<T, Left::columns, true>(count, s_.F, some, scores_, kQueries, v_ + key * width_,
                                       width_, sums_, width_);
    }
    write(first, count, y, lse);
  }

 private:
  /// Replace scores by exp(score - largest), 0 while all are -inf; lower_ is the factor for
  /// rescaling earlier sums.
  void exponentials(int64_t keys, int64_t queries) {
    const hn::ScalableTag<T> d;
    const auto none = hn::Neg(infinity(d));
    for (int64_t i = 0; i < queries; i += kVector<T>) {
      const auto before = hn::LoadU(d, largest_ + i);
      auto top = before;
      for (int64_t j = 0; j < keys; ++j) {
        top = hn::Max(hn::LoadU(d, scores_ + j * kQueries + i), top);
      }
      const auto shift = hn::IfThenZeroElse(hn::Eq(top, none), top);
      auto sum = hn::Zero(d);
      for (int64_t j = 0; j < keys; ++j) {
        T* at = scores_ + j * kQueries + i;
        const auto e = exp_nonpositive(d, hn::Sub(hn::LoadU(d, at), shift));
        hn::StoreU(e, d, at);
        sum = hn::Add(sum, e);
      }
      const auto lower = exp_nonpositive(d, hn::Sub(before, shift));
      hn::StoreU(hn::MulAdd(hn::LoadU(d, total_ + i), lower, sum), d, total_ + i);
      hn::StoreU(lower, d, lower_ + i);
      hn::StoreU(top, d, largest_ + i);
    }
  }

  void write(int64_t first, int64_t count, const Head<T>& y, T* lse) const {
    for (int64_t i = 0; i < count; ++i) {
      // If all scores are -inf, y is 0, and so are the weights computed from lse.
      const bool blind = total_[i] == 0;
      const T* sum = sums_ + i * width_;
      const T total = blind ? 1 : total_[i], factor = 1 / total;
      T* to = y.data + (first + i) * y.row;
      for (int64_t f = 0; f < s_.F; ++f) to[f * y.column] = sum[f] * factor;
      lse[first + i] = blind ? 0 : largest_[i];
      lse[s_.heads * s_.L + first + i] = std::log(total);
    }
  }

  const AttentionSizes& s_;
  const AttentionParams& p_;
  int64_t width_;  // length of the rows of v and y
  Scratch scratch_;
  T *k_, *v_, *q_, *qt_, *sums_, *scores_, *largest_, *total_, *lower_;
};

template <class T>
void attend(Tensor& y, Tensor& lse, const Tensor& q, const Tensor& k, const Tensor& v,
            const Tensor& mask, const AttentionParams& p) {
  const AttentionSizes s(q, v);
  const int64_t work = s.L * s.S * (s.E + s.F) / s.parts;
  parallel_for(s.heads * s.parts, grain_for_products(work), [&](int64_t begin, int64_t end) {
    Forward<T> forward(s, p);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t head = i / s.parts;
      const auto [first, past] = s.queries_of(i % s.parts);
      const auto of_mask = mask_of<T>(mask, head);
      forward.take(Head<T>(k, head), Head<T>(v, head), past);
      for (int64_t at = first; at < past; at += kQueries) {
        forward.block(at, std::min(kQueries, past - at), Head<T>(q, head), of_mask,
                      Head<T>(y, head), lse.data_ptr<T>() + head * s.L);
      }
    }
  });
}

void attend_any(Tensor& y, Tensor& lse, const Tensor& q, const Tensor& k, const Tensor& v,
                const Tensor& mask, const AttentionParams& p) {
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() { attend<T>(y, lse, q, k, v, mask, p); });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(attend_any);

void attention(Tensor& y, Tensor& lse, const Tensor& q, const Tensor& k, const Tensor& v,
               const Tensor& mask, const AttentionParams& p) {
  HWY_DYNAMIC_DISPATCH(attend_any)(y, lse, q, k, v, mask, p);
}

}  // namespace ambit::cpu
#endif
