// Bitwise ops, shifts, gcd and lcm, for integers, some for bool; no gradients.
#include <ambit/ops/elementwise.h>

#include "binary.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit {
namespace {

// Never called, since integers have no gradients.
struct NoGradient {
  static constexpr Domain kDomain = Domain::bits;
  static constexpr SavesSelf kSavesSelf = SavesSelf::never;
  static auto self_grad(const Tensor& self, const Tensor&) { return ZerosLike(self); }
  static auto other_grad(const Tensor&, const Tensor& other) { return ZerosLike(other); }
  static auto self_grad_with_scalar(const Tensor& self, const Scalar&) { return ZerosLike(self); }
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

struct LeftShift : NoGradient {
  static constexpr const char *kName = "bitwise_left_shift", *kNameInPlace = "bitwise_left_shift_";
  static constexpr BinaryOp kKernel = BinaryOp::left_shift;
  static constexpr Domain kDomain = Domain::integers;
};
struct RightShift : NoGradient {
  static constexpr const char *kName = "bitwise_right_shift",
                              *kNameInPlace = "bitwise_right_shift_";
  static constexpr BinaryOp kKernel = BinaryOp::right_shift;
  static constexpr Domain kDomain = Domain::integers;
};
struct Gcd : NoGradient {
  static constexpr const char *kName = "gcd", *kNameInPlace = "gcd_";
  static constexpr BinaryOp kKernel = BinaryOp::gcd;
  static constexpr Domain kDomain = Domain::integers;
};
struct Lcm : NoGradient {
  static constexpr const char *kName = "lcm", *kNameInPlace = "lcm_";
  static constexpr BinaryOp kKernel = BinaryOp::lcm;
  static constexpr Domain kDomain = Domain::integers;
};

// Replace a count that shifts out all bits by one that every dtype represents: converting a larger
// count could wrap around.
Scalar places(const Scalar& number) {
  if (number.is_floating_point()) return number;
  const auto n = number.to<int64_t>();
  return n < 0 || n >= 64 ? Scalar(-1) : number;
}

template <class Family>
Tensor with_number_first(const Scalar& self, const Tensor& other) {
  return compute_binary_scalar(Family::kName, Family::kKernel, Family::kDomain, other,
                               {self, true});
}

}  // namespace

#define AMBIT_SHIFT(name, Family)                                                              \
  Tensor name(const Tensor& self, const Tensor& other) { return binary<Family>(self, other); } \
  Tensor name(const Tensor& self, const Scalar& other) {                                       \
    return binary<Family>(self, places(other));                                                \
  }                                                                                            \
  Tensor name(const Scalar& self, const Tensor& other) {                                       \
    return with_number_first<Family>(self, other);                                             \
  }                                                                                            \
  const Tensor& name##_(const Tensor& self, const Tensor& other) {                             \
    return binary_in_place<Family>(self, other);                                               \
  }                                                                                            \
  const Tensor& name##_(const Tensor& self, const Scalar& other) {                             \
    return binary_in_place<Family>(self, places(other));                                       \
  }
AMBIT_SHIFT(bitwise_left_shift, LeftShift)
AMBIT_SHIFT(bitwise_right_shift, RightShift)
#undef AMBIT_SHIFT

Tensor gcd(const Tensor& self, const Tensor& other) { return binary<Gcd>(self, other); }
const Tensor& gcd_(const Tensor& self, const Tensor& other) {
  return binary_in_place<Gcd>(self, other);
}
Tensor lcm(const Tensor& self, const Tensor& other) { return binary<Lcm>(self, other); }
const Tensor& lcm_(const Tensor& self, const Tensor& other) {
  return binary_in_place<Lcm>(self, other);
}

Tensor bitwise_and(const Scalar& self, const Tensor& other) { return bitwise_and(other, self); }
Tensor bitwise_or(const Scalar& self, const Tensor& other) { return bitwise_or(other, self); }
Tensor bitwise_xor(const Scalar& self, const Tensor& other) { return bitwise_xor(other, self); }

AMBIT_BINARY_OPS(bitwise_and, And)
AMBIT_BINARY_OPS(bitwise_or, Or)
AMBIT_BINARY_OPS(bitwise_xor, Xor)

}  // namespace ambit
