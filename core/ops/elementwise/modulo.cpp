// Division that rounds, and its remainders. The quotients are steps: their gradient is zero.
#include <ambit/error.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include <string_view>

#include "binary.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit {
namespace {

template <BinaryOp kernel>
struct RoundedDivision {
  static constexpr bool kFloor = kernel == BinaryOp::floor_divide;
  static constexpr const char* kName = kFloor ? "floor_divide" : "div";
  static constexpr const char* kNameInPlace = "floor_divide_";
  static constexpr BinaryOp kKernel = kernel;
  static constexpr Domain kDomain = Domain::numbers;
  static constexpr KeepsSelf kKeepsSelf = KeepsSelf::never;
  static auto self_grad(const Tensor& self, const Tensor&) { return ZerosLike(self); }
  static auto other_grad(const Tensor&, const Tensor& other) { return ZerosLike(other); }
  static auto grad_beside(const Tensor& self, const Scalar&) { return ZerosLike(self); }
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
  static constexpr KeepsSelf kKeepsSelf = KeepsSelf::for_other;
  static auto self_grad(const Tensor& self, const Tensor&) { return BackTo(self); }
  static auto other_grad(const Tensor& self, const Tensor& other) {
    return [back = BackTo(other), a = saved(self), b = saved(other)](const Tensor& g) {
      return back(neg(g) * div(a(), b(), kFloor ? "floor" : "trunc"));
    };
  }
  static auto grad_beside(const Tensor& self, const Scalar&) { return BackTo(self); }
};
using Remainder = Modulo<BinaryOp::remainder>;
using Fmod = Modulo<BinaryOp::fmod>;

}  // namespace

AMBIT_BINARY_OPS(floor_divide, FloorDivide)
AMBIT_BINARY_OPS(remainder, Remainder)
AMBIT_BINARY_OPS(fmod, Fmod)

Tensor div(const Tensor& self, const Tensor& other, const char* rounding_mode) {
  if (!rounding_mode) return div(self, other);
  check_operands("div", self, other, DeviceRule::elementwise);
  const std::string_view mode = rounding_mode;
  if (mode == "floor") return floor_divide(self, other);
  if (mode == "trunc") return binary<TruncDivide>(self, other);
  throw Error(fmt::format("div: expected rounding_mode \"floor\" or \"trunc\", got \"{}\"", mode));
}

}  // namespace ambit
