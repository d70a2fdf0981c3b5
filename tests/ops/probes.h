// Compares large results with PyTorch's by a few probe values.
#pragma once

#include <ambit/autograd.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <cstdint>
#include <vector>

#include "tests/expected.h"

/// Probes of a tensor t: its first and last element, and (t.flatten() * wave(t.numel(),
/// k=0.31)).sum().
using Probes = std::vector<double>;

inline void check_probes(const ambit::Tensor& t, const Probes& expected) {
  const ambit::Tensor flat = t.detach().reshape({-1});
  const ambit::Tensor sum = (flat * wave(t.device(), {t.numel()}, 0.31)).sum();
  check_values(ambit::stack({flat[0], flat[-1], sum}), {3}, expected);
}

/// Check probes of y and, after (y * wave(*y.shape, k=0.9)).sum().backward(), of x.grad.
inline void check_with_gradient(const ambit::Tensor& x, const ambit::Tensor& y,
                                const std::vector<int64_t>& sizes, const Probes& value,
                                const Probes& dx) {
  REQUIRE(y.sizes() == ambit::IntArrayRef(sizes));
  check_probes(y, value);
  (y * wave(y.device(), y.sizes(), 0.9)).sum().backward();
  check_probes(x.grad(), dx);
}
