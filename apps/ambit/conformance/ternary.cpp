// y = op(a, b, c), for each op, dtype and form, where c is a tensor or a number.
#include <ambit/backend/kernels.h>
#include <fmt/format.h>

#include <cmath>

#include "binary_operands.h"
#include "cases.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

bool has_parameter(TernaryOp op) {
  return op == TernaryOp::celu_grad || op == TernaryOp::softplus_grad ||
         op == TernaryOp::smooth_l1_grad || op == TernaryOp::huber_grad ||
         op == TernaryOp::atan_grad || op == TernaryOp::asinh_grad;
}

/// Return numbers for a function's last operand; parameters are positive.
std::vector<Scalar> numbers_for(TernaryOp op, DType dtype) {
  std::vector<Scalar> all;
  for (const Scalar& number : numbers(dtype)) {
    if (!has_parameter(op) || number.to<double>() > 0) all.push_back(number);
  }
  return all;
}

/// Like any(), with 0 instead of numbers so small that subtracting 1 rounds to -1, an integer
/// exponent for which the power of a negative base is defined.
Values exponents() {
  return each([]<class T>(Random& random, int64_t) {
    const T x = any_value<T>(random);
    return std::abs(static_cast<double>(x)) < 0x1p-10 ? T() : x;
  });
}

Values last_values(TernaryOp op, const Values& values) {
  if (has_parameter(op)) return between(0.5, 3);
  return op == TernaryOp::pow_base_grad ? exponents() : values;
}

struct Layouts {
  Layout y, a, b, c;
};
/// Return the layouts of the operands: all in the form's layout, or one of them and the others
/// contiguous.
std::vector<Layouts> layouts_of(const Form& form) {
  constexpr Layout plain = Layout::contiguous;
  const Layout l = form.layout;
  if (l == plain) return {{l, l, l, l}};
  return {{for_output(l), l, l, l}, {plain, l, plain, plain}, {plain, plain, plain, l}};
}

void check(Trial& t, TernaryOp op, DType dtype, IntArrayRef sizes, const Layouts& l,
           const Values& values) {
  t.begin();
  Operand& y = t.output("y", dtype, sizes, l.y);
  Operand& a = t.input("a", dtype, sizes, l.a, values);
  Operand& b = t.input("b", dtype, sizes, l.b, values);
  Operand& c = t.input("c", dtype, sizes, l.c, last_values(op, values));
  t.run([&](Side s) { kernels::ternary(y[s], a[s], b[s], c[s], {}, op); });
  t.expect(y, error_bound(op, dtype), {a, b, c});
}

void check_number(Trial& t, TernaryOp op, DType dtype, IntArrayRef sizes, const Layouts& l) {
  for (const Scalar& number : numbers_for(op, dtype)) {
    t.begin(fmt::format("number {}", number.to<double>()));
    Operand& y = t.output("y", dtype, sizes, l.y);
    Operand& a = t.input("a", dtype, sizes, l.a);
    Operand& b = t.input("b", dtype, sizes, l.b);
    t.run([&](Side s) { kernels::ternary(y[s], a[s], b[s], {}, number, op); });
    t.expect(y, error_bound(op, dtype), {a, b, number});
  }
}

/// y and a are the same tensor: a += number * b.
void check_in_place(Trial& t, TernaryOp op, DType dtype, IntArrayRef sizes, Layout layout) {
  t.begin("y and a the same tensor");
  Operand& y = t.updated("y", dtype, sizes, layout);
  Operand& b = t.input("b", dtype, sizes, layout);
  const Scalar number = numbers_for(op, dtype).back();
  t.run([&](Side s) { kernels::ternary(y[s], y[s], b[s], {}, number, op); });
  t.expect(y, error_bound(op, dtype), {y, b, number});
}

/// True for ops that our own backends compute with one kernel. The other ops test its loops over
/// layouts.
bool is_chain(TernaryOp op) {
  switch (op) {
#define AMBIT_CASE(name, ...) case TernaryOp::name:
    AMBIT_TERNARY_CHAINS(AMBIT_CASE)
#undef AMBIT_CASE
    return true;
    default:
      return false;
  }
}

void add_cases(Cases& cases, TernaryOp op, DType dtype) {
  const auto add = [&](const std::string& form, std::function<void(Trial&)> run) {
    const auto path = fmt::format("ternary/{}/{}/{}", name(op), name(dtype), form);
    cases.push_back(kernel_case(path, std::move(run)));
  };
  for (const Form& form : forms()) {
    if (is_chain(op) && form.name != "contiguous" && form.name != "broadcast") continue;
    add(form.name, [=, &form](Trial& t) {
      for (const Dims& sizes : form.sizes) {
        for (const Layouts& l : layouts_of(form)) {
          check(t, op, dtype, sizes, l, any());
          check_number(t, op, dtype, sizes, l);
        }
      }
    });
  }
  add("in_place", [=](Trial& t) {
    check_in_place(t, op, dtype, {1023}, Layout::contiguous);
    check_in_place(t, op, dtype, {31, 7}, Layout::strided);
  });
  if (op != TernaryOp::maximum_grad && op != TernaryOp::minimum_grad) return;
  add("equal", [=](Trial& t) {
    constexpr Layout plain = Layout::contiguous;
    check(t, op, dtype, {4099}, {plain, plain, plain, plain}, few(true));
  });
}

}  // namespace

void add_ternary_cases(Cases& cases) {
  for (const TernaryOp op : functions<TernaryOp>()) {
    for (const DType dtype : dtypes::with_reduced_floating(row_of(op).dtypes))
      add_cases(cases, op, dtype);
  }
}

}  // namespace conformance
