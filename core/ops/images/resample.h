// A dim of a tensor made anew, each element a weighted sum of a few of the old ones: what all ways
// of changing an image's size are made of, dim by dim.
#pragma once

#include <ambit/tensor.h>

#include <memory>
#include <vector>

namespace ambit {

/// Which old elements make a new one, and how much of each:
///   y[.., i, ..] = sum over k of weight(i, k) x[.., index(i, k), ..]
class Taps {
 public:
  struct Tap {
    int64_t index;
    double weight;
  };
  /// Neighbours of a run are made alike, so that strided views say where all of them are:
  ///   y[to + k to_step] = weight x[from + k from_step], or += unless `first`, k < count
  struct Run {
    int64_t to, to_step, from, from_step, count;
    double weight;
    bool first;
  };

  /// Take `count` taps of each new element, one after the other, those of one element that name the
  /// same old one joined; of weight 0 are the rest.
  Taps(int64_t in, size_t count, std::vector<Tap> taps);

  int64_t in() const { return in_; }
  int64_t out() const { return static_cast<int64_t>(taps_.size() / count_); }
  size_t count() const { return count_; }
  /// Tap k of element i; those of weight 0 come last.
  const Tap& tap(int64_t i, size_t k) const { return taps_[static_cast<size_t>(i) * count_ + k]; }
  bool all_weights_one() const { return all_weights_one_; }
  /// Whether the new elements are the old ones.
  bool is_identity() const;
  /// The same taps as runs, those that are `first` in front; none where there would be many.
  const std::vector<Run>& runs() const { return runs_; }

 private:
  std::vector<Run> runs_of(int64_t period) const;

  int64_t in_;
  size_t count_;
  std::vector<Tap> taps_;
  bool all_weights_one_ = true;
  std::vector<Run> runs_;
};

/// Resample dim `dim` of x, which has no dim of size 0 from there on. Errors bear the op's name.
/// Gradient: x.
Tensor resample(const char* op, const Tensor& x, int64_t dim, std::shared_ptr<const Taps> taps);
/// Its gradient, from that of its output.
Tensor resample_grad(const char* op, const Tensor& g, int64_t dim,
                     const std::shared_ptr<const Taps>& taps);

}  // namespace ambit
