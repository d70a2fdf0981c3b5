// Ops of three tensors, or of a tensor and several numbers, composed of other ops: scaled products,
// interpolation, rounding to decimals, replacing NaN and infinities.
#include <ambit/backend/alias.h>
#include <ambit/backend/registry.h>
#include <ambit/detail/by_float32.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "binary.h"
#include "core/ops/complex/functions.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "where.h"

namespace ambit {
namespace {

constexpr int64_t kPart = int64_t{1} << 17;  // elements

// Check the operands of an op of three tensors; errors name `op`. Return the device of the call.
Device check_three(const char* op, const Tensor& self, const char* second, const Tensor& b,
                   const char* third, const Tensor& c, bool in_place) {
  expect_defined(op, "self", self);
  expect_defined(op, second, b);
  expect_defined(op, third, c);
  const Device device =
      check_devices(op, {{"self", self}, {second, b}, {third, c}},
                    in_place ? DeviceRule::in_place_elementwise : DeviceRule::elementwise);
  const Dims sizes = broadcast(op, self.sizes(), broadcast(op, b.sizes(), c.sizes()));
  if (in_place) check_broadcasts_to(op, sizes, self.sizes());
  return device;
}

// A number that multiplies integers loses its fraction, as in libtorch.
Scalar factor(const Scalar& value, const Tensor& self, const Tensor& product) {
  return is_differentiable(result_type(self, product)) ? value : Scalar(value.to<int64_t>());
}

void expect_quotient(const char* op, const Tensor& a, const Tensor& b) {
  if (is_differentiable(a.dtype()) || is_differentiable(b.dtype())) return;
  throw DTypeError(fmt::format("{}: expected tensor1 or tensor2 of floating point, got {} and {}",
                               op, name(a.dtype()), name(b.dtype())));
}

Device check_lerp(const char* op, const Tensor& self, const Tensor& end, bool in_place) {
  expect_defined(op, "self", self);
  expect_defined(op, "end", end);
  const Device device =
      check_devices(op, {{"self", self}, {"end", end}},
                    in_place ? DeviceRule::in_place_elementwise : DeviceRule::elementwise);
  expect_inexact(op, self);
  expect_same_dtype(op, self, end);
  broadcast(op, self.sizes(), end.sizes());
  if (in_place) check_broadcasts_to(op, end.sizes(), self.sizes());
  return device;
}

// Return true if the op should run on parts that fit in the CPU's caches, so that the intermediate
// product is not written to memory: for large contiguous tensors without a recorded gradient.
bool is_for_parts(const Tensor& self, const Tensor& a, const Tensor& b, bool in_place) {
  if (self.numel() <= kPart || needs_gradient(self, a, b)) return false;
  for (const Tensor* t : {&self, &a, &b}) {
    if (!t->is_contiguous() || t->sizes() != self.sizes()) return false;
    if (t->storage()->is_native()) return false;  // its parts are not row-major
    if (t->dtype() != self.dtype() || !t->is_floating_point()) return false;
    // Another view of self's memory must be read completely before self is written.
    if (in_place && t->storage() == self.storage() && !t->is_same(self)) return false;
  }
  return !self.is_meta() && !usable_backend(self.device()).is_accelerator();
}

// y = self + factor * product(a, b); y may be self.
void add_in_parts(const char* op, const Tensor& y, const Tensor& self, const Tensor& a,
                  const Tensor& b, BinaryOp product, const Scalar& factor) {
  const Tensor products = allocate(op, {kPart}, self.dtype(), self.device());
  for (int64_t begin = 0; begin < self.numel(); begin += kPart) {
    const int64_t n = std::min(kPart, self.numel() - begin);
    const auto part = [&](const Tensor& t) {
      return alias(t, {n}, {1}, t.storage_offset() + begin);
    };
    Tensor p = alias(products, {n}), out = part(y);
    kernels::binary(p, part(a), part(b), product);
    kernels::ternary(out, part(self), p, {}, factor, TernaryOp::add_scaled);
  }
}

Tensor added_in_parts(const char* op, const Tensor& self, const Tensor& a, const Tensor& b,
                      BinaryOp product, const Scalar& factor) {
  Tensor out = allocate(op, self.sizes(), self.dtype(), self.device());
  add_in_parts(op, out, self, a, b, product, factor);
  return out;
}

const Tensor& add_in_place_in_parts(const char* op, const Tensor& self, const Tensor& a,
                                    const Tensor& b, BinaryOp product, const Scalar& factor) {
  check_in_place(op, self);
  add_in_parts(op, self, self, a, b, product, factor);
  self.bump_version();
  return self;
}

}  // namespace

Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  check_three("addcmul", self, "tensor1", tensor1, "tensor2", tensor2, false);
  if (is_for_parts(self, tensor1, tensor2, false)) {
    return added_in_parts("addcmul", self, tensor1, tensor2, BinaryOp::mul, value);
  }
  const Tensor product = mul(tensor1, tensor2);
  return add(self, product, factor(value, self, product));
}
const Tensor& addcmul_(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                       const Scalar& value) {
  check_three("addcmul_", self, "tensor1", tensor1, "tensor2", tensor2, true);
  if (is_for_parts(self, tensor1, tensor2, true)) {
    return add_in_place_in_parts("addcmul_", self, tensor1, tensor2, BinaryOp::mul, value);
  }
  const Tensor product = mul(tensor1, tensor2);
  return add_(self, product, factor(value, self, product));
}

Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  check_three("addcdiv", self, "tensor1", tensor1, "tensor2", tensor2, false);
  expect_quotient("addcdiv", tensor1, tensor2);
  if (is_for_parts(self, tensor1, tensor2, false)) {
    return added_in_parts("addcdiv", self, tensor1, tensor2, BinaryOp::div, value);
  }
  return add(self, div(tensor1, tensor2), value);
}
const Tensor& addcdiv_(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                       const Scalar& value) {
  check_three("addcdiv_", self, "tensor1", tensor1, "tensor2", tensor2, true);
  expect_quotient("addcdiv_", tensor1, tensor2);
  if (is_for_parts(self, tensor1, tensor2, true)) {
    return add_in_place_in_parts("addcdiv_", self, tensor1, tensor2, BinaryOp::div, value);
  }
  return add_(self, div(tensor1, tensor2), value);
}

