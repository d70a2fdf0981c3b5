// add, sub, mul and true division with their gradients. Division that rounds: modulo.cpp.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include "binary.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/scalar_operand.h"

namespace ambit {
namespace {

bool is_one(const Scalar& s) {
  return s.is_floating_point() ? s.to<double>() == 1 : s.to<int64_t>() == 1;
}

Scalar product(const Scalar& a, const Scalar& b) {
  if (a.is_floating_point() || b.is_floating_point()) return a.to<double>() * b.to<double>();
  return static_cast<int64_t>(a.to<uint64_t>() * b.to<uint64_t>());  // wraps
}

void check_alpha(const char* op, const Scalar& alpha, DType dtype) {
  const char* got = nullptr;
  if (alpha.is_floating_point() && !is_floating_point(dtype)) got = "a floating-point number";
  if (alpha.dtype() == kBool && dtype != kBool) got = "a bool";
  if (got) {
    throw DTypeError(
        fmt::format("{}: expected an alpha that suits {}, got {}", op, name(dtype), got));
  }
}

[[noreturn]] void throw_bool_difference(const char* op) {
  throw DTypeError(fmt::format("{}: expected numbers, got bool; use ^ or logical_xor", op));
}

// self + alpha * other, self - alpha * other.
struct Add {
  static constexpr const char *kName = "add", *kNameInPlace = "add_";
  static constexpr BinaryOp kKernel = BinaryOp::add;
  static constexpr int kSign = 1;
};
struct Sub {
  static constexpr const char *kName = "sub", *kNameInPlace = "sub_";
  static constexpr BinaryOp kKernel = BinaryOp::sub;
  static constexpr int kSign = -1;
};

template <class Family>
auto other_grad(const Tensor& other, const Scalar& alpha) {
  return [back = BackTo(other), factor = Family::kSign * alpha.to<double>()](const Tensor& g) {
    if (factor == 1) return back(g);
    return back(factor == -1 ? neg(g) : mul(g, factor));
  };
}

// Return alpha * other, outside the graph, in the dtype that the sum is computed in; checks all
// that the sum does not check itself.
template <class Family>
Tensor scaled(const char* op, DeviceRule rule, const Tensor& self, const Tensor& other,
              const Scalar& alpha) {
  check_operands(op, self, other, rule);
  if (Family::kSign < 0 && (self.dtype() == kBool || other.dtype() == kBool)) {
    throw_bool_difference(op);
  }
  const DType dtype = result_type(self, other);
  check_alpha(op, alpha, dtype);
  if (is_one(alpha)) return other;
  return compute_binary(op, BinaryOp::mul, Domain::any,
                        operand(other, other.sizes(), dtype, other.device()),
                        scalar_on(alpha, dtype, other.device(), other.sizes()));
}

// Alpha is nearly always left out, and then there is nothing to do or to check but for bool - bool.
template <class Family>
bool is_plain(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (alpha.dtype() != kInt64 || !is_one(alpha)) return false;
  if (Family::kSign > 0 || !self.defined() || !other.defined()) return true;
  return self.dtype() != kBool && other.dtype() != kBool;
}

template <class Family>
Tensor weighted_sum(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  constexpr const char* kOp = Family::kName;
  const auto sum = [&](const Tensor& b) {
    return compute_binary(kOp, Family::kKernel, Domain::any, self, b);
  };
  Tensor out = is_plain<Family>(self, other, alpha)
                   ? sum(other)
                   : sum(scaled<Family>(kOp, DeviceRule::elementwise, self, other, alpha));
  if (!needs_gradient(self, other)) return out;
  return record(kOp, std::move(out), wrt(self, BackTo(self)),
                wrt(other, other_grad<Family>(other, alpha)));
}

template <class Family>
const Tensor& weighted_sum_in_place(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  constexpr const char* kOp = Family::kNameInPlace;
  const auto add_up = [&](const Tensor& b) {
    compute_binary_in_place(kOp, Family::kKernel, Domain::any, self, b);
  };
  if (is_plain<Family>(self, other, alpha)) {
    add_up(other);
  } else {
    add_up(scaled<Family>(kOp, DeviceRule::in_place_elementwise, self, other, alpha));
  }
  record_in_place(Family::kName, self, wrt(self, BackTo(self)),
                  wrt(other, other_grad<Family>(other, alpha)));
  return self;
}

// alpha * other as the other operand of self.
template <class Family>
Tensor scaled(const char* op, const Tensor& self, const Scalar& other, const Scalar& alpha) {
  expect_defined(op, "self", self);
  if (Family::kSign < 0 && (self.dtype() == kBool || other.dtype() == kBool)) {
    throw_bool_difference(op);
  }
  check_alpha(op, alpha, result_type(self, other));
  return number_for(op, Domain::any, self, is_one(alpha) ? other : product(other, alpha));
}

struct Mul {
  static constexpr const char *kName = "mul", *kNameInPlace = "mul_";
  static constexpr BinaryOp kKernel = BinaryOp::mul;
  static constexpr Domain kDomain = Domain::any;
  static constexpr KeepsSelf kKeepsSelf = KeepsSelf::for_other;
  static auto factor_grad(const Tensor& factor, const Tensor& another) {
    return [back = BackTo(factor), a = saved(another)](const Tensor& g) { return back(g * a()); };
  }
  static auto self_grad(const Tensor& self, const Tensor& other) {
    return factor_grad(self, other);
  }
  static auto other_grad(const Tensor& self, const Tensor& other) {
    return factor_grad(other, self);
  }
};

struct Div {
  static constexpr const char *kName = "div", *kNameInPlace = "div_";
  static constexpr BinaryOp kKernel = BinaryOp::div;
  static constexpr Domain kDomain = Domain::floats;
  static constexpr KeepsSelf kKeepsSelf = KeepsSelf::for_other;
  static auto self_grad(const Tensor& self, const Tensor& other) {
    return [back = BackTo(self), b = saved(other)](const Tensor& g) { return back(g / b()); };
  }
  static auto other_grad(const Tensor& self, const Tensor& other) {
    return [back = BackTo(other), a = saved(self), b = saved(other)](const Tensor& g) {
      return back(neg(g) * (a() / b() / b()));
    };
  }
};

}  // namespace

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return weighted_sum<Add>(self, other, alpha);
}
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return weighted_sum<Add>(self, scaled<Add>("add", self, other, alpha), 1);
}
const Tensor& add_(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return weighted_sum_in_place<Add>(self, other, alpha);
}
const Tensor& add_(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return weighted_sum_in_place<Add>(self, scaled<Add>("add_", self, other, alpha), 1);
}

Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return weighted_sum<Sub>(self, other, alpha);
}
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return weighted_sum<Sub>(self, scaled<Sub>("sub", self, other, alpha), 1);
}
Tensor rsub(const Tensor& self, const Scalar& other) {
  return weighted_sum<Sub>(scaled<Sub>("rsub", self, other, 1), self, 1);
}
const Tensor& sub_(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return weighted_sum_in_place<Sub>(self, other, alpha);
}
const Tensor& sub_(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return weighted_sum_in_place<Sub>(self, scaled<Sub>("sub_", self, other, alpha), 1);
}

AMBIT_BINARY_OPS(mul, Mul)
AMBIT_BINARY_OPS(div, Div)

}  // namespace ambit
