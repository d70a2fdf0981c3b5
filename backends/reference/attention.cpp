// Attention and its gradient, one query at a time. q [B,H,L,E], k [B,H,S,E], v [B,H,S,F], mask
// [B,H,L,S], any strides; lse [2,B,H,L], contiguous.
#include <ambit/backend/reference.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runs.h"

namespace ambit::reference {
namespace {

/// A tensor with four dims.
template <class T>
class Four {
 public:
  explicit Four(const Tensor& t) : data_(t.defined() ? t.data_ptr<T>() : nullptr) {
    for (size_t d = 0; data_ && d < 4; ++d) strides_[d] = t.strides()[d];
  }
  explicit operator bool() const { return data_; }
  T& operator()(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return data_[b * strides_[0] + h * strides_[1] + i * strides_[2] + j * strides_[3]];
  }
  double get(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return static_cast<double>((*this)(b, h, i, j));
  }

 private:
  T* data_;
  int64_t strides_[4] = {};
};

/// The scores of a query with every key that it attends to.
template <class T>
class Scores {
 public:
  Scores(const Tensor& q, const Tensor& k, const Tensor& mask, const AttentionParams& p)
      : q_(q), k_(k), mask_(mask), S_(k.size(2)), E_(q.size(3)), p_(p) {}

  std::vector<double> of(int64_t b, int64_t h, int64_t i) const {
    std::vector<double> s(static_cast<size_t>(p_.causal ? std::min(i + 1, S_) : S_));
    for (int64_t j = 0; j < static_cast<int64_t>(s.size()); ++j) {
      double sum = 0;
      for (int64_t e = 0; e < E_; ++e) sum += q_.get(b, h, i, e) * k_.get(b, h, j, e);
      s[static_cast<size_t>(j)] = p_.scale * sum + (mask_ ? mask_.get(b, h, i, j) : 0);
    }
    return s;
  }

 private:
  Four<T> q_, k_, mask_;
  int64_t S_, E_;
  AttentionParams p_;
};

/// Call f(b, h, i, its offset in each half of lse) for every query.
template <class F>
void for_queries(const Tensor& lse, const F& f) {
  const int64_t H = lse.size(2), L = lse.size(3);
  for (int64_t row = 0; row < lse.numel() / 2; ++row) f(row / (H * L), row / L % H, row % L, row);
}

/// A gradient [B,H,N,D] accumulated in float64 and rounded once when stored in the tensor.
template <class T>
class Sums {
 public:
  explicit Sums(Tensor& t) : t_(t), sums_(static_cast<size_t>(t.numel())) {}
  double& operator()(int64_t b, int64_t h, int64_t i, int64_t j) {
    const IntArrayRef n = t_.sizes();
    return sums_[static_cast<size_t>(((b * n[1] + h) * n[2] + i) * n[3] + j)];
  }
  void store() {
    const Four<T> to(t_);
    const IntArrayRef n = t_.sizes();
    for (int64_t b = 0; b < n[0]; ++b) {
      for (int64_t h = 0; h < n[1]; ++h) {
        for (int64_t i = 0; i < n[2]; ++i) {
          for (int64_t j = 0; j < n[3]; ++j) to(b, h, i, j) = static_cast<T>((*this)(b, h, i, j));
        }
      }
    }
  }

 private:
  Tensor& t_;
  std::vector<double> sums_;
};

}  // namespace

void attention(Tensor& y, Tensor& lse, const Tensor& q, const Tensor& k, const Tensor& v,
               const Tensor& mask, const AttentionParams& p) {
  count_run();
  const int64_t F = v.size(3), queries = lse.numel() / 2;
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    const Scores<T> scores(q, k, mask, p);
    const Four<T> py(y), pv(v);
    for_queries(lse, [&](int64_t b, int64_t h, int64_t i, int64_t row) {
      std::vector<double> w = scores.of(b, h, i);
      double top = *std::max_element(w.begin(), w.end()), sum = 0;
      if (top == -std::numeric_limits<double>::infinity()) top = 0;
      for (double& s : w) sum += s = std::exp(s - top);
      if (sum == 0) sum = 1;  // no key is attended to: y is 0, and so are weights computed from lse
      lse.data_ptr<T>()[row] = static_cast<T>(top + (sum - sum));  // NaN if sum is
      lse.data_ptr<T>()[queries + row] = static_cast<T>(std::log(sum));
      for (int64_t f = 0; f < F; ++f) {
        double total = 0;
        for (size_t j = 0; j < w.size(); ++j)
          total += w[j] * pv.get(b, h, static_cast<int64_t>(j), f);
        py(b, h, i, f) = static_cast<T>(total / sum);
      }
    });
  });
}

void attention_grad(Tensor& dq, Tensor& dk, Tensor& dv, const Tensor& dy, const Tensor& q,
                    const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& y,
                    const Tensor& lse, const AttentionParams& p) {
  count_run();
  const int64_t E = q.size(3), F = v.size(3), queries = lse.numel() / 2;
  visit<dtypes::kFloating>(dq.dtype(), [&]<class T>() {
    const Scores<T> scores(q, k, mask, p);
    const Four<T> pdy(dy), pq(q), pk(k), pv(v), py(y);
    Sums<T> to_q(dq), to_k(dk), to_v(dv);
    for_queries(lse, [&](int64_t b, int64_t h, int64_t i, int64_t row) {
      const std::vector<double> s = scores.of(b, h, i);
      const T kept = lse.data_ptr<T>()[row];
      const auto total = static_cast<double>(lse.data_ptr<T>()[queries + row]);  // log(sum)
      // The stored largest score was rounded to T.
      double top = *std::max_element(s.begin(), s.end());
      if (static_cast<T>(top) != kept) top = static_cast<double>(kept);
      double share = 0;  // sum of dw * w, subtracted from each dw
      for (int64_t f = 0; f < F; ++f) share += pdy.get(b, h, i, f) * py.get(b, h, i, f);
      for (int64_t j = 0; j < static_cast<int64_t>(s.size()); ++j) {
        const double w = std::exp(s[static_cast<size_t>(j)] - top - total);
        double dw = 0;
        for (int64_t f = 0; f < F; ++f) {
          dw += pdy.get(b, h, i, f) * pv.get(b, h, j, f);
          to_v(b, h, j, f) += w * pdy.get(b, h, i, f);
        }
        const double ds = w * (dw - share) * p.scale;
        for (int64_t e = 0; e < E; ++e) {
          to_q(b, h, i, e) += ds * pk.get(b, h, j, e);
          to_k(b, h, j, e) += ds * pq.get(b, h, i, e);
        }
      }
    });
    to_q.store();
    to_k.store();
    to_v.store();
  });
}

}  // namespace ambit::reference