namespace {

Device check_weights(const char* op, const Tensor& self, const Tensor& end, const Tensor& weight,
                     bool in_place) {
  const Device device = check_three(op, self, "end", end, "weight", weight, in_place);
  check_lerp(op, self, end, in_place);
  expect_same_dtype(op, self, weight);
  return device;
}

// The weight is `number` if `weight` is undefined.
Tensor run_lerp(Device device, const Tensor& self, const Tensor& end, const Tensor& weight,
                const Scalar& number) {
  const DType dtype = self.dtype();
  Dims sizes = broadcast("lerp", self.sizes(), end.sizes());
  if (weight.defined()) sizes = broadcast("lerp", sizes, weight.sizes());
  Tensor out = allocate("lerp", sizes, dtype, device);
  kernels::ternary(out, operand(self, sizes, dtype, device), operand(end, sizes, dtype, device),
                   weight.defined() ? operand(weight, sizes, dtype, device) : Tensor(), number,
                   TernaryOp::lerp);
  return out;
}

// The same for complex numbers, with a gradient; the formula depends on |weight| as in PyTorch.
Tensor complex_lerp(const Tensor& self, const Tensor& end, const Tensor& weight,
                    const Scalar& number) {
  const Tensor way = end - self;
  if (weight.defined()) {
    return where(abs(weight) < 0.5, self + weight * way, end - way * (1 - weight));
  }
  const auto w = number.to<double>();
  return std::abs(w) < 0.5 ? self + way * w : end - way * (1 - w);
}

template <class Record>
void record_lerp(const Tensor& self, const Tensor& end, double weight, const Record& formulas) {
  formulas(
      wrt(self,
          [back = ReduceGradTo(self), weight](const Tensor& g) { return back(g * (1 - weight)); }),
      wrt(end, [back = ReduceGradTo(end), weight](const Tensor& g) { return back(g * weight); }));
}
template <class Record>
void record_lerp(const Tensor& self, const Tensor& before, const Tensor& end, const Tensor& weight,
                 const Record& formulas) {
  formulas(wrt(self, [back = ReduceGradTo(self),
                      w = saved(weight)](const Tensor& g) { return back(g * (1 - w())); }),
           wrt(end, [back = ReduceGradTo(end),
                     w = saved(weight)](const Tensor& g) { return back(g * w()); }),
           wrt(weight, [back = ReduceGradTo(weight), from = saved(before),
                        to = saved(end)](const Tensor& g) { return back(g * (to() - from())); }));
}

}  // namespace

Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight) {
  const Device device = check_lerp("lerp", self, end, false);
  if (self.is_complex()) return complex_lerp(self, end, {}, weight);
  const auto w = weight.to<double>();
  Tensor out = run_lerp(device, self, end, {}, w);
  if (!needs_gradient(self, end)) return out;
  record_lerp(self, end, w, [&](auto&&... formulas) {
    out = record("lerp", std::move(out), std::forward<decltype(formulas)>(formulas)...);
  });
  return out;
}
const Tensor& lerp_(const Tensor& self, const Tensor& end, const Scalar& weight) {
  check_lerp("lerp_", self, end, true);
  if (self.is_complex()) return copy_(self, complex_lerp(self.clone(), end, {}, weight));
  const Tensor to = operand_in_place("lerp_", self, end, self.dtype());
  const auto w = weight.to<double>();
  Tensor out = self;
  kernels::ternary(out, self, to, {}, w, TernaryOp::lerp);
  record_lerp(self, end, w, [&](auto&&... formulas) {
    record_in_place("lerp", self, std::forward<decltype(formulas)>(formulas)...);
  });
  return self;
}

Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  const Device device = check_weights("lerp", self, end, weight, false);
  if (self.is_complex()) return complex_lerp(self, end, weight, {});
  Tensor out = run_lerp(device, self, end, weight, {});
  if (!needs_gradient(self, end, weight)) return out;
  record_lerp(self, self, end, weight, [&](auto&&... formulas) {
    out = record("lerp", std::move(out), std::forward<decltype(formulas)>(formulas)...);
  });
  return out;
}
const Tensor& lerp_(const Tensor& self, const Tensor& end, const Tensor& weight) {
  check_weights("lerp_", self, end, weight, true);
  if (self.is_complex()) return copy_(self, complex_lerp(self.clone(), end, weight, {}));
  const Tensor to = operand_in_place("lerp_", self, end, self.dtype()),
               w = operand_in_place("lerp_", self, weight, self.dtype());
  check_savable("lerp_", self, weight);
  const Tensor before = needs_gradient(weight) ? self.clone() : self;
  Tensor out = self;
  kernels::ternary(out, self, to, w, {}, TernaryOp::lerp);
  record_lerp(self, before, end, weight, [&](auto&&... formulas) {
    record_in_place("lerp", self, std::forward<decltype(formulas)>(formulas)...);
  });
  return self;
}

