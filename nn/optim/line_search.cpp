#include "line_search.h"

#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/reduce.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace ambit::optim {
namespace {

constexpr double kArmijo = 1e-4, kCurvature = 0.9;
constexpr int kMostEvaluations = 25;

struct Bounds {
  double low, high;
};

// Return the minimum, within bounds, of the cubic through two points with given slopes.
double cubic_minimum(const LinePoint& a, const LinePoint& b, Bounds bounds) {
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (bounds.low + bounds.high) / 2;
  const double d2 = std::sqrt(square);
  const LinePoint &left = a.t <= b.t ? a : b, &right = a.t <= b.t ? b : a;
  const double at = right.t - (right.t - left.t) *
                                  ((right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2));
  return std::min(std::max(at, bounds.low), bounds.high);
}

class Search {
 public:
  Search(const std::function<Evaluation(double)>& evaluate, const Tensor& direction,
         const LinePoint& start, double tolerance_change, int64_t& evaluations)
      : evaluate_(evaluate),
        direction_(direction),
        start_(start),
        tolerance_(tolerance_change),
        evaluations_(evaluations) {}

  LinePoint run(double first) {
    bracket(first);
    if (!done_) zoom();
    return low();
  }

 private:
  LinePoint at(double t) {
    Evaluation e = evaluate_(t);
    ++evaluations_;
    const double slope = dot(e.gradient, direction_).item<double>();
    return {t, e.loss, slope, std::move(e.gradient)};
  }
  bool falls_too_little(const LinePoint& p) const {
    return p.loss > start_.loss + kArmijo * p.t * start_.slope;
  }
  bool is_flat(const LinePoint& p) const { return std::abs(p.slope) <= -kCurvature * start_.slope; }

  // Extend the step until two points bracket an acceptable one, or one is acceptable.
  void bracket(double first) {
    LinePoint before = start_, now = at(first);
    for (; tries_ < kMostEvaluations; ++tries_) {
      if (falls_too_little(now) || (tries_ > 1 && now.loss >= before.loss)) break;
      if (is_flat(now)) {
        done_ = true;
        ends_ = {now, now};
        return;
      }
      if (now.slope >= 0) break;
      const double t = cubic_minimum(before, now, {now.t + 0.01 * (now.t - before.t), now.t * 10});
      before = std::exchange(now, at(t));
    }
    ends_ = {tries_ == kMostEvaluations ? start_ : before, now};
  }

  // Narrow the bracket until its lower end is acceptable.
  void zoom() {
    bool was_close = false;
    order();
    const double longest = direction_.abs().max().item<double>();
    for (; !done_ && tries_ < kMostEvaluations; ++tries_) {
      if (std::abs(ends_[1].t - ends_[0].t) * longest < tolerance_) return;
      place(at(next(was_close)));
    }
  }

  // Return the next t to try: not close to an end of the bracket twice in a row.
  double next(bool& was_close) const {
    const auto [least, most] = std::minmax(ends_[0].t, ends_[1].t);
    const double t = cubic_minimum(ends_[0], ends_[1], {least, most}),
                 margin = 0.1 * (most - least);
    if (!(std::min(most - t, t - least) < margin)) {
      was_close = false;
      return t;
    }
    if (!was_close && t < most && t > least) {
      was_close = true;
      return t;
    }
    was_close = false;
    return std::abs(t - most) < std::abs(t - least) ? most - margin : least + margin;
  }

  void place(LinePoint p) {
    if (falls_too_little(p) || p.loss >= low().loss) {
      high() = std::move(p);
      order();
      return;
    }
    if (is_flat(p)) {
      done_ = true;
    } else if (p.slope * (high().t - low().t) >= 0) {
      high() = low();
    }
    low() = std::move(p);
  }

  void order() { low_ = ends_[0].loss <= ends_[1].loss ? 0 : 1; }
  LinePoint& low() { return ends_[low_]; }
  LinePoint& high() { return ends_[1 - low_]; }

  const std::function<Evaluation(double)>& evaluate_;
  const Tensor& direction_;
  const LinePoint& start_;
  const double tolerance_;
  int64_t& evaluations_;
  std::array<LinePoint, 2> ends_;
  size_t low_ = 0;
  int tries_ = 0;
  bool done_ = false;
};

}  // namespace

LinePoint strong_wolfe(const std::function<Evaluation(double t)>& evaluate, const Tensor& direction,
                       const LinePoint& start, double first, double tolerance_change,
                       int64_t& evaluations) {
  return Search(evaluate, direction, start, tolerance_change, evaluations).run(first);
}

}  // namespace ambit::optim
