// y = op(x), for each op, dtype and form.
#include <ambit/backend/kernels.h>
#include <fmt/format.h>

#include <limits>

#include "cases.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

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
  t.expect(y, error_bound(op, to), {x});
}

void check_in_place(Trial& t, UnaryOp op, DType dtype, IntArrayRef sizes, Layout layout) {
  t.begin("y and x the same tensor");
  Operand& y = t.updated("y", dtype, sizes, layout);
  t.run([&](Side s) { kernels::unary(y[s], y[s], op); });
  t.expect(y, error_bound(op, dtype), {y});
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