namespace {

Tensor run_round(const Tensor& self, int64_t decimals) {
  const NoGradGuard no_grad;
  const double scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  return decimals < 0 ? round(self / scale) * scale : round(self * scale) / scale;
}

}  // namespace

Tensor round(const Tensor& self, int64_t decimals) {
  expect_floating("round", self);
  if (decimals == 0) return round(self);
  Tensor out = run_round(self, decimals);
  return record("round", std::move(out), wrt(self, ZerosLike(self)));
}
const Tensor& round_(const Tensor& self, int64_t decimals) {
  expect_floating("round_", self);
  if (decimals == 0) return round_(self);
  check_in_place("round_", self);
  store(self, run_round(self, decimals));
  record_in_place("round", self, wrt(self, ZerosLike(self)));
  return self;
}

namespace {

using Number = std::optional<double>;

// Replace NaN (default 0) and infinities (default the dtype's limits) of `values`, in place.
void replace(const Tensor& values, const Number& nan, const Number& posinf, const Number& neginf) {
  const NoGradGuard no_grad;
  const double most = visit<dtypes::kAnyFloating>(
      values.dtype(), []<class T>() { return static_cast<double>(std::numeric_limits<T>::max()); });
  const Tensor no_number = isnan(values);
  masked_fill_(values, values == INFINITY, posinf.value_or(most));
  masked_fill_(values, values == -INFINITY, neginf.value_or(-most));
  masked_fill_(values, no_number, nan.value_or(0));
}

}  // namespace

