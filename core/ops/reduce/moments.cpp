// Reductions with a formula: variance, norms, log of a sum of exponentials. The file is long
// because they share the scaling that keeps powers in range.
#include <ambit/backend/op.h>
#include <ambit/backend/registry.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/by_float32.h>
#include <ambit/detail/record.h>
#include <ambit/detail/warning.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/dispatch/parts.h"
#include "core/ops/elementwise/activation_grads.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/unrecorded.h"
#include "reduce_shape.h"

namespace ambit {
namespace {

using Correction = std::optional<Scalar>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The divisor of the squares; it is 0 if the correction is not below the count, so that the
// quotient is NaN or infinite as in libtorch.
double divisor(const ReduceShape& shape, double correction) {
  return std::max(static_cast<double>(shape.count) - correction, 0.);
}

double number(const Correction& correction) { return correction ? correction->to<double>() : 1; }

// Warn, as PyTorch does, if the divisor is not positive.
void check_degrees_of_freedom(const char* op, const ReduceShape& shape, double correction) {
  if (static_cast<double>(shape.count) > correction) return;
  detail::warn(detail::Warning::degrees_of_freedom, op);
}

// Return, in shape.kept, the largest power of two not above the largest |x| of each result:
// dividing x by it is exact and keeps squares in range. It is finite for infinities, so that they
// remain infinite.
Tensor magnitude(const Tensor& x, const ReduceShape& shape) {
  using Limits = std::numeric_limits<double>;
  const Tensor most = run_reduce(x, shape, ReduceOp::max, kFloat64);
  const Tensor least = run_reduce(x, shape, ReduceOp::min, kFloat64);
  const Tensor top = maximum(most, least.neg_());
  top.clamp_(Limits::min(), Limits::max());
  view(top, kInt64).bitwise_and_(std::bit_cast<int64_t>(Limits::infinity()));  // exponents
  set_sizes(top, shape.kept);
  return top;
}

// The variance, or its square root, of elements whose squares fit in a double.
Tensor run_var_unscaled(const Tensor& x, const ReduceShape& shape, double correction, bool root) {
  if (correction == 0) {
    return run_reduce(x, shape, root ? ReduceOp::std : ReduceOp::var, x.dtype());
  }
  if (correction == 1) {
    return run_reduce(x, shape, root ? ReduceOp::std_unbiased : ReduceOp::var_unbiased, x.dtype());
  }
  if (is_reduced_floating(x.dtype())) {
    return run_var_unscaled(x.to(kFloat32), shape, correction, root).to(x.dtype());
  }
  const double factor = static_cast<double>(shape.count) / divisor(shape, correction);
  const Tensor out = run_reduce(x, shape, root ? ReduceOp::std : ReduceOp::var, x.dtype());
  return out.mul_(root ? std::sqrt(factor) : factor);
}

// As above for any elements: there is no wider dtype for the squares of float64.
Tensor run_var(const Tensor& x, const ReduceShape& shape, double correction, bool root) {
  const NoGradGuard no_grad;
  if (x.dtype() != kFloat64 || shape.count == 0) {
    return run_var_unscaled(x, shape, correction, root);
  }
  const Tensor scale = magnitude(x, shape);
  const Tensor out = run_var_unscaled(x / scale, shape, correction, root);
  set_sizes(scale, shape.result);
  return root ? out.mul_(scale) : out.mul_(scale).mul_(scale);
}

// d var / d x = 2 (x - mean) / n; the derivative of the mean cancels.
Tensor var_grad(const Tensor& g, const Tensor& x, const Dims& kept, const Dims& dims, double n) {
  return with_kept_dims(g * (2 / n), kept) * (x - mean(x, dims, true));
}

// The gradient of the root y is var_grad / (2 y). The root is not differentiable at 0; there, as in
// libtorch, the gradient is 0.
Tensor std_grad(const Tensor& g, const Tensor& x, const Tensor& y, const Dims& kept,
                const Dims& dims, double n) {
  const Tensor root_grad = relu_grad(g / y * (1 / n), y);
  return with_kept_dims(root_grad, kept) * (x - mean(x, dims, true));
}

}  // namespace

Tensor var(const Tensor& self, bool unbiased) { return var(self, IntArrayRef(), unbiased); }

Tensor var(const Tensor& self, IntArrayRef dims, bool unbiased, bool keepdim) {
  return var(self, dims, Correction(unbiased ? 1 : 0), keepdim);
}

namespace {

Tensor var_of(const char* op, const Tensor& self, IntArrayRef dims, const Correction& given,
              bool keepdim) {
  expect_inexact(op, self);
  if (self.is_complex()) {
    return var_of(op, real(self), dims, given, keepdim) +
           var_of(op, imag(self), dims, given, keepdim);
  }
  ReduceShape shape(op, self.sizes(), dims, keepdim);
  const double correction = number(given);
  check_degrees_of_freedom(op, shape, correction);
  const double n = divisor(shape, correction);
  Tensor out = run_var(self, shape, correction, false);
  return record("var", std::move(out),
                wrt(self, [x = saved(self), kept = std::move(shape.kept), dims = Dims(dims),
                           n](const Tensor& g) {
                  return by_float32(g.dtype(), var_grad, g, x(), kept, dims, n);
                }));
}

}  // namespace

Tensor var(const Tensor& self, IntArrayRef dims, const Correction& correction, bool keepdim) {
  return var_of("var", self, dims, correction, keepdim);
}

Tensor std(const Tensor& self, bool unbiased) { return ambit::std(self, IntArrayRef(), unbiased); }

Tensor std(const Tensor& self, IntArrayRef dims, bool unbiased, bool keepdim) {
  return ambit::std(self, dims, Correction(unbiased ? 1 : 0), keepdim);
}

namespace {

Tensor std_of(const char* op, const Tensor& self, IntArrayRef dims, const Correction& given,
              bool keepdim) {
  expect_inexact(op, self);
  if (self.is_complex()) {
    const Tensor square = var_of(op, self, dims, given, keepdim);
    return sqrt(masked_fill(square, square == 0, 0));  // the gradient at 0 is 0
  }
  ReduceShape shape(op, self.sizes(), dims, keepdim);
  const double correction = number(given);
  check_degrees_of_freedom(op, shape, correction);
  const double n = divisor(shape, correction);
  Tensor out = run_var(self, shape, correction, true);
  return record("std", out,
                wrt(self, [x = saved(self), y = saved_output(out), kept = std::move(shape.kept),
                           dims = Dims(dims), n](const Tensor& g) {
                  return by_float32(g.dtype(), std_grad, g, x(), y(), kept, dims, n);
                }));
}

}  // namespace

Tensor std(const Tensor& self, IntArrayRef dims, const Correction& correction, bool keepdim) {
  return std_of("std", self, dims, correction, keepdim);
}

#define AMBIT_WITH_MEAN(name)                                                                      \
  std::tuple<Tensor, Tensor> name##_mean(const Tensor& self, IntArrayRef dims,                     \
                                         const Correction& correction, bool keepdim) {             \
    expect_defined(#name "_mean", "self", self);                                                   \
    return {name##_of(#name "_mean", self, dims, correction, keepdim), mean(self, dims, keepdim)}; \
  }                                                                                                \
  std::tuple<Tensor, Tensor> name##_mean(const Tensor& self, IntArrayRef dims, bool unbiased,      \
                                         bool keepdim) {                                           \
    return name##_mean(self, dims, Correction(unbiased ? 1 : 0), keepdim);                         \
  }                                                                                                \
  std::tuple<Tensor, Tensor> name##_mean(const Tensor& self, bool unbiased) {                      \
    return name##_mean(self, IntArrayRef(), unbiased, false);                                      \
  }
