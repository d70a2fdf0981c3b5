// y = op(x), for each op, dtype and form.
#include <ambit/backend/kernels.h>
#include <fmt/format.h>

#include <limits>

#include "cases.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

/// Return the smallest denormal of the dtype in which floats are computed.
double denormal(DType dtype) {
  return dtype == kFloat64 ? std::numeric_limits<double>::denorm_min()
                           : static_cast<double>(std::numeric_limits<float>::denorm_min());
}

Bound bound_of(UnaryOp op, DType dtype) {
  if (!is_floating_point(dtype)) return {};
  switch (op) {
    case UnaryOp::neg:
    case UnaryOp::abs:
    case UnaryOp::sign:
    case UnaryOp::relu:
    case UnaryOp::floor:
    case UnaryOp::ceil:
    case UnaryOp::round:
    case UnaryOp::trunc:
    case UnaryOp::frac:
      return {};
    case UnaryOp::gelu:
      // x in [-4096, 4096] for special values: at most half an epsilon * 2^11 * 4 roundings.
      return {5, 4096 * epsilon(dtype),
              "x / 2 * (1 + erf(x / sqrt 2)): erf near -1 is exact to half an ulp of 1"};
    case UnaryOp::gelu_tanh:
      // In the lower tail s(u) = e^u, and |x| |u| e^u < 0.3.
      return {8, epsilon(dtype),
              "x s(u), s = 1 / (1 + e^-u): libm is accurate to 4 ulp, of a u rounded three times"};
    case UnaryOp::lgamma:
    case UnaryOp::digamma:
      return {8, 16 * epsilon(dtype),
              "libm is accurate to 4 ulp; near the zeros, to ulps of the parts that cancel"};
    case UnaryOp::i1:
    case UnaryOp::i1e:
      return {16, 0, "a sum of terms that cancel to a tenth"};
    case UnaryOp::erfcx:
      return {12, 0, "two functions of libm, each accurate to 4 ulp"};
    case UnaryOp::ndtri:
      return {12, epsilon(dtype),
              "two functions of libm, each accurate to 4 ulp; near 1/2 a difference of parts of 1"};
    case UnaryOp::sinc:
      return {5, 2 * epsilon(dtype), "near the zeros pi x is rounded"};
    case UnaryOp::logit:
      return {5, epsilon(dtype), "near 1/2 the logarithm of a rounded quotient of 1"};
    case UnaryOp::sin:
    case UnaryOp::cos:
      return {5, epsilon(dtype),
              "libm is accurate to 4 ulp; near the zeros k pi, to an ulp of the part taken away"};
    case UnaryOp::sigmoid:
      return {5, std::numeric_limits<double>::min(),
              "libm is accurate to 4 ulp; exp(-|x|), and so the result, may be denormal"};
    case UnaryOp::hardsigmoid:
    case UnaryOp::hardswish:
      return {3, 0, "three roundings"};
    case UnaryOp::silu:
    case UnaryOp::mish:
      return {10, 1000 * denormal(dtype),
              "two functions of libm accurate to 4 ulp; a denormal one is multiplied by up to 745"};
    case UnaryOp::selu:
    case UnaryOp::logsigmoid:
      return {10, denormal(dtype), "two functions of libm, each accurate to 4 ulp"};
    default:
      return {5, 0, "libm is accurate to 4 ulp, and the reference rounds once more"};
  }
}

/// Infinities of both signs.
Values infinities() {
  return each([]<class T>(Random&, int64_t i) {
    const T infinity = kIsFloat<T> ? std::numeric_limits<T>::infinity() : T(0);
    return i % 2 == 0 ? infinity : -infinity;
  });
}

/// Return true for a bounded function whose limits are numbers of the dtype.
bool has_exact_limits(UnaryOp op) {
  return op == UnaryOp::tanh || op == UnaryOp::erf || op == UnaryOp::sigmoid || op == UnaryOp::erfc;
}

void check(Trial& t, UnaryOp op, DType dtype, IntArrayRef sizes, Layout layout, Layout out,
           const Values& values) {
  t.begin();
  const DType to = row_of(op).result_dtype(dtype);
  Operand& y = t.output("y", to, sizes, out);
  Operand& x = t.input("x", dtype, sizes, layout, values);
  t.run([&](Side s) { kernels::unary(y[s], x[s], op); });
  t.expect(y, bound_of(op, to));
}

void check_in_place(Trial& t, UnaryOp op, DType dtype, IntArrayRef sizes, Layout layout) {
  t.begin("y and x the same tensor");
  Operand& y = t.updated("y", dtype, sizes, layout);
  t.run([&](Side s) { kernels::unary(y[s], y[s], op); });
  t.expect(y, bound_of(op, dtype));
}

void add_cases(Cases& cases, UnaryOp op, DType dtype) {
  const auto path = [&](const std::string& form) {
    return fmt::format("unary/{}/{}/{}", name(op), name(dtype), form);
  };
  for (const Form& form : forms()) {
    cases.push_back(kernel_case(path(form.name), [=, &form](Trial& t) {
      for (const Dims& sizes : form.sizes) {
        check(t, op, dtype, sizes, form.layout, Layout::contiguous, any());
        if (form.layout == Layout::contiguous) continue;
        check(t, op, dtype, sizes, form.layout, for_output(form.layout), any());
      }
    }));
  }
  if (row_of(op).result_dtype(dtype) == dtype) {
    cases.push_back(kernel_case(path("in_place"), [=](Trial& t) {
      check_in_place(t, op, dtype, {1023}, Layout::contiguous);
      check_in_place(t, op, dtype, {31, 7}, Layout::strided);
    }));
  }
  if (!is_floating_point(dtype)) return;
  cases.push_back(kernel_case(path("special"), [=](Trial& t) {
    check(t, op, dtype, {20000}, Layout::contiguous, Layout::contiguous, special());
  }));
  if (!has_exact_limits(op)) return;
  cases.push_back(kernel_case(path("limits"), [=](Trial& t) {
    t.begin();
    Operand& y = t.output("y", dtype, {67});
    Operand& x = t.input("x", dtype, {67}, Layout::contiguous, infinities());
    t.run([&](Side s) { kernels::unary(y[s], x[s], op); });
    t.expect(y);
  }));
}

}  // namespace

void add_unary_cases(Cases& cases) {
  for (const UnaryOp op : functions<UnaryOp>()) {
    for (const DType dtype : dtypes::with_reduced_floating(row_of(op).dtypes))
      add_cases(cases, op, dtype);
  }
}

}  // namespace conformance
