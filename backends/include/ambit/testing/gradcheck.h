// Numeric gradients, to verify a gradient's formula. One input element at a time of a function of
// float64 tensors is changed slightly, and the effect is compared with autograd's gradient.
#pragma once

#include <ambit/autograd.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <ambit/testing/report.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ambit::test {

/// A function of all inputs that returns one tensor.
using TensorFunction = std::function<Tensor(const std::vector<Tensor>&)>;

/// How gradcheck() differentiates and compares.
struct GradcheckOptions {
  /// Central differences with step h have a truncation error of h^2 |f'''| / 6 = 2e-11 |f'''|, and
  /// a rounding error of eps |f| / h = 2e-11 |f|.
  double step = 1e-5;
  /// Maximum of |numeric - autograd|, multiplied by |numeric| if that is above 1: the errors above,
  /// with a margin for sums over hundreds of elements.
  double tolerance = 1e-6;
};

/// Return distinct weights of the output's shape, so that a formula that permutes elements fails.
inline Tensor weights_like(const Tensor& out) {
  // Does not use the generator: f may draw from it, and must get the same numbers each time.
  const Tensor w = arange(1, out.numel() + 1, 1, out.options());
  return remainder(w * 0.6180339887498949, 1.0).reshape(out.sizes()) + 0.5;
}

/// A function of the inputs as a vector, or of one to four tensors, as a TensorFunction.
template <class F>
TensorFunction of_inputs(const F& f) {
  using T = const Tensor&;
  using All = std::vector<Tensor>;
  if constexpr (std::is_invocable_v<const F&, const All&>) {
    return [&f](const All& x) -> Tensor { return f(x); };
  } else if constexpr (std::is_invocable_v<const F&, T>) {
    return [&f](const All& x) -> Tensor { return f(x.at(0)); };
  } else if constexpr (std::is_invocable_v<const F&, T, T>) {
    return [&f](const All& x) -> Tensor { return f(x.at(0), x.at(1)); };
  } else if constexpr (std::is_invocable_v<const F&, T, T, T>) {
    return [&f](const All& x) -> Tensor { return f(x.at(0), x.at(1), x.at(2)); };
  } else {
    return [&f](const All& x) -> Tensor { return f(x.at(0), x.at(1), x.at(2), x.at(3)); };
  }
}

/// The differences, one per line; only the first three are kept.
class Differences {
 public:
  /// Add the difference of one input element: both gradients.
  void add(size_t input, int64_t element, double numeric, double value) {
    if (++count_ > 3) return;
    lines_ << "\n  input " << input << " element " << element << ": numeric " << numeric
           << ", autograd " << value;
  }
  /// Return a report that begins with `name`; "" if nothing was added.
  std::string report(const char* name) const {
    if (count_ == 0) return "";
    return std::string(name) + ": expected autograd's gradients to be the numeric ones, got " +
           std::to_string(count_) + " elements that differ" + lines_.str() +
           (count_ > 3 ? "\n  ..." : "");
  }

 private:
  size_t count_ = 0;
  std::ostringstream lines_;
};

/// Return the inputs to differentiate, as leaves that require grad; errors of the inputs are added
/// to `report`.
inline std::vector<Tensor> leaves_of(const char* name, std::vector<Tensor>& inputs,
                                     std::string& report) {
  std::vector<Tensor> leaves;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor& x = inputs[i];
    if (!x.defined() || !x.is_floating_point()) continue;
    if (x.dtype() != kFloat64) {
      report = std::string(name) + ": expected float64, got input " + std::to_string(i) + " of " +
               std::string(ambit::name(x.dtype()));
      return {};
    }
    x = x.detach().clone();
    x.requires_grad_();
    leaves.push_back(x);
  }
  if (leaves.empty()) report = std::string(name) + ": expected a floating-point input, got none";
  return leaves;
}