Tensor nan_to_num(const Tensor& self, Number nan, Number posinf, Number neginf) {
  expect_defined("nan_to_num", "self", self);
  if (self.is_complex()) {
    return view_as_complex(nan_to_num(view_as_real(self).contiguous(), nan, posinf, neginf));
  }
  if (!self.is_floating_point()) return self.clone();
  Tensor out = self.detach().clone();
  replace(out, nan, posinf, neginf);
  return record("nan_to_num", std::move(out), wrt(self, [x = saved(self)](const Tensor& g) {
                  return grad_where(g, isfinite(x()), true);
                }));
}
const Tensor& nan_to_num_(const Tensor& self, Number nan, Number posinf, Number neginf) {
  expect_defined("nan_to_num_", "self", self);
  check_in_place("nan_to_num_", self);
  if (self.is_complex()) return nan_to_num_(view_as_real(self), nan, posinf, neginf), self;
  if (!self.is_floating_point()) return self;
  const Tensor before = needs_gradient(self) ? self.clone() : self;
  const Tensor out =
      before.is_same(self) ? copy_as("nan_to_num_", self, self.dtype()) : before.detach().clone();
  replace(out, nan, posinf, neginf);
  store(self, out);
  record_in_place("nan_to_num", self, wrt(self, [x = saved(before)](const Tensor& g) {
                    return grad_where(g, isfinite(x()), true);
                  }));
  return self;
}

namespace {

Tensor is_number(const char* op, const Tensor& self, double number) {
  expect_defined(op, "self", self);
  expect_real(op, self);
  if (self.is_floating_point()) return eq(self, number);
  return zeros(self.sizes(), self.options().dtype(kBool));
}

}  // namespace

Tensor isposinf(const Tensor& self) { return is_number("isposinf", self, INFINITY); }
Tensor isneginf(const Tensor& self) { return is_number("isneginf", self, -INFINITY); }

Tensor isreal(const Tensor& self) {
  expect_defined("isreal", "self", self);
  if (self.is_complex()) return eq(imag(self.detach()), 0);
  return ones(self.sizes(), self.options().dtype(kBool));
}

Tensor angle(const Tensor& self) {
  expect_defined("angle", "self", self);
  if (self.is_complex()) return complex_angle(self);
  Tensor out;
  {
    const NoGradGuard no_grad;
    const Tensor x = self.is_floating_point() ? self : self.to(get_default_dtype());
    out = where(isnan(x), x, (x < 0).to(x.dtype()) * std::numbers::pi);
  }
  return record("angle", out.to(self.is_floating_point() ? self.dtype() : get_default_dtype()),
                wrt(self, [](const Tensor& g) { return zeros_like(g); }));
}

Tensor sgn(const Tensor& self) {
  expect_defined("sgn", "self", self);
  return self.is_complex() ? complex_sgn(self) : sign(self);
}

const Tensor& sgn_(const Tensor& self) {
  expect_defined("sgn_", "self", self);
  if (!self.is_complex()) return sign_(self);
  check_in_place("sgn_", self);
  return copy_(self, complex_sgn(needs_gradient(self) ? self.clone() : self));
}

Tensor positive(const Tensor& self) {
  expect_defined("positive", "self", self);
  if (self.dtype() == kBool) throw DTypeError("positive: expected numbers, got bool");
  return self;
}

}  // namespace ambit
