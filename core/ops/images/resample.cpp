// Resampling by runs if there are few, with one pass over a strided view for each run; else by
// index_select of rows. For the last dim these are rows of the transposed matrix.
#include "resample.h"

#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {
namespace {

// More runs cost more than the index operations they save: each run is a small kernel.
constexpr size_t kMostRuns = 32;
constexpr int64_t kLongestPeriod = 8;

// Merge the taps of one element with equal indices, in place; the freed taps get the first tap's
// index and weight 0. Return the number of merged taps.
size_t join(std::span<Taps::Tap> taps) {
  size_t n = 0;
  for (const Taps::Tap tap : taps) {
    if (tap.weight == 0) continue;
    const auto end = taps.begin() + static_cast<std::ptrdiff_t>(n);
    const auto same =
        std::find_if(taps.begin(), end, [&](const Taps::Tap& t) { return t.index == tap.index; });
    if (same != end) {
      same->weight += tap.weight;
    } else {
      taps[n++] = tap;
    }
  }
  for (size_t k = n; k < taps.size(); ++k) taps[k] = {taps[0].index, 0};
  return n;
}

// Weights of a period are equal except for the rounding of (i + 0.5) / scale.
bool same_weight(double a, double b) { return std::abs(a - b) <= 1e-13; }

}  // namespace

Taps::Taps(int64_t in, size_t count, std::vector<Tap> taps)
    : in_(in), count_(count), taps_(std::move(taps)) {
  size_t most = 1;
  for (int64_t i = 0; i < out(); ++i) {
    most = std::max(most, join(std::span(taps_).subspan(static_cast<size_t>(i) * count_, count_)));
  }
  // Drop trailing taps that no element uses.
  for (size_t i = 1; most < count_ && i < taps_.size() / count_; ++i) {
    std::copy_n(&taps_[i * count_], most, &taps_[i * most]);
  }
  taps_.resize(taps_.size() / count_ * most);
  count_ = most;
  all_weights_one_ = count_ == 1;
  for (int64_t i = 0; i < out(); ++i) all_weights_one_ = all_weights_one_ && tap(i, 0).weight == 1;
  for (int64_t period = 1; period <= std::min(kLongestPeriod, out()); ++period) {
    std::vector<Run> runs = runs_of(period);
    if (runs.size() <= kMostRuns && (runs_.empty() || runs.size() < runs_.size())) {
      runs_ = std::move(runs);
    }
  }
}

bool Taps::is_identity() const {
  if (in() != out() || !all_weights_one_) return false;
  for (int64_t i = 0; i < out(); ++i) {
    if (tap(i, 0).index != i) return false;
  }
  return true;
}

std::vector<Taps::Run> Taps::runs_of(int64_t period) const {
  std::vector<Run> runs;
  for (size_t k = 0; k < count_; ++k) {
    for (int64_t start = 0; start < period; ++start) {
      bool open = false;  // the last run may be extended
      for (int64_t i = start; i < out(); i += period) {
        const Tap& t = tap(i, k);
        if (k > 0 && t.weight == 0) {
          open = false;
          continue;
        }
        if (open && same_weight(runs.back().weight, t.weight)) {
          Run& run = runs.back();
          const int64_t step = t.index - (run.from + (run.count - 1) * run.from_step);
          // Exclude runs with step 0: their gradient would add to one element repeatedly.
          if (step > 0 && (run.count == 1 || step == run.from_step)) {
            run.from_step = step;
            ++run.count;
            continue;
          }
        }
        if (runs.size() == kMostRuns + 1) return runs;
        runs.push_back({i, period, t.index, 1, 1, t.weight, k == 0});
        open = true;
      }
    }
  }
  return runs;
}

namespace {

using SharedTaps = std::shared_ptr<const Taps>;

// View a tensor as [outer, n, inner], with n the resampled dim.
Tensor as_rows(const Tensor& t, int64_t dim) {
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < t.dim(); ++d) (d < dim ? outer : inner) *= d == dim ? 1 : t.size(d);
  return alias(t, {outer, t.size(dim), inner});
}

// View elements first, first + step, ... of the rows of t [outer, n, inner].
Tensor every(const Tensor& t, int64_t first, int64_t step, int64_t count) {
  const IntArrayRef strides = t.strides();
  return alias(t, {t.size(0), count, t.size(2)}, {strides[0], strides[1] * step, strides[2]},
               t.storage_offset() + first * strides[1]);
}

void add_to(Tensor y, const Tensor& x, double weight) {
  kernels::ternary(y, y, x, {}, weight, TernaryOp::add_scaled);
}

void by_runs(const Tensor& y, const Tensor& x, const Taps& taps) {
  for (const Taps::Run& run : taps.runs()) {
    Tensor to = every(y, run.to, run.to_step, run.count);
    const Tensor from = every(x, run.from, run.from_step, run.count);
    if (!run.first) {
      add_to(to, from, run.weight);
    } else if (run.weight == 1) {
      kernels::copy(to, from);
    } else {
      kernels::binary_scalar(to, from, {run.weight}, BinaryOp::mul);
    }
  }
}