AMBIT_WITH_MEAN(var)
AMBIT_WITH_MEAN(std)
#undef AMBIT_WITH_MEAN

namespace {

// Return run(x, shape) for reduced floating-point x, upcast part by part, so that x is never upcast
// as a whole. If the split dim is reduced, run is applied again to the parts' results.
template <class Run>
Tensor by_float32_parts(const Tensor& x, const ReduceShape& shape, const Run& run) {
  const int64_t most = x.device().is_meta() ? x.numel() : part_elements(x.device());
  if (x.numel() <= most) return run(x.to(kFloat32), shape);
  int64_t dim = 0;  // the longest kept dim; without kept dims, the longest one
  const auto worth = [&](int64_t d) {
    return std::pair(shape.kept[static_cast<size_t>(d)], x.size(d));
  };
  for (int64_t d = 1; d < x.dim(); ++d) dim = worth(d) > worth(dim) ? d : dim;
  const int64_t step = std::max<int64_t>(most / (x.numel() / x.size(dim)), 1);
  const bool goes = shape.kept[static_cast<size_t>(dim)] == 1;
  ReduceShape of_part = shape;
  std::vector<Tensor> parts;
  for (const Tensor& part : x.split(step, dim)) {
    if (!goes) of_part.kept[static_cast<size_t>(dim)] = part.size(dim);
    of_part.result = of_part.kept;
    parts.push_back(by_float32_parts(part, of_part, run));
  }
  const Tensor all = cat(parts, dim);
  if (goes) return run(all, shape);
  set_sizes(all, shape.result);
  return all;
}

// Return a mask of the sums of powers, in float32 or float64, that overflowed, underflowed or are
// inexact because of subnormal numbers; false for NaN. `are_roots`: sums of squares given as square
// roots.
Tensor out_of_range(const Tensor& sums, bool are_roots) {
  return visit<dtypes::kFloating>(sums.dtype(), [&]<class T>() {
    using Limits = std::numeric_limits<T>;
    const auto least = static_cast<double>(Limits::min() / Limits::epsilon());
    return logical_or(
        sums<(are_roots ? std::sqrt(least) : least), sums> static_cast<double>(Limits::max()));
  });
}

// Return, in shape.kept, the divisor of each result's elements that keeps their powers in range.
// `peak` is the largest |x|, for p < 0 the smallest. The divisor is finite for infinities, so that
// they remain infinite.
Tensor scale_of_norm(const Tensor& x, const Tensor& peak, const ReduceShape& shape, double p) {
  if (p == 2) return magnitude(x, shape);
  const Tensor scale = visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    using Limits = std::numeric_limits<T>;
    return clamp(peak, static_cast<double>(Limits::min()), static_cast<double>(Limits::max()));
  });
  set_sizes(scale, shape.kept);
  return scale;
}

