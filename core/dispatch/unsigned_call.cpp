// Calls with operands of uint16, uint32 and uint64, which kernels receive as signed integers.
#include <ambit/backend/kernels.h>
#include <ambit/detail/upcast_call.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "core/ops/operands/allocate.h"
#include "upcast_operands.h"

namespace ambit {
namespace {

constexpr int64_t kTop = std::numeric_limits<int64_t>::min();  // the bit of 2^63

/// The sign bit of the signed type of the same size, as a number of that type. Bits that differ in
/// it alone are signed integers in the order of the unsigned ones.
int64_t sign_bit(DType dtype) {
  return dtype == kUInt16   ? std::numeric_limits<int16_t>::min()
         : dtype == kUInt32 ? std::numeric_limits<int32_t>::min()
                            : kTop;
}

/// The signed type of the same size.
DType signed_type(DType dtype) {
  return dtype == kUInt16 ? kInt16 : dtype == kUInt32 ? kInt32 : kInt64;
}

Tensor as_signed(const Tensor& t) {
  return is_wide_unsigned(t) ? alias(t, t.sizes(), t.strides(), 0, signed_type(t.dtype())) : t;
}

Tensor converted_to(DType dtype, const Tensor& t) {
  Tensor y = blank_like(t, dtype);
  kernels::copy(y, t);
  return y;
}

void apply(BinaryOp op, Tensor& y, const Tensor& x, const Scalar& number) {
  kernels::binary_scalar(y, x, {number}, op);
}

/// Convert uint64 numbers, given as their bits, to y, float32 or float64, with one rounding.
/// Numbers of at least 2^63 are halved before the conversion; the lowest bit of the half also keeps
/// the bit that is shifted out, so that the rounding is correct.
void floats_of_bits(Tensor& y, const Tensor& bits) {
  Tensor large = blank_like(bits, kBool);
  kernels::compare_scalar(large, bits, 0, CompareOp::lt);
  Tensor half = blank_like(bits, kInt64), lowest = blank_like(bits, kInt64);
  apply(BinaryOp::right_shift, half, bits, 1);
  apply(BinaryOp::bitwise_and, half, half, ~kTop);
  apply(BinaryOp::bitwise_and, lowest, bits, 1);
  kernels::binary(half, half, lowest, BinaryOp::bitwise_or);
  Tensor doubled = converted_to(y.dtype(), half);
  apply(BinaryOp::mul, doubled, doubled, 2);
  kernels::where(y, large, doubled, converted_to(y.dtype(), bits));
}

/// Truncate floats x to uint64 and write the bits. From numbers of at least 2^63, 2^63 is
/// subtracted before the conversion, and their top bit is set after it.
void bits_of_floats(Tensor& bits, const Tensor& x) {
  Tensor large = blank_like(x, kBool), rest = blank_like(x, x.dtype());
  kernels::compare_scalar(large, x, 0x1p63, CompareOp::ge);
  apply(BinaryOp::sub, rest, x, 0x1p63);
  Tensor high = converted_to(kInt64, rest);
  apply(BinaryOp::bitwise_xor, high, high, kTop);
  kernels::where(bits, large, high, converted_to(kInt64, x));
}

void copy_from_floats(Tensor& y, const Tensor& x) {
  Tensor out = as_signed(y);
  if (y.dtype() == kUInt16) return kernels::copy(out, x);  // converts to int32, then wraps to int16
  if (y.dtype() == kUInt32) return kernels::copy(out, converted_to(kInt64, x));
  bits_of_floats(out, is_reduced_floating(x) ? converted_to(kFloat32, x) : x);
}

void copy_to_floats(Tensor& y, const Tensor& x) {
  if (x.dtype() != kUInt64) return kernels::copy(y, converted_to(kInt64, x));
  if (!is_reduced_floating(y)) return floats_of_bits(y, as_signed(x));
  Tensor wide = blank_like(y, kFloat32);
  floats_of_bits(wide, as_signed(x));
  kernels::copy(y, wide);
}

/// The rules are those of kernels::copy: integers wrap, floats are truncated.
void copy_unsigned(Tensor& y, const Tensor& x) {
  if (!is_wide_unsigned(x)) {
    if (x.is_floating_point()) return copy_from_floats(y, x);
  } else if (y.is_floating_point()) {
    return copy_to_floats(y, x);
  }
  Tensor out = as_signed(y);
  kernels::copy(out, as_signed(x));
  if (!is_wide_unsigned(x) || element_size(y.dtype()) <= element_size(x.dtype())) return;
  // The copy extended the sign bits: keep only x's bits.
  apply(BinaryOp::bitwise_and, out, out, x.dtype() == kUInt16 ? 0xffff : int64_t{0xffffffff});
}

/// Return the number modulo 2^64; a fraction is truncated.
uint64_t bits_of(const Scalar& number) {
  if (!number.is_floating_point()) return static_cast<uint64_t>(number.cast<int64_t>());
  const double x = number.cast<double>();
  if (x >= 0x1p63 && x < 0x1p64) return static_cast<uint64_t>(x);
  return static_cast<uint64_t>(x >= -0x1p63 && x < 0x1p63 ? static_cast<int64_t>(x) : kTop);
}

UnsignedRule rule_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::mul:
    case BinaryOp::bitwise_and:
    case BinaryOp::bitwise_or:
    case BinaryOp::bitwise_xor:
      return UnsignedRule::bits;
    case BinaryOp::maximum:
    case BinaryOp::minimum:
    case BinaryOp::fmax:
    case BinaryOp::fmin:
      return UnsignedRule::ordered;
    default:
      return UnsignedRule::refused;
  }
}

