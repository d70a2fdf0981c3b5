// Bitwise ops of two operands, for bool and integers: no gradients.
#include <ambit/ops/elementwise.h>

#include "binary.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit {
namespace {

// Never called with floats, and only floats have gradients.
struct NoGradient {
  static constexpr Domain kDomain = Domain::bits;
  static constexpr KeepsSelf kKeepsSelf = KeepsSelf::never;
  static auto self_grad(const Tensor& self, const Tensor&) { return ZerosLike(self); }
  static auto other_grad(const Tensor&, const Tensor& other) { return ZerosLike(other); }
  static auto grad_beside(const Tensor& self, const Scalar&) { return ZerosLike(self); }
};

struct And : NoGradient {
  static constexpr const char *kName = "bitwise_and", *kNameInPlace = "bitwise_and_";
  static constexpr BinaryOp kKernel = BinaryOp::bitwise_and;
};
struct Or : NoGradient {
  static constexpr const char *kName = "bitwise_or", *kNameInPlace = "bitwise_or_";
  static constexpr BinaryOp kKernel = BinaryOp::bitwise_or;
};
struct Xor : NoGradient {
  static constexpr const char *kName = "bitwise_xor", *kNameInPlace = "bitwise_xor_";
  static constexpr BinaryOp kKernel = BinaryOp::bitwise_xor;
};

}  // namespace

AMBIT_BINARY_OPS(bitwise_and, And)
AMBIT_BINARY_OPS(bitwise_or, Or)
AMBIT_BINARY_OPS(bitwise_xor, Xor)

}  // namespace ambit