// Return the norm in float32 or float64. If the sum of powers is out of range, the elements are
// scaled first; on accelerators always, because the check would block.
Tensor run_norm_in_range(const Tensor& x, const ReduceShape& shape, double p) {
  const auto sum_of = [&](const Tensor& t) {
    if (p == 2) return run_reduce(t, shape, ReduceOp::norm, x.dtype());
    return run_reduce(abs(t).pow_(p), shape, ReduceOp::sum, x.dtype());
  };
  const auto root_of = [&](const Tensor& sum) { return p == 2 ? sum : sum.pow_(1 / p); };
  const auto peak_of = [&] {
    return run_reduce(abs(x), shape, p > 0 ? ReduceOp::max : ReduceOp::min, x.dtype());
  };
  Tensor peak;
  if (!x.is_meta() && !usable_backend(x.device()).is_accelerator()) {
    const Tensor sum = sum_of(x), outside = out_of_range(sum, p == 2);
    if (!any(outside).item<bool>()) return root_of(sum);
    // If all elements are zeros, or one is infinite, the sum 0 or infinity is exact.
    peak = peak_of();
    const Tensor exact = logical_or(peak == 0, isinf(peak));
    if (all(logical_or(exact, logical_not(outside))).item<bool>()) return root_of(sum);
  } else if (p != 2) {
    peak = peak_of();
  }
  const Tensor scale = scale_of_norm(x, peak, shape, p), out = root_of(sum_of(x / scale));
  set_sizes(scale, shape.result);
  return out.mul_(scale);
}

Tensor run_norm(const Tensor& x, const ReduceShape& shape, double p) {
  const NoGradGuard no_grad;
  const DType dtype = x.dtype();
  if (shape.count == 0) return run_reduce(x, shape, ReduceOp::sum, dtype);
  if (p == kInfinity) return run_reduce(abs(x), shape, ReduceOp::max, dtype);
  if (p == -kInfinity) return run_reduce(abs(x), shape, ReduceOp::min, dtype);
  if (p == 0) return run_reduce((x != 0).to(dtype), shape, ReduceOp::sum, dtype);
  if (p == 1) return run_reduce(x, shape, ReduceOp::abs_sum, dtype);
  // Squares of float64 may exceed its range; the CPU's kernel scales such elements itself.
  if (p == 2 && (dtype != kFloat64 || x.is_cpu())) {
    return run_reduce(x, shape, ReduceOp::norm, dtype);
  }
  if (is_reduced_floating(dtype)) {
    const auto run = [p](const Tensor& t, const ReduceShape& s) { return run_norm(t, s, p); };
    return by_float32_parts(x, shape, run).to(dtype);
  }
  return run_norm_in_range(x, shape, p);
}

