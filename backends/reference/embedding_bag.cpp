// Sums, means and maxima of bags of rows: w [V,D], index [n], offsets [B+1], y [B,D], contiguous.
#include <ambit/backend/reference.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "accumulator.h"
#include "runs.h"

namespace ambit::reference {
namespace {

using Mode = EmbeddingBagParams::Mode;

/// The bags and their entries.
class Bags {
 public:
  Bags(const Tensor& index, const Tensor& offsets, const Tensor& factors,
       const EmbeddingBagParams& p)
      : n_(index.numel()),
        index_(index.data_ptr<int64_t>()),
        offsets_(offsets.data_ptr<int64_t>()),
        factors_(factors),
        p_(p) {}

  void check(const char* op, int64_t rows) const {
    for (int64_t i = 0; i < n_; ++i) {
      if (index_[i] >= 0 && index_[i] < rows) continue;
      throw IndexError(
          fmt::format("{}: expected an index in [0, {}), got {}", op, rows, index_[i]));
    }
  }
  int64_t row(int64_t i) const { return index_[i]; }
  template <class T>
  double factor(int64_t i) const {
    return factors_.defined() ? static_cast<double>(factors_.data_ptr<T>()[i]) : 1;
  }
  /// Call f(i) for all entries of bag b except padding.
  template <class F>
  void for_each(int64_t b, const F& f) const {
    const int64_t end = std::clamp<int64_t>(offsets_[b + 1], 0, n_);
    for (int64_t i = std::clamp<int64_t>(offsets_[b], 0, n_); i < end; ++i) {
      if (index_[i] != p_.padding) f(i);
    }
  }
  /// Return the weight of the rows of bag b, apart from their factors.
  double share(int64_t b) const {
    if (p_.mode != Mode::mean) return 1;
    int64_t count = 0;
    for_each(b, [&](int64_t) { ++count; });
    return 1 / static_cast<double>(std::max<int64_t>(count, 1));
  }

 private:
  int64_t n_;
  const int64_t *index_, *offsets_;
  const Tensor& factors_;
  const EmbeddingBagParams& p_;
};

}  // namespace

void embedding_bag(Tensor& y, Tensor& best, const Tensor& w, const Tensor& index,
                   const Tensor& offsets, const Tensor& factors, const EmbeddingBagParams& p) {
  count_run();
  const Bags bags(index, offsets, factors, p);
  bags.check("embedding_bag", w.size(0));
  const int64_t D = w.size(1);
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    const T* pw = w.data_ptr<T>();
    T* py = y.data_ptr<T>();
    for (int64_t at = 0; at < y.numel(); ++at) {
      const int64_t b = at / D, d = at % D;
      if (p.mode == Mode::max) {
        int64_t chosen = -1;
        bags.for_each(b, [&](int64_t i) {
          if (chosen < 0 || pw[bags.row(i) * D + d] > pw[bags.row(chosen) * D + d]) chosen = i;
        });
        best.data_ptr<int64_t>()[at] = chosen;
        py[at] = chosen < 0 ? T(0) : pw[bags.row(chosen) * D + d];
        continue;
      }
      double sum = 0;
      bags.for_each(b, [&](int64_t i) {
        sum += bags.factor<T>(i) * static_cast<double>(pw[bags.row(i) * D + d]);
      });
      py[at] = static_cast<T>(sum * bags.share(b));
    }
  });
}

void embedding_bag_grad(Tensor& dw, const Tensor& dy, const Tensor& best, const Tensor& index,
                        const Tensor& offsets, const Tensor& factors, const EmbeddingBagParams& p) {
  count_run();
  const Bags bags(index, offsets, factors, p);
  bags.check("embedding_bag_grad", dw.size(0));
  const int64_t D = dw.size(1);
  visit<dtypes::kFloating>(dw.dtype(), [&]<class T>() {
    std::vector<double> sums(static_cast<size_t>(dw.numel()));
    for (int64_t at = 0; at < dy.numel(); ++at) {
      const int64_t b = at / D, d = at % D;
      const auto g = static_cast<double>(dy.data_ptr<T>()[at]);
      const auto sum = [&](int64_t i) -> double& {
        return sums[static_cast<size_t>(bags.row(i) * D + d)];
      };
      if (p.mode == Mode::max) {
        const int64_t chosen = best.data_ptr<int64_t>()[at];
        if (chosen >= 0 && chosen < index.numel()) sum(chosen) += g;
        continue;
      }
      const double share = bags.share(b);
      bags.for_each(b, [&](int64_t i) { sum(i) += g * bags.factor<T>(i) * share; });
    }
    store<T>(dw, sums);
  });
}

}  // namespace ambit::reference
