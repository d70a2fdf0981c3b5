// Maximum, minimum and clamp.
#include <ambit/detail/activation.h>
#include <ambit/detail/ternary_grad.h>
#include <ambit/error.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

#include "binary.h"
#include "core/ops/composite.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/scalar_operand.h"
#include "where.h"

namespace ambit {
namespace {

// The gradient of `mine`, the operand compared with `other`: dy where `mine` was selected, dy / 2
// for ties.
template <BinaryOp kernel>
auto share_of(const Tensor& mine, const Tensor& other) {
  constexpr bool kLargest = kernel == BinaryOp::maximum;
  constexpr TernaryOp kShare = kLargest ? TernaryOp::maximum_grad : TernaryOp::minimum_grad;
  return [back = ReduceGradTo(mine), a = saved(mine), b = saved(other)](const Tensor& g) {
    return back(ternary_grad(kShare, g, a(), b()));
  };
}

template <BinaryOp kernel>
struct Extreme {
  static constexpr const char* kName = kernel == BinaryOp::maximum ? "maximum" : "minimum";
  static constexpr BinaryOp kKernel = kernel;
  static constexpr Domain kDomain = Domain::any;
  static auto self_grad(const Tensor& self, const Tensor& other) {
    return share_of<kernel>(self, other);
  }
  static auto other_grad(const Tensor& self, const Tensor& other) {
    return share_of<kernel>(other, self);
  }
};

// Return true if t may contain NaN. Only tensors on the CPU are checked: on another device the
// check would block.
bool may_have_nan(const Tensor& t) {
  if (!t.is_cpu()) return true;
  const NoGradGuard no_grad;
  return t.numel() > 0 && std::isnan(max(t).item<double>());
}

// fmax and fmin differ from maximum and minimum for NaN: they select the operand that is a number,
// and self if both are NaN.
template <BinaryOp kernel>
struct ExtremeIgnoringNaN {
  static constexpr const char* kName = kernel == BinaryOp::fmax ? "fmax" : "fmin";
  static constexpr BinaryOp kKernel = kernel;
  static constexpr Domain kDomain = Domain::any;
  static constexpr TernaryOp kShare =
      kernel == BinaryOp::fmax ? TernaryOp::maximum_grad : TernaryOp::minimum_grad;
  static auto self_grad(const Tensor& self, const Tensor& other) {
    return [back = ReduceGradTo(self), a = saved(self), b = saved(other)](const Tensor& g) {
      const Tensor share = ternary_grad(kShare, g, a(), b());
      if (!may_have_nan(a())) return back(share);
      const Tensor other_alone = logical_and(isnan(a()), eq(b(), b()));
      return back(grad_where(share, other_alone, false));
    };
  }
  static auto other_grad(const Tensor& self, const Tensor& other) {
    return [back = ReduceGradTo(other), a = saved(self), b = saved(other)](const Tensor& g) {
      const Tensor share = ternary_grad(kShare, g, b(), a());
      return back(may_have_nan(b()) ? grad_where(share, isnan(b()), false) : share);
    };
  }
};

using Bound = std::optional<Scalar>;
using Bounds = std::optional<Tensor>;

// Bounds as the kernel requires them: in the range of the result's dtype.
struct CheckedBounds {
  CheckedBounds(const char* op, const Tensor& self, const Bound& low, const Bound& high)
      : min(low), max(high) {
    expect_defined(op, "self", self);
    if (!min && !max) throw Error(fmt::format("{}: expected min or max, got neither", op));
    dtype = self.dtype();
    if (min) dtype = promote_types(dtype, result_type(self, *min));
    if (max) dtype = promote_types(dtype, result_type(self, *max));
    keep_in_range(op, min, "min", -1);
    keep_in_range(op, max, "max", 1);
  }
  // Remove an integer bound that no element exceeds: a min below the range, a max above it.
  void keep_in_range(const char* op, Bound& bound, const char* argument, int unlimited) const {
    if (!bound) return;
    const int side = side_of_range(*bound, dtype);
    if (side == unlimited) {
      bound.reset();
    } else if (side != 0) {
      throw DTypeError(fmt::format("{}: expected a {} in the range of {}, got {}", op, argument,
                                   name(dtype), text_of(*bound)));
    } else {
      check_fits(op, *bound, dtype);
    }
  }
  void run(Tensor& y, const Tensor& x) const {
    if (min || max) return kernels::clamp(y, x, min, max);
    if (!y.is_same(x)) kernels::copy(y, x);
  }