UnsignedRule rule_of(CompareOp op) {
  const bool orders =
      op == CompareOp::lt || op == CompareOp::le || op == CompareOp::gt || op == CompareOp::ge;
  return orders ? UnsignedRule::ordered : UnsignedRule::bits;
}

UnsignedRule rule_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::any:
    case ReduceOp::all:
      return UnsignedRule::bits;
    case ReduceOp::max:
    case ReduceOp::min:
      return UnsignedRule::ordered;
    case ReduceOp::sum:
    case ReduceOp::prod:
      return UnsignedRule::summed;
    default:
      return UnsignedRule::refused;
  }
}

/// Return the row of an op's function, or null.
const FunctionRow* row_of_call(const OpBase& op, int function) {
  if (&op == &kernels::unary) return &row_of(static_cast<UnaryOp>(function));
  if (&op == &kernels::binary || &op == &kernels::binary_scalar)
    return &row_of(static_cast<BinaryOp>(function));
  if (&op == &kernels::ternary) return &row_of(static_cast<TernaryOp>(function));
  if (&op == &kernels::reduce) return &row_of(static_cast<ReduceOp>(function));
  return nullptr;
}

}  // namespace

void OpBase::throw_dtype(int function, DType got) const {
  const FunctionRow* row = row_of_call(*this, function);
  std::string names;
  for (const DType d : dtypes::with_reduced_floating(row ? row->dtypes : dtypes()))
    names += (names.empty() ? "" : ", ") + std::string(ambit::name(d));
  throw DTypeError(fmt::format("{}: expected one of {}, got {}", row ? row->name : name(), names,
                               ambit::name(got)));
}

UnsignedRule UpcastCall::unsigned_rule() const {
  if (op_.upcast_rule() == UpcastRule::bitwise || &op_ == &kernels::scatter_add)
    return UnsignedRule::bits;
  if (&op_ == &kernels::binary || &op_ == &kernels::binary_scalar)
    return rule_of(static_cast<BinaryOp>(function_));
  if (&op_ == &kernels::compare || &op_ == &kernels::compare_scalar)
    return rule_of(static_cast<CompareOp>(function_));
  if (&op_ == &kernels::reduce) return rule_of(static_cast<ReduceOp>(function_));
  for (const OpBase* op :
       {static_cast<const OpBase*>(&kernels::scan), static_cast<const OpBase*>(&kernels::random)}) {
    if (&op_ == op) return UnsignedRule::summed;
  }
  for (const OpBase* op :
       {static_cast<const OpBase*>(&kernels::clamp), static_cast<const OpBase*>(&kernels::sort),
        static_cast<const OpBase*>(&kernels::topk),
        static_cast<const OpBase*>(&kernels::arg_reduce),
        static_cast<const OpBase*>(&kernels::cum_extremum),
        static_cast<const OpBase*>(&kernels::searchsorted)}) {
    if (&op_ == op) return UnsignedRule::ordered;
  }
  return UnsignedRule::refused;
}

Scalar UpcastCall::as_unsigned_element(const Scalar& number) const {
  const UnsignedRule rule = unsigned_rule();
  if (rule != UnsignedRule::bits && rule != UnsignedRule::ordered) return number;
  const uint64_t bits = bits_of(number);
  const DType dtype = *unsigned_dtype_;
  const int64_t element = dtype == kUInt16   ? static_cast<int16_t>(bits)
                          : dtype == kUInt32 ? static_cast<int32_t>(bits)
                                             : static_cast<int64_t>(bits);
  return rule == UnsignedRule::bits ? element : element ^ sign_bit(dtype);
}

void UpcastCall::run_unsigned(const Call& call) {
  if (&op_ == &kernels::copy) {
    Tensor y = operands_[0].tensor;
    return copy_unsigned(y, operands_[1].tensor);
  }
  if (&op_ == &kernels::unary) {
    Tensor y = operands_[0].tensor;
    const auto op = static_cast<UnaryOp>(function_);
    if (op == UnaryOp::relu) return copy_unsigned(y, operands_[1].tensor);
    if (op == UnaryOp::signbit) return kernels::fill(y, false);
    if (op == UnaryOp::logical_not)
      return kernels::compare_scalar(y, operands_[1].tensor, 0, CompareOp::eq);
  }
  const UnsignedRule rule = unsigned_rule();
  if (rule == UnsignedRule::refused) op_.throw_dtype(function_, *unsigned_dtype_);
  const bool is_meta = std::any_of(operands_.begin(), operands_.end(), [](const Operand& o) {
    return o.tensor.defined() && o.tensor.device().is_meta();
  });
  if (is_meta) return;  // shapes only
  const bool flips = rule == UnsignedRule::ordered;
  std::vector<Tensor> passed;
  std::vector<size_t> written;  // outputs to convert back
  for (const auto& [t, is_output] : operands_) {
    const bool has_bits = rule == UnsignedRule::bits ||
                          (rule == UnsignedRule::summed && t.defined() && t.dtype() == kUInt64);
    if (!is_wide_unsigned(t) || has_bits) {
      passed.push_back(as_signed(t));
      continue;
    }
    Tensor& numbers = passed.emplace_back(blank_like(t, flips ? signed_type(t.dtype()) : kInt64));
    if (is_output) {
      written.push_back(passed.size() - 1);
    } else if (flips) {
      apply(BinaryOp::bitwise_xor, numbers, as_signed(t), sign_bit(t.dtype()));
    } else {
      kernels::copy(numbers, t);
    }
  }
  call(passed.data());
  for (const size_t i : written) {
    Tensor y = as_signed(operands_[i].tensor);
    if (flips) {
      apply(BinaryOp::bitwise_xor, y, passed[i], sign_bit(operands_[i].tensor.dtype()));
    } else {
      kernels::copy(y, passed[i]);
    }
  }
}

}  // namespace ambit
