// Numeric gradients verify every backward formula. Each input element of a function of float64
// tensors is perturbed, and the change is compared with autograd's gradient.
#pragma once

#include <ambit/autograd.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "tests/function_ref.h"

using TensorFn = std::function<ambit::Tensor(const std::vector<ambit::Tensor>&)>;
using TensorFnRef = FunctionRef<ambit::Tensor(const std::vector<ambit::Tensor>&)>;

/// Return random weights of the output's shape, which reveal formulas that permute elements.
inline ambit::Tensor weights_like(const ambit::Tensor& out) {
  // Does not use the generator: f may draw from it and must get the same numbers each time.
  ambit::Tensor w = ambit::arange(1, out.numel() + 1, 1, out.options());
  return ambit::remainder(w * 0.6180339887498949, 1.0).reshape(out.sizes()) + 0.5;
}

/// Compare autograd's gradients of sum(f(inputs) * weights) with central differences. Inputs are
/// float64; gradients are computed for the floating-point ones.
inline void gradcheck(TensorFnRef f, std::vector<ambit::Tensor> inputs) {
  using namespace ambit;
  // Central differences with step h have a truncation error of h^2 |f'''| / 6 ~ 1e-11 |f'''| and a
  // rounding error of eps |f| / h ~ 1e-10 |f|; 1e-6 is sufficient for sums over hundreds of
  // elements.
  constexpr double kStep = 1e-5, kTolerance = 1e-6;
  std::vector<Tensor> wanted;
  for (Tensor& x : inputs) {
    if (!x.defined() || !x.is_floating_point()) continue;
    REQUIRE(x.dtype() == kFloat64);
    x = x.detach().clone();
    x.requires_grad_();
    wanted.push_back(x);
  }
  const auto loss = [&] {
    const Tensor out = f(inputs);
    return (out * weights_like(out)).sum();
  };
  const std::vector<Tensor> analytic = autograd::grad({loss()}, wanted);
  const NoGradGuard no_grad;
  for (size_t k = 0; k < wanted.size(); ++k) {
    REQUIRE(analytic[k].sizes() == wanted[k].sizes());
    REQUIRE(analytic[k].device() == wanted[k].device());
    const Tensor flat = wanted[k].view({-1}), got = analytic[k].reshape({-1}).cpu();
    for (int64_t i = 0; i < flat.numel(); ++i) {
      const Tensor x = flat.narrow(0, i, 1);
      const double before = x.item<double>();
      x.fill_(before + kStep);
      const double above = loss().item<double>();
      x.fill_(before - kStep);
      const double below = loss().item<double>();
      x.fill_(before);
      const double numeric = (above - below) / (2 * kStep);
      const double value = got.select(0, i).item<double>();
      INFO("input ", k, " element ", i, ": numeric ", numeric, ", autograd ", value);
      CHECK(std::abs(numeric - value) <= kTolerance * std::max(1.0, std::abs(numeric)));
    }
  }
}

/// The same for the gradients of the gradients (double backward).
inline void gradgradcheck(TensorFnRef f, std::vector<ambit::Tensor> inputs) {
  using namespace ambit;
  const size_t count = inputs.size();
  // The incoming gradient is an input too: it has any value, and its gradient is checked.
  const Tensor probe = f(inputs).detach();
  inputs.push_back(weights_like(probe));
  gradcheck(
      [&](const std::vector<Tensor>& all) {
        std::vector<Tensor> xs(all.begin(), all.begin() + static_cast<long>(count)), wanted;
        for (Tensor& x : xs) {
          if (!x.defined() || !x.is_floating_point()) continue;
          // Under NoGradGuard (numeric differences) the first gradient still needs its graph.
          if (!x.requires_grad()) x.requires_grad_();
          wanted.push_back(x);
        }
        const AutoGradMode on(true);
        const std::vector<Tensor> grads =
            autograd::grad({f(xs)}, wanted, {all.back()}, std::nullopt, true, true);
        Tensor total = zeros({}, probe.options());
        for (const Tensor& g : grads) {
          if (g.defined()) total = total + (g * weights_like(g)).sum();
        }
        // If f is linear its gradient does not depend on x, and the expected result is zero.
        for (const Tensor& x : wanted) total = total + (x * 0).sum();
        return total;
      },
      std::move(inputs));
}