  Bound min, max;
  DType dtype{};
};

auto grad_of_clamp(const Tensor& before, const Bound& min, const Bound& max) {
  return [x = saved(before), min, max](const Tensor& g) {
    return clamp_grad(g, x(), min, max, /*passes_nan=*/false);
  };
}

// kernels::clamp_grad as differentiable ops.
Tensor masked_grad(const Tensor& g, const Tensor& x, const Bound& min, const Bound& max,
                   bool passes_nan) {
  Tensor mask;  // true outside the bounds if NaN passes, else true inside
  if (min) mask = passes_nan ? le(x, *min) : gt(x, *min);
  if (max) {
    const Tensor by_max = passes_nan ? ge(x, *max) : lt(x, *max);
    mask = !min ? by_max : passes_nan ? logical_or(mask, by_max) : logical_and(mask, by_max);
  }
  return grad_where(g, mask, !passes_nan);
}

}  // namespace

Tensor maximum(const Tensor& self, const Tensor& other) {
  return binary<Extreme<BinaryOp::maximum>>(self, other);
}
Tensor minimum(const Tensor& self, const Tensor& other) {
  return binary<Extreme<BinaryOp::minimum>>(self, other);
}

Tensor clamp(const Tensor& self, Bound min, Bound max) {
  const CheckedBounds bounds("clamp", self, min, max);
  Tensor out = allocate("clamp", self.sizes(), bounds.dtype, self.device());
  bounds.run(out, operand(self, self.sizes(), bounds.dtype, self.device()));
  if (!needs_gradient(self)) return out;
  return record("clamp", std::move(out), wrt(self, grad_of_clamp(self, min, max)));
}

const Tensor& clamp_(const Tensor& self, Bound min, Bound max) {
  const CheckedBounds bounds("clamp_", self, min, max);
  check_casts_to("clamp_", bounds.dtype, self.dtype());
  check_in_place("clamp_", self);
  const Tensor before = needs_gradient(self) ? self.clone() : self;
  // self has the result's dtype, since bounds of self's category or a lower one do not change it.
  Tensor y = self;
  bounds.run(y, self);
  record_in_place("clamp", self, wrt(self, grad_of_clamp(before, min, max)));
  return self;
}

namespace {

// Do the checks of a clamp by tensors, so that errors have its name instead of the names of maximum
// and minimum.
void check_bounds(const char* op, const Tensor& self, const Bounds& min, const Bounds& max,
                  DeviceRule rule) {
  expect_defined(op, "self", self);
  if (!min && !max) throw Error(fmt::format("{}: expected min or max, got neither", op));
  if (min) expect_defined(op, "min", *min);
  if (max) expect_defined(op, "max", *max);
  if (!max) {
    check_devices(op, {{"self", self}, {"min", *min}}, rule);
  } else if (!min) {
    check_devices(op, {{"self", self}, {"max", *max}}, rule);
  } else {
    check_devices(op, {{"self", self}, {"min", *min}, {"max", *max}}, rule);
  }
  Dims sizes = self.sizes();
  if (min) sizes = broadcast(op, sizes, min->sizes());
  if (max) sizes = broadcast(op, sizes, max->sizes());
}

Tensor run_clamp(const Tensor& self, const Bounds& min, const Bounds& max) {
  const NoGradGuard no_grad;
  const Tensor y = min ? maximum(self, *min) : self;
  return max ? minimum(y, *max) : y;
}

// The gradients of a clamp by tensors; if min > max, max is selected. With one bound they are the
// gradients of maximum and minimum. With both, the gradient is divided between x and a bound that
// equals it, except where min == max: there x gets the whole gradient.
struct BoundedGrads {
  BoundedGrads(const Tensor& before, const Tensor& min, const Tensor& max)
      : x(saved(before)), both(min.defined() && max.defined()) {
    if (min.defined()) low = saved(min);
    if (max.defined()) high = saved(max);
    if (both) found = std::make_shared<Found>();
  }
  Tensor self(const Tensor& g, bool has_min) const {
    if (!both && has_min) return ternary_grad(TernaryOp::maximum_grad, g, x(), low());
    if (!both) return ternary_grad(TernaryOp::minimum_grad, g, x(), high());
    if (is_ordered()) {
      const Tensor below_max = ternary_grad(TernaryOp::minimum_grad, g, x(), high());
      return ternary_grad(TernaryOp::maximum_grad, below_max, x(), low());
    }
    const Tensor outside = logical_or(lt(x(), low()), gt(x(), high()));
    return grad_where(halved(g, logical_or(ties(low()), ties(high()))), outside, false);
  }
  Tensor min(const Tensor& g) const {
    if (!both || is_plain()) return ternary_grad(TernaryOp::maximum_grad, g, low(), x());
    const Tensor below = logical_and(lt(x(), low()), le(low(), high())), tie = ties(low());
    return grad_where(halved(g, tie), logical_or(below, tie), true);
  }
  Tensor max(const Tensor& g) const {
    if (!both || is_plain()) return ternary_grad(TernaryOp::minimum_grad, g, high(), x());
    const Tensor above = logical_and(gt(x(), high()), le(low(), high())), tie = ties(high());
    return grad_where(halved(g, tie), logical_or(logical_or(above, tie), lt(high(), low())), true);
  }
  // True if min < max everywhere, the usual case; checked only on the CPU, since the check would
  // block on other devices.
  bool is_ordered() const {
    return remembered(found->is_ordered, [this] {
      return low().is_cpu() && high().is_cpu() && all(lt(low(), high())).item<bool>();
    });
  }
  // True if each bound's gradient is that of a clamp with this bound alone.
  bool is_plain() const {
    return is_ordered() && remembered(found->has_numbers, [this] { return !may_have_nan(x()); });
  }
  Tensor ties(const Tensor& bound) const { return logical_and(eq(x(), bound), lt(low(), high())); }
  static Tensor halved(const Tensor& g, const Tensor& tie) { return where(tie, g * 0.5, g); }

