// Functions of programs on numbers: sizes and arithmetic of sizes, as Python computes them, and
// blocks of calls in another mode.
#include <ambit/autocast.h>
#include <ambit/autograd.h>
#include <ambit/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "call.h"

namespace ambit::graph {
namespace {

enum class Sign : uint8_t { add, sub, mul, floordiv, truediv, mod, pow, max, min };

[[noreturn]] void fail_division() { throw Error("expected a divisor other than 0, got 0"); }

int64_t whole(Sign sign, int64_t a, int64_t b) {
  int64_t out = 0;
  bool overflows = false;
  switch (sign) {
    case Sign::add:
      overflows = __builtin_add_overflow(a, b, &out);
      break;
    case Sign::sub:
      overflows = __builtin_sub_overflow(a, b, &out);
      break;
    case Sign::mul:
      overflows = __builtin_mul_overflow(a, b, &out);
      break;
    case Sign::max:
      return std::max(a, b);
    case Sign::min:
      return std::min(a, b);
    case Sign::pow:
      for (out = 1; b > 0 && !overflows; --b) {
        overflows = __builtin_mul_overflow(out, a, &out);
        if (a == 0 || a == 1 || out == 0) return out;
        if (a == -1) return b % 2 == 0 ? 1 : -1;
      }
      break;
    default: {  // floordiv and mod
      if (b == 0) fail_division();
      overflows = a == INT64_MIN && b == -1;
      if (overflows) break;
      const int64_t rest = a % b, adjusted = rest != 0 && (rest < 0) != (b < 0);
      out = sign == Sign::mod ? rest + adjusted * b : a / b - adjusted;
    }
  }
  if (overflows) {
    throw Error(fmt::format(
        "expected a result of {} and {} that fits int64, got one that overflows", a, b));
  }
  return out;
}

double fraction(Sign sign, double a, double b) {
  const bool divides = sign == Sign::floordiv || sign == Sign::truediv || sign == Sign::mod;
  if (divides && b == 0) fail_division();
  switch (sign) {
    case Sign::add:
      return a + b;
    case Sign::sub:
      return a - b;
    case Sign::mul:
      return a * b;
    case Sign::truediv:
      return a / b;
    case Sign::floordiv:
      return std::floor(a / b);
    case Sign::mod:
      return a - std::floor(a / b) * b;
    case Sign::pow:
      return std::pow(a, b);
    case Sign::max:
      return std::max(a, b);
    case Sign::min:
      return std::min(a, b);
  }
  return 0;
}

void compute(Call& c, Sign sign) {
  const Scalar a = c.scalar(0), b = c.scalar(1);
  const bool is_whole = a.isIntegral(true) && b.isIntegral(true) && sign != Sign::truediv &&
                        !(sign == Sign::pow && b.to<int64_t>() < 0);
  if (is_whole) return c.give(Scalar(whole(sign, a.to<int64_t>(), b.to<int64_t>())));
  c.give(Scalar(fraction(sign, a.to<double>(), b.to<double>())));
}

// Compare two numbers: return -1, 0 or 1; 2 if one is NaN.
int compared(const Call& c) {
  const Scalar a = c.scalar(0), b = c.scalar(1);
  if (a.isIntegral(true) && b.isIntegral(true)) {
    const int64_t x = a.to<int64_t>(), y = b.to<int64_t>();
    return (x > y) - (x < y);
  }
  const double x = a.to<double>(), y = b.to<double>();
  return std::isnan(x) || std::isnan(y) ? 2 : (x > y) - (x < y);
}

void set_grad_enabled(Call& c) {
  const AutoGradMode mode(c.flag(0));
  c.give(run(c.block(1), c.rest(2), c.mode()));
}

void autocast(Call& c) {
  const DType dtype = c.dtype(1).value_or(autocast::get_autocast_dtype(c.device()));
  const AutocastGuard guard(c.device(), dtype, c.flag(2), c.flag(3));
  c.give(run(c.block(4), c.rest(5), c.mode()));
}

#define AMBIT_SIGN(name, sign) {name, "a b", many([](Call& c) { compute(c, Sign::sign); })},
#define AMBIT_COMPARED(name, test)  \
  {name, "a b", many([](Call& c) {  \
     const int order = compared(c); \
     c.give(Scalar(test));          \
   })},

constexpr Function kRows[] = {
    AMBIT_SIGN("_operator.add", add) AMBIT_SIGN("_operator.sub", sub)
        AMBIT_SIGN("_operator.mul", mul) AMBIT_SIGN("_operator.floordiv", floordiv)
            AMBIT_SIGN("_operator.truediv", truediv) AMBIT_SIGN("_operator.mod", mod)
                AMBIT_SIGN("_operator.pow", pow) AMBIT_SIGN("sym_max", max)
                    AMBIT_SIGN("sym_min", min) AMBIT_COMPARED("_operator.eq", order == 0)
                        AMBIT_COMPARED("_operator.ne", order != 0)
                            AMBIT_COMPARED("_operator.lt", order == -1)
                                AMBIT_COMPARED("_operator.le", order == -1 || order == 0)
                                    AMBIT_COMPARED("_operator.gt", order == 1)
                                        AMBIT_COMPARED("_operator.ge", order == 1 || order == 0)
    // clang-format off
    {"_operator.and_", "a b", many([](Call& c) { c.give(Scalar(c.flag(0) && c.flag(1))); })},
    {"_operator.or_", "a b", many([](Call& c) { c.give(Scalar(c.flag(0) || c.flag(1))); })},
    {"_operator.neg", "a", many([](Call& c) { c.give(-c.scalar(0)); })},
    {"_operator.pos", "a", many([](Call& c) { c.give(c.scalar(0)); })},
    {"math.trunc", "x", many([](Call& c) { c.give(Scalar(c.scalar(0).to<int64_t>())); })},
    {"sym_int", "a", many([](Call& c) { c.give(Scalar(c.scalar(0).to<int64_t>())); })},
    {"sym_float", "a", many([](Call& c) { c.give(Scalar(c.real(0))); })},
    {"sym_not", "a", many([](Call& c) { c.give(Scalar(!c.flag(0))); })},
    {"sym_ite", "b t f", many([](Call& c) { c.give(c.scalar(c.flag(0) ? 1 : 2)); })},
    {"sym_size.int", "self dim", many([](Call& c) {
       c.give(Scalar(c.tensor(0).size(c.integer(1)))); })},
    {"sym_stride.int", "self dim", many([](Call& c) {
       c.give(Scalar(c.tensor(0).stride(c.integer(1)))); })},
    {"sym_numel.default", "self", many([](Call& c) { c.give(Scalar(c.tensor(0).numel())); })},
    {"item.default", "self", many([](Call& c) { c.give(c.tensor(0).item()); })},
    {"_local_scalar_dense.default", "self", many([](Call& c) { c.give(c.tensor(0).item()); })},
    {"_assert_scalar.default", "self assert_msg", many([](Call& c) {
       if (!c.flag(0)) throw Error(std::string(c.text(1))); })},
    {"_assert_async.msg", "self assert_msg", many([](Call& c) {
       if (!c.tensor(0).is_nonzero()) throw Error(std::string(c.text(1))); })},
    {"sym_constrain_range.default", "size min=None max=None", many([](Call&) {})},
    {"sym_constrain_range_for_size.default", "size min=None max=None", many([](Call&) {})},
    {"higher_order.wrap_with_set_grad_enabled", "enabled body ...", many(set_grad_enabled)},
    {"higher_order.wrap_with_autocast", "device dtype enabled cache_enabled body ...",
     many(autocast)},
    // clang-format on
};

}  // namespace

constinit const std::span<const Function> kNumberFunctions = kRows;

}  // namespace ambit::graph