/// gradcheck() with the name that begins its report.
inline std::string gradcheck_named(const char* name, const TensorFunction& f,
                                   std::vector<Tensor> inputs, const GradcheckOptions& options) {
  std::string report;
  const std::vector<Tensor> leaves = leaves_of(name, inputs, report);
  if (!report.empty()) return report;
  const auto loss = [&] {
    const Tensor out = f(inputs);
    return (out * weights_like(out)).sum();
  };
  const std::vector<Tensor> analytic = autograd::grad({loss()}, leaves);
  const NoGradGuard no_grad;
  Differences differences;
  for (size_t k = 0; k < leaves.size(); ++k) {
    if (analytic[k].sizes() != leaves[k].sizes() || analytic[k].device() != leaves[k].device()) {
      return std::string(name) + ": expected a gradient like input " + std::to_string(k) + ", " +
             str(leaves[k].sizes()) + " on " + leaves[k].device().str() + ", got " +
             str(analytic[k].sizes()) + " on " + analytic[k].device().str();
    }
    const Tensor flat = leaves[k].view({-1}), got = analytic[k].reshape({-1}).cpu();
    for (int64_t i = 0; i < flat.numel(); ++i) {
      const Tensor x = flat.narrow(0, i, 1);
      const double before = x.item<double>();
      const auto at = [&](double offset) {
        x.fill_(before + offset);
        return loss().item<double>();
      };
      const double above = at(options.step), below = at(-options.step);
      x.fill_(before);
      const double numeric = (above - below) / (2 * options.step);
      const double value = got.select(0, i).item<double>();
      // Written so that NaN is a difference.
      const double bound = options.tolerance * std::max(1.0, std::abs(numeric));
      if (!(std::abs(numeric - value) <= bound)) differences.add(k, i, numeric, value);
    }
  }
  return differences.report(name);
}

/// Return "" if autograd's gradients of sum(f(inputs) * weights) equal central differences, else
/// the elements that differ. `f` accepts a std::vector<Tensor> or one to four tensors, and returns
/// a Tensor of any shape, the same each time; weights differ by element. Inputs have any shapes
/// and devices; floating-point ones are differentiated and must be float64. They are copied and not
/// modified. Calls f twice for each element. Errors: those of f, and AutogradError if its result
/// does not depend on an input. Source: torch.autograd.gradcheck, without its checks of layouts
/// and forward mode.
template <class F>
std::string gradcheck(const F& f, std::vector<Tensor> inputs,
                      const GradcheckOptions& options = {}) {
  return gradcheck_named("gradcheck", of_inputs(f), std::move(inputs), options);
}

/// As gradcheck(), for the gradients of the gradients of f: double backward. Source:
/// torch.autograd.gradgradcheck.
template <class F>
std::string gradgradcheck(const F& f, std::vector<Tensor> inputs,
                          const GradcheckOptions& options = {}) {
  const TensorFunction function = of_inputs(f);
  const size_t count = inputs.size();
  // The gradient flowing in is an input too: it may be anything, and its gradient counts.
  const Tensor probe = function(inputs).detach();
  inputs.push_back(weights_like(probe));
  const auto gradients = [&](const std::vector<Tensor>& all) {
    std::vector<Tensor> xs(all.begin(), all.begin() + static_cast<long>(count)), wanted;
    for (Tensor& x : xs) {
      if (!x.defined() || !x.is_floating_point()) continue;
      // Under NoGradGuard (the numeric side) the graph of the first gradient is still needed.
      if (!x.requires_grad()) x.requires_grad_();
      wanted.push_back(x);
    }
    const AutoGradMode on(true);
    const std::vector<Tensor> grads =
        autograd::grad({function(xs)}, wanted, {all.back()}, std::nullopt, true, true);
    Tensor total = zeros({}, probe.options());
    for (const Tensor& g : grads) {
      if (g.defined()) total = total + (g * weights_like(g)).sum();
    }
    // If f is linear, its gradient does not depend on x, and the expected value is 0.
    for (const Tensor& x : wanted) total = total + (x * 0).sum();
    return total;
  };
  return gradcheck_named("gradgradcheck", gradients, std::move(inputs), options);
}

}  // namespace ambit::test

/// Check the gradients of a function: CHECK_GRADIENTS(f, {x, weight}), with GradcheckOptions after
/// the inputs if needed; see test::gradcheck().
#define CHECK_GRADIENTS(...) CHECK_REPORT(ambit::test::gradcheck(__VA_ARGS__))
/// As CHECK_GRADIENTS, for the gradients of the gradients; see test::gradgradcheck().
#define CHECK_SECOND_GRADIENTS(...) CHECK_REPORT(ambit::test::gradgradcheck(__VA_ARGS__))
