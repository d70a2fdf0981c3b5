// Resampling of one dim: each new element is a weighted sum of a few old ones. All image resizing
// is composed of it, dim by dim.
#pragma once

#include <ambit/tensor.h>

#include <memory>
#include <vector>

namespace ambit {

/// The old elements and weights of each new element:
///   y[.., i, ..] = sum over k of weight(i, k) x[.., index(i, k), ..]
class Taps {
 public:
  struct Tap {
    int64_t index;
    double weight;
  };
  /// A run of new elements with constant steps, computed by strided views:
  ///   y[to + k to_step] = weight x[from + k from_step], or += unless `first`, k < count
  struct Run {
    int64_t to, to_step, from, from_step, count;
    double weight;
    bool first;
  };

  /// `taps` has `count` taps for each new element, in order. Taps of one element with the same
  /// index are merged; the freed taps get weight 0.
  Taps(int64_t in, size_t count, std::vector<Tap> taps);

  int64_t in() const { return in_; }
  int64_t out() const { return static_cast<int64_t>(taps_.size() / count_); }
  size_t count() const { return count_; }
  /// Return tap k of element i; those of weight 0 come last.
  const Tap& tap(int64_t i, size_t k) const { return taps_[static_cast<size_t>(i) * count_ + k]; }
  bool all_weights_one() const { return all_weights_one_; }
  /// True if the new elements equal the old ones.
  bool is_identity() const;
  /// Return the taps as runs, those with `first` at the front; empty if there would be too many
  /// runs.
  const std::vector<Run>& runs() const { return runs_; }

 private:
  std::vector<Run> runs_of(int64_t period) const;

  int64_t in_;
  size_t count_;
  std::vector<Tap> taps_;
  bool all_weights_one_ = true;
  std::vector<Run> runs_;
};

/// Resample dim `dim` of x; no size from `dim` on may be 0. Errors name `op`. Gradient: x.
Tensor resample(const char* op, const Tensor& x, int64_t dim, std::shared_ptr<const Taps> taps);
/// Resample dim `dim` of uint8 x with weights rounded to int16; the results are rounded and clamped
/// to 0 to 255. Source: torch.nn.functional.interpolate of PyTorch 2.15 on the CPU.
Tensor resample_bytes(const Tensor& x, int64_t dim, const Taps& taps);
/// Return resample's gradient.
Tensor resample_grad(const char* op, const Tensor& g, int64_t dim,
                     const std::shared_ptr<const Taps>& taps);

}  // namespace ambit