void back_by_runs(const Tensor& dx, const Tensor& dy, const Taps& taps) {
  for (const Taps::Run& run : taps.runs()) {
    add_to(every(dx, run.from, run.from_step, run.count), every(dy, run.to, run.to_step, run.count),
           run.weight);
  }
}

// Tap k of all elements of [outer, out, inner]: row indices into [outer in, inner], int64 [outer
// out], and weights [out, 1], undefined if all are 1.
struct TapTensors {
  TapTensors(const Taps& taps, size_t k, const Tensor& like, int64_t outer) {
    const TensorOptions host(kCPU);
    Tensor at = empty({taps.out()}, host.dtype(kInt64)),
           weights = empty({taps.out(), 1}, host.dtype(kFloat64));
    for (int64_t i = 0; i < taps.out(); ++i) {
      const Taps::Tap& t = taps.tap(i, k);
      at.data_ptr<int64_t>()[i] = t.index;
      weights.data_ptr<double>()[i] = t.weight;
    }
    rows = at.to(like.device());
    if (outer > 1) {
      const Tensor first = arange(outer, rows.options()).mul_(taps.in()).unsqueeze_(1);
      rows = (first + rows).view({-1});
    }
    if (!taps.all_weights_one()) weight = weights.to(like.dtype()).to(like.device());
  }
  Tensor rows, weight;
};

// [outer, n, inner] -> [outer n, inner]
Tensor as_matrix(const Tensor& t) { return alias(t, {t.size(0) * t.size(1), t.size(2)}); }

void by_index(const Tensor& y, const Tensor& x, const Taps& taps) {
  Tensor part;
  for (size_t k = 0; k < taps.count(); ++k) {
    const TapTensors tap(taps, k, x, x.size(0));
    if (k == 1) part = empty_like(y);
    const Tensor& to = k == 0 ? y : part;
    Tensor rows = as_matrix(to);
    kernels::index_select(rows, as_matrix(x), tap.rows, 0);
    if (tap.weight.defined()) to.mul_(tap.weight);
    if (k > 0) y.add_(part);
  }
}

void back_by_index(const Tensor& dx, const Tensor& dy, const Taps& taps) {
  Tensor sum = as_matrix(dx);
  for (size_t k = 0; k < taps.count(); ++k) {
    const TapTensors tap(taps, k, dy, dy.size(0));
    const Tensor share = tap.weight.defined() ? dy * tap.weight : dy;
    kernels::index_add(sum, tap.rows, as_matrix(share), 0);
  }
}

// Copy [outer, n, 1] to [1, n, outer]: selecting rows is faster than selecting single elements.
Tensor turned(const Tensor& t) {
  Tensor out = empty({1, t.size(1), t.size(0)}, t.options());
  kernels::copy(out, alias(t, out.sizes(), IntArrayRef{t.numel(), 1, t.size(1)}));
  return out;
}
void turn_back(const Tensor& to, const Tensor& from) {
  Tensor out = alias(to, from.sizes(), IntArrayRef{to.numel(), 1, to.size(1)});
  kernels::copy(out, from);
}

// Run `by_runs` or `by_index`, or their adjoints, on `to` and `from` [outer, n, inner].
void run(const Tensor& to, const Tensor& from, const Taps& taps, bool forward) {
  if (!taps.runs().empty()) {
    forward ? by_runs(to, from, taps) : back_by_runs(to, from, taps);
  } else if (to.size(2) > 1 || to.size(0) == 1) {
    forward ? by_index(to, from, taps) : back_by_index(to, from, taps);
  } else {
    const Dims sizes{1, to.size(1), to.size(0)};
    const Tensor turned_to = forward ? empty(sizes, to.options()) : zeros(sizes, to.options());
    forward ? by_index(turned_to, turned(from), taps)
            : back_by_index(turned_to, turned(from), taps);
    turn_back(to, turned_to);
  }
}

}  // namespace

Tensor resample_grad(const char* op, const Tensor& g, int64_t dim, const SharedTaps& taps) {
  Dims sizes(g.sizes());
  sizes[static_cast<size_t>(dim)] = taps->in();
  Tensor dx = zeros(sizes, g.options());
  if (g.numel() > 0) {
    const NoGradGuard no_grad;
    run(as_rows(dx, dim), as_rows(dense(g), dim), *taps, false);
  }
  return record(op, std::move(dx),
                wrt(g, [=](const Tensor& gg) { return resample(op, gg, dim, taps); }));
}

Tensor resample(const char* op, const Tensor& x, int64_t dim, SharedTaps taps) {
  Dims sizes(x.sizes());
  sizes[static_cast<size_t>(dim)] = taps->out();
  Tensor y = allocate(op, sizes, x.dtype(), x.device());
  if (y.numel() > 0) {
    const NoGradGuard no_grad;
    run(as_rows(y, dim), as_rows(dense(x), dim), *taps, true);
  }
  return record(op, std::move(y),
                wrt(x, [=](const Tensor& g) { return resample_grad(op, g, dim, taps); }));
}

}  // namespace ambit
