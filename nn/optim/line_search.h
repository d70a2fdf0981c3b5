// Line search: the step length along a direction.
#pragma once

#include <ambit/tensor.h>

#include <functional>

namespace ambit::optim {

/// The loss at one point of a line, and its gradient with respect to all parameters, flattened.
struct Evaluation {
  double loss = 0;
  Tensor gradient;
};

/// A point of a line: its distance t, and the derivative of the loss along the line (slope).
struct LinePoint {
  double t = 0, loss = 0, slope = 0;
  Tensor gradient;
};

/// Find a point of the line x + t d that satisfies the strong Wolfe conditions (sufficient
/// decrease, small slope), or the best of 25 evaluations. evaluate(t): loss and gradient at x + t
/// d. `start`: the point at t = 0. `first`: the first t to try. `evaluations` is incremented by the
/// number of calls. Source: Nocedal & Wright 2006, algorithms 3.5 and 3.6; after torch.optim.lbfgs.
LinePoint strong_wolfe(const std::function<Evaluation(double t)>& evaluate, const Tensor& direction,
                       const LinePoint& start, double first, double tolerance_change,
                       int64_t& evaluations);

}  // namespace ambit::optim