// Without elements, only norms that are sums have a value.
void expect_identity(const char* op, const Tensor& x, double p) {
  if (!std::isinf(p) && p >= 0) return;
  throw ShapeError(
      fmt::format("{}: expected elements for the norm {}, got shape {}", op, p, str(x.sizes())));
}

// d norm / d x = sgn(x) (|x| / norm)^(p-1), and 0 where that is NaN because x is 0. g and y have
// the kept shape.
Tensor norm_grad(const Tensor& g, const Tensor& x, const Tensor& y, double p, const Dims& dims) {
  if (p == 0) return zeros_like(x);
  if (p == 1) return g * sgn(x);
  if (std::isinf(p)) {
    const Tensor taken = logical_or(abs(x) == y, isnan(x));
    return sgn(x) * taken * (g / sum(taken, dims, true));
  }
  const Tensor zero = y == 0;
  if (p == 2) return x * masked_fill(g / y, zero, 0);
  if (is_reduced_floating(x.dtype())) return by_float32(x.dtype(), norm_grad, g, x, y, p, dims);
  // Powers of x may overflow; powers of the quotient do not.
  const Tensor share = x / masked_fill(y, zero, 1);
  const Tensor length = abs(share), weight = masked_fill(g, zero, 0);
  if (p > 2) return share * pow(length, p - 2) * weight;
  const Tensor origin = x == 0;  // a power of 0 may be infinite
  return sgn(x) * masked_fill(pow(masked_fill(length, origin, 1), p - 1), origin, 0) * weight;
}

}  // namespace

Tensor norm(const Tensor& self, const Scalar& p) { return norm(self, p, IntArrayRef()); }

Tensor norm(const Tensor& self, const std::optional<Scalar>& p_scalar, DType dtype) {
  return norm(self, p_scalar, {}, false, dtype);
}

Tensor norm(const Tensor& self, const std::optional<Scalar>& p_scalar, IntArrayRef dims,
            bool keepdim, DType dtype) {
  expect_defined("norm", "self", self);
  const DType part = real_dtype(dtype);
  return norm(self.to(self.is_complex() ? complex_dtype(part) : part), p_scalar, dims, keepdim);
}

Tensor norm(const Tensor& self, const std::optional<Scalar>& p_scalar, IntArrayRef dims,
            bool keepdim) {
  AMBIT_AUTOCAST(norm, self, p_scalar, dims, keepdim)
  expect_inexact("norm", self);
  ReduceShape shape("norm", self.sizes(), dims, keepdim);
  const auto p = p_scalar.value_or(2).to<double>();
  if (shape.count == 0) expect_identity("norm", self, p);
  Tensor out = run_norm(self.is_complex() ? abs(self.detach()) : self, shape, p);
  return record("norm", out,
                wrt(self, [x = saved(self), y = saved_output(out), kept = std::move(shape.kept), p,
                           dims = Dims(dims)](const Tensor& g) {
                  return norm_grad(with_kept_dims(g, kept), x(), with_kept_dims(y(), kept), p,
                                   dims);
                }));
}

Tensor norm_except_dim(const Tensor& v, int64_t pow, int64_t dim) {
  expect_inexact("norm_except_dim", v);
  if (dim == -1) return norm(v, pow);
  Dims others;
  for (int64_t d = 0; d < v.dim(); ++d) {
    if (d != dim) others.push_back(d);
  }
  if (dim < 0 || dim >= v.dim()) {
    throw IndexError(
        fmt::format("norm_except_dim: expected a dim in [-1, {}), got {}", v.dim(), dim));
  }
  // An empty list of dims would mean all dims.
  return others.empty() ? abs(v) : norm(v, pow, others, true);
}

Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) {
  AMBIT_AUTOCAST(dist, self, other, p)
  check_devices("dist", {{"self", self}, {"other", other}}, DeviceRule::elementwise);
  expect_defined("dist", "self", self);
  expect_defined("dist", "other", other);
  broadcast("dist", self.sizes(), other.sizes());
  const DType dtype = result_type(self, other);
  if (is_reduced_floating(dtype)) return norm(self.to(kFloat32) - other, p).to(dtype);
  return norm(self - other, p);
}

