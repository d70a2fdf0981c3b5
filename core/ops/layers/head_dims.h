// The leading dims of attention's operands.
#pragma once

#include <ambit/ops/shape.h>
#include <ambit/tensor.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

namespace ambit {

/// Merges the leading dims of all operands: those before `split` into the kernel's B, the others
/// into H.
class HeadDims {
 public:
  HeadDims(const Dims& lead, std::initializer_list<Tensor> operands, const Tensor& mask)
      : lead_(lead) {
    while (lead_.size() < 2) lead_.insert(0, 1);
    split_ = lead_.size() - 1;
    const auto fits = [&](size_t at) {
      return [this, at](const Tensor& t) {
        return !t.defined() || (is_view(t, 0, at) && is_view(t, at, lead_.size()));
      };
    };
    fits_mask_ = false;
    for (size_t at = lead_.size() - 1; at > 0; --at) {
      if (!fits(at)(mask)) continue;
      const bool fits_all = std::all_of(operands.begin(), operands.end(), fits(at));
      if (fits_all || !fits_mask_) split_ = at;
      fits_mask_ = true;
      if (fits_all) break;
    }
  }
  /// True if the mask needs no copy, which could be much larger than the mask.
  bool fits_mask() const { return fits_mask_; }
  /// Return t broadcast to [lead, rows, columns], as [B,H,rows,columns].
  Tensor operator()(Tensor t, int64_t rows, int64_t columns) const {
    if (!t.defined()) return t;
    while (t.sizes().size() < lead_.size() + 2) t = unsqueeze(t, 0);
    t = joined(joined(t, split_, lead_.size()), 0, split_);
    const Dims whole{product(0, split_), product(split_, lead_.size()), rows, columns};
    return t.sizes() == whole ? t : expand(t, whole);
  }

 private:
  int64_t product(size_t begin, size_t end) const {
    int64_t n = 1;
    for (size_t i = begin; i < end; ++i) n *= lead_[i];
    return n;
  }
  /// Return t's size at leading dim i; missing dims are at the front.
  int64_t size_at(const Tensor& t, size_t i) const {
    const size_t missing = lead_.size() + 2 - t.sizes().size();
    return i < missing ? 1 : t.sizes()[i - missing];
  }
  bool is_broadcast(const Tensor& t, size_t begin, size_t end) const {
    bool all_ones = true;
    for (size_t i = begin; i < end; ++i) all_ones &= size_at(t, i) == 1;
    return all_ones;
  }
  /// True if dims [begin, end) of t can be merged without a copy.
  bool is_view(const Tensor& t, size_t begin, size_t end) const {
    if (is_broadcast(t, begin, end)) return true;
    const size_t missing = lead_.size() + 2 - t.sizes().size();
    std::optional<int64_t> step;  // the stride that the next outer dim must have
    for (size_t i = end; i-- > begin;) {
      if (lead_[i] == 1) continue;
      const int64_t stride = size_at(t, i) == 1 ? 0 : t.strides()[i - missing];
      if (step && stride != *step) return false;
      step = stride * lead_[i];
    }
    return true;
  }
  Tensor joined(const Tensor& t, size_t begin, size_t end) const {
    if (end - begin == 1) return t;
    Dims sizes(t.sizes());
    if (!is_broadcast(t, begin, end)) {
      for (size_t i = begin; i < end; ++i) sizes[i] = lead_[i];
    }
    return flatten(expand(t, sizes), static_cast<int64_t>(begin), static_cast<int64_t>(end) - 1);
  }

  Dims lead_;
  size_t split_;
  bool fits_mask_;
};

}  // namespace ambit