  // Properties of the saved operands, which cannot change. The first formula that needs one
  // computes it; two threads may compute the same value.
  struct Found {
    std::atomic<int8_t> is_ordered = -1, has_numbers = -1;  // -1: not known yet
  };
  template <class F>
  static bool remembered(std::atomic<int8_t>& value, const F& find) {
    if (value < 0) {
      const NoGradGuard no_grad;
      value = find();
    }
    return value != 0;
  }

  Saved x, low, high;
  bool both;
  std::shared_ptr<Found> found;  // shared by the formulas of both bounds
};

// Call record(wrt...) with the formulas of a clamp of `self` with old value `before`.
template <class Record>
void with_formulas(const Tensor& self, const Tensor& before, const Bounds& min, const Bounds& max,
                   const Record& record_formulas) {
  const Tensor low = min.value_or(Tensor()), high = max.value_or(Tensor());
  BoundedGrads grads(before, low, high);
  record_formulas(wrt(self, [=, back = ReduceGradTo(self), has_min = low.defined()](
                                const Tensor& g) { return back(grads.self(g, has_min)); }),
                  wrt(low, [=, back = ReduceGradTo(low.defined() ? low : self)](
                               const Tensor& g) { return back(grads.min(g)); }),
                  wrt(high, [=, back = ReduceGradTo(high.defined() ? high : self)](
                                const Tensor& g) { return back(grads.max(g)); }));
}

bool any_needs_gradient(const Tensor& self, const Bounds& min, const Bounds& max) {
  return needs_gradient(self, min.value_or(Tensor()), max.value_or(Tensor()));
}

Tensor clamp_by(const char* op, const Tensor& self, const Bounds& min, const Bounds& max) {
  check_bounds(op, self, min, max, DeviceRule::elementwise);
  Tensor out = run_clamp(self, min, max);
  if (!any_needs_gradient(self, min, max)) return out;
  with_formulas(self, self, min, max, [&](auto&&... formulas) {
    out = record("clamp", std::move(out), std::forward<decltype(formulas)>(formulas)...);
  });
  return out;
}

const Tensor& clamp_by_in_place(const char* op, const Tensor& self, const Bounds& min,
                                const Bounds& max) {
  check_bounds(op, self, min, max, DeviceRule::in_place_elementwise);
  DType dtype = self.dtype();
  for (const Bounds* bound : {&min, &max}) {
    if (!*bound) continue;
    dtype = promote_types(dtype, result_type(self, **bound));
    check_broadcasts_to(op, (*bound)->sizes(), self.sizes());
  }
  check_casts_to(op, dtype, self.dtype());
  check_in_place(op, self);
  if (!any_needs_gradient(self, min, max)) {
    store(self, run_clamp(self, min, max));
    self.bump_version();
    return self;
  }
  for (const Bounds* bound : {&min, &max}) check_savable(op, self, bound->value_or(Tensor()));
  const Tensor before = self.clone();
  store(self, run_clamp(before, min, max));
  with_formulas(self, before, min, max, [&](auto&&... formulas) {
    record_in_place("clamp", self, std::forward<decltype(formulas)>(formulas)...);
  });
  return self;
}

}  // namespace

Tensor clamp(const Tensor& self, const Bounds& min, const Bounds& max) {
  return clamp_by("clamp", self, min, max);
}
const Tensor& clamp_(const Tensor& self, const Bounds& min, const Bounds& max) {
  return clamp_by_in_place("clamp_", self, min, max);
}
Tensor clamp_min(const Tensor& self, const Tensor& min) {
  return clamp_by("clamp_min", self, min, {});
}
const Tensor& clamp_min_(const Tensor& self, const Tensor& min) {
  return clamp_by_in_place("clamp_min_", self, min, {});
}
Tensor clamp_max(const Tensor& self, const Tensor& max) {
  return clamp_by("clamp_max", self, {}, max);
}
const Tensor& clamp_max_(const Tensor& self, const Tensor& max) {
  return clamp_by_in_place("clamp_max_", self, {}, max);
}
Tensor clamp_min(const Tensor& self, const Scalar& min) {
  expect_defined("clamp_min", "self", self);
  return clamp(self, min);
}
const Tensor& clamp_min_(const Tensor& self, const Scalar& min) {
  expect_defined("clamp_min_", "self", self);
  return clamp_(self, min);
}
Tensor clamp_max(const Tensor& self, const Scalar& max) {
  expect_defined("clamp_max", "self", self);
  return clamp(self, std::nullopt, max);
}
const Tensor& clamp_max_(const Tensor& self, const Scalar& max) {
  expect_defined("clamp_max_", "self", self);
  return clamp_(self, std::nullopt, max);
}

Tensor clamp_grad(const Tensor& g, const Tensor& x, const Bound& min, const Bound& max,
                  bool passes_nan) {
  const auto rounded = [&](const Bound& bound) -> Bound {
    if (!bound || !is_reduced_floating(x.dtype())) return bound;
    return scalar_on(*bound, x.dtype(), kCPU).item();
  };
  if (GradMode::is_enabled()) return masked_grad(g, x, rounded(min), rounded(max), passes_nan);
  Tensor dx = allocate("clamp_grad", g.sizes(), g.dtype(), g.device());
  kernels::clamp_grad(dx, g, x, rounded(min), rounded(max), passes_nan);
  return dx;
}

Tensor fmax(const Tensor& self, const Tensor& other) {
  return binary<ExtremeIgnoringNaN<BinaryOp::fmax>>(self, other);
}
Tensor fmin(const Tensor& self, const Tensor& other) {
  return binary<ExtremeIgnoringNaN<BinaryOp::fmin>>(self, other);
}

void composite::clamp(Tensor& y, const Tensor& x, const Bound& min, const Bound& max) {
  if (!min && !max) return kernels::copy(y, x);
  if (min) kernels::binary_scalar(y, x, {*min}, BinaryOp::maximum);
  if (max) kernels::binary_scalar(y, min ? y : x, {*max}, BinaryOp::minimum);
}

void composite::clamp_grad(Tensor& dx, const Tensor& dy, const Tensor& x, const Bound& min,
                           const Bound& max, bool passes_nan) {
  if (!min && !max) return kernels::copy(dx, dy);
  kernels::copy(dx, masked_grad(dy, x, min, max, passes_nan));
}

}  // namespace ambit