namespace {

void check_renorm(const char* op, const Tensor& self, double p, double maxnorm) {
  expect_inexact(op, self);
  if (self.dim() < 2) {
    throw ShapeError(fmt::format("{}: expected 2 dims or more, got {}", op, str(self.sizes())));
  }
  if (!(p > 0)) throw Error(fmt::format("{}: expected p > 0, got {}", op, p));
  if (!(maxnorm >= 0)) throw Error(fmt::format("{}: expected maxnorm >= 0, got {}", op, maxnorm));
}

// Return the factor of each slice; 1 if its norm is small enough.
Tensor renorm_factor(const char* op, const Tensor& self, const Scalar& p, int64_t dim,
                     const Scalar& maxnorm) {
  check_renorm(op, self, p.to<double>(), maxnorm.to<double>());
  dim = wrap_dim(op, dim, self.dim());
  Dims dims;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (i != dim) dims.push_back(i);
  }
  const Tensor norms = norm(self, p, dims, true);
  return where(norms > maxnorm, reciprocal(norms + 1e-7) * maxnorm, 1.0);
}

Tensor renormed(const char* op, const Tensor& self, const Scalar& p, int64_t dim,
                const Scalar& maxnorm) {
  const Tensor x = upcast(self);
  const Tensor factor = renorm_factor(op, x, p, dim, maxnorm);
  return (x * factor).to(self.dtype());
}

}  // namespace

Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  AMBIT_AUTOCAST(renorm, self, p, dim, maxnorm)
  return renormed("renorm", self, p, dim, maxnorm);
}
const Tensor& renorm_(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  expect_defined("renorm_", "self", self);
  const Tensor before = self.requires_grad()
                            ? self.clone()
                            : self;  // the ops save `before`, since self is overwritten
  return copy_(self, renormed("renorm_", before, p, dim, maxnorm));
}

namespace {

Tensor run_logsumexp(const Tensor& x, const ReduceShape& shape) {
  const NoGradGuard no_grad;
  if (is_reduced_floating(x.dtype()))
    return by_float32_parts(x, shape, run_logsumexp).to(x.dtype());
  if (shape.count == 0) return run_reduce(x, shape, ReduceOp::sum, x.dtype()).log_();
  // Do not subtract an infinite maximum: inf - inf would be NaN.
  const Tensor peak = run_reduce(x, shape, ReduceOp::max, x.dtype());
  peak.masked_fill_(isinf(peak), 0);
  const Tensor e = (x - with_kept_dims(peak, shape.kept)).exp_();
  return run_reduce(e, shape, ReduceOp::sum, x.dtype()).log_().add_(peak);
}

// The exponentials are divided by that of the largest real part.
Tensor run_complex_logsumexp(const Tensor& x, const ReduceShape& shape) {
  const NoGradGuard no_grad;
  const auto sum_of = [&](const Tensor& e) {
    return log(run_reduce(e, shape, ReduceOp::sum, x.dtype()));
  };
  if (shape.count == 0) return sum_of(x);
  const Tensor peak = run_reduce(real(x), shape, ReduceOp::max, real_dtype(x.dtype()));
  peak.masked_fill_(isinf(peak), 0);
  return sum_of(exp(x - with_kept_dims(peak, shape.kept))) + peak;
}

}  // namespace

Tensor logsumexp(const Tensor& self, IntArrayRef dims, bool keepdim) {
  AMBIT_AUTOCAST(logsumexp, self, dims, keepdim)
  expect_defined("logsumexp", "input", self);
  const bool has_parts = self.is_complex();
  if (!self.is_floating_point() && !has_parts)
    return logsumexp(self.to(get_default_dtype()), dims, keepdim);
  ReduceShape shape("logsumexp", self.sizes(), dims, keepdim);
  Tensor out = has_parts ? run_complex_logsumexp(self, shape) : run_logsumexp(self, shape);
  return record("logsumexp", out,
                wrt(self, [x = saved(self), y = saved_output(out),
                           kept = std::move(shape.kept)](const Tensor& g) {
                  const Tensor length = y().is_complex() ? real(y()) : y();
                  const Tensor base = masked_fill(y(), length == -kInfinity, 0);
                  return with_kept_dims(g, kept) * conj(exp(x() - with_kept_dims(base, kept)));
                }));
}

}  // namespace ambit
