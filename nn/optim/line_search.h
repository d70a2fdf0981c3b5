// A line search: how far to go along a direction.
#pragma once

#include <ambit/tensor.h>

#include <functional>

namespace ambit::optim {

/// The loss at one point of a line, and its gradient with respect to all parameters, flat.
struct Evaluation {
  double loss = 0;
  Tensor gradient;
};

/// A point of a line: its distance t, and the slope of the loss along the line there.
struct LinePoint {
  double t = 0, loss = 0, slope = 0;
  Tensor gradient;
};

/// Find a point of the line x + t d where the loss has fallen enough and its slope is flat enough
/// (the strong Wolfe conditions), or the best found in 25 evaluations.
/// evaluate(t): loss and gradient at x + t d. `start`: the point at t = 0. `first`: the first t to
/// try. `evaluations` grows by the number of calls.
/// Source: Nocedal & Wright 2006, algorithms 3.5 and 3.6; as torch.optim.lbfgs writes it.
LinePoint strong_wolfe(const std::function<Evaluation(double t)>& evaluate, const Tensor& direction,
                       const LinePoint& start, double first, double tolerance_change,
                       int64_t& evaluations);

}  // namespace ambit::optim
