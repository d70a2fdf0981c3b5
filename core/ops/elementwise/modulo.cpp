// Rounding division and its remainders. The quotients are step functions: their gradient is zero.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include <string_view>

#include "binary.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit {
namespace {

template <BinaryOp kernel>
struct RoundedDivision {
  static constexpr bool kFloor = kernel == BinaryOp::floor_divide;
  static constexpr const char* kName = kFloor ? "floor_divide" : "div";
  static constexpr const char* kNameInPlace = kFloor ? "floor_divide_" : "div_";
  static constexpr BinaryOp kKernel = kernel;
  static constexpr Domain kDomain = Domain::numbers;
  static constexpr SavesSelf kSavesSelf = SavesSelf::never;
  static auto self_grad(const Tensor& self, const Tensor&) { return ZerosLike(self); }
  static auto other_grad(const Tensor&, const Tensor& other) { return ZerosLike(other); }
  static auto self_grad_with_scalar(const Tensor& self, const Scalar&) { return ZerosLike(self); }
};
using FloorDivide = RoundedDivision<BinaryOp::floor_divide>;
using TruncDivide = RoundedDivision<BinaryOp::trunc_divide>;

// self - other * rounded(self / other): floor for remainder, trunc for fmod.
template <BinaryOp kernel>
struct Modulo {
  static constexpr bool kFloor = kernel == BinaryOp::remainder;
  static constexpr const char* kName = kFloor ? "remainder" : "fmod";
  static constexpr const char* kNameInPlace = kFloor ? "remainder_" : "fmod_";
  static constexpr BinaryOp kKernel = kernel;
  static constexpr Domain kDomain = Domain::numbers;
  static constexpr SavesSelf kSavesSelf = SavesSelf::for_other;
  static auto self_grad(const Tensor& self, const Tensor&) { return ReduceGradTo(self); }
  static auto other_grad(const Tensor& self, const Tensor& other) {
    return [back = ReduceGradTo(other), a = saved(self), b = saved(other)](const Tensor& g) {
      return back(neg(g) * div(a(), b(), kFloor ? "floor" : "trunc"));
    };
  }
  static auto self_grad_with_scalar(const Tensor& self, const Scalar&) {
    return ReduceGradTo(self);
  }
};
using Remainder = Modulo<BinaryOp::remainder>;
using Fmod = Modulo<BinaryOp::fmod>;

}  // namespace

AMBIT_BINARY_OPS(floor_divide, FloorDivide)
AMBIT_BINARY_OPS(remainder, Remainder)
AMBIT_BINARY_OPS(fmod, Fmod)

namespace {

using Mode = std::optional<std::string_view>;

// True for "floor", false for "trunc".
bool rounds_down(const char* op, std::string_view mode) {
  if (mode != "floor" && mode != "trunc") {
    throw Error(
        fmt::format("{}: expected rounding_mode \"floor\" or \"trunc\", got \"{}\"", op, mode));
  }
  return mode == "floor";
}

}  // namespace

Tensor div(const Tensor& self, const Tensor& other, Mode mode) {
  if (!mode) return div(self, other);
  check_operands("div", self, other, DeviceRule::elementwise);
  return rounds_down("div", *mode) ? floor_divide(self, other) : binary<TruncDivide>(self, other);
}
Tensor div(const Tensor& self, const Scalar& other, Mode mode) {
  if (!mode) return div(self, other);
  expect_defined("div", "self", self);
  return rounds_down("div", *mode) ? floor_divide(self, other) : binary<TruncDivide>(self, other);
}
const Tensor& div_(const Tensor& self, const Tensor& other, Mode mode) {
  if (!mode) return div_(self, other);
  check_operands("div_", self, other, DeviceRule::in_place_elementwise);
  return rounds_down("div_", *mode) ? floor_divide_(self, other)
                                    : binary_in_place<TruncDivide>(self, other);
}
const Tensor& div_(const Tensor& self, const Scalar& other, Mode mode) {
  if (!mode) return div_(self, other);
  expect_defined("div_", "self", self);
  return rounds_down("div_", *mode) ? floor_divide_(self, other)
                                    : binary_in_place<TruncDivide>(self, other);
}

Tensor remainder(const Scalar& self, const Tensor& other) {
  expect_defined("remainder", "other", other);
  Tensor out =
      compute_binary_scalar("remainder", BinaryOp::remainder, Domain::numbers, other, {self, true});
  if (!needs_gradient(other)) return out;
  return record("remainder", std::move(out), wrt(other, [b = saved(other), self](const Tensor& g) {
                  return neg(g) * floor_divide(full_like(b(), self), b());
                }));
}

}  // namespace ambit
