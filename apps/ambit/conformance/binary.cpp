// y = op(a, b), for each op, dtype and form; comparisons too.
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <limits>

#include "binary_operands.h"
#include "cases.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

struct Layouts {
  Layout y, a, b;
};
/// Return the layouts of y, a and b in each call: the form's layout for all, then for one of a and
/// b with contiguous tensors.
std::vector<Layouts> layouts_of(const Form& form) {
  if (form.layout == Layout::contiguous) return {{form.layout, form.layout, form.layout}};
  return {{for_output(form.layout), form.layout, form.layout},
          {Layout::contiguous, Layout::contiguous, form.layout},
          {Layout::contiguous, form.layout, Layout::contiguous}};
}

void check(Trial& t, BinaryOp op, DType dtype, IntArrayRef sizes, const Layouts& l,
           const Values& values) {
  t.begin();
  Operand& y = t.output("y", dtype, sizes, l.y);
  Operand& a = t.input("a", dtype, sizes, l.a, values);
  Operand& b = t.input("b", dtype, sizes, l.b, second_of(op, values));
  t.run([&](Side s) { kernels::binary(y[s], a[s], b[s], op); });
  t.expect(y, error_bound(op, dtype), {a, b});
}

/// y and a are the same tensor: a += b.
void check_in_place(Trial& t, BinaryOp op, DType dtype, IntArrayRef sizes, Layout layout) {
  t.begin("y and a the same tensor");
  Operand& y = t.updated("y", dtype, sizes, layout);
  Operand& b = t.input("b", dtype, sizes, layout, second_of(op, any()));
  t.run([&](Side s) { kernels::binary(y[s], y[s], b[s], op); });
  t.expect(y, error_bound(op, dtype), {y, b});
}

void add_cases(Cases& cases, BinaryOp op, DType dtype) {
  const auto path = [&](const std::string& form) {
    return fmt::format("binary/{}/{}/{}", name(op), name(dtype), form);
  };
  for (const Form& form : forms()) {
    cases.push_back(kernel_case(path(form.name), [=, &form](Trial& t) {
      for (const Dims& sizes : form.sizes) {
        for (const Layouts& l : layouts_of(form)) check(t, op, dtype, sizes, l, any());
      }
    }));
  }
  cases.push_back(kernel_case(path("in_place"), [=](Trial& t) {
    check_in_place(t, op, dtype, {1023}, Layout::contiguous);
    check_in_place(t, op, dtype, {31, 7}, Layout::strided);
  }));
  if (!is_special(op) || !is_floating_point(dtype)) return;
  cases.push_back(kernel_case(path("special"), [=](Trial& t) {
    const Layouts plain{Layout::contiguous, Layout::contiguous, Layout::contiguous};
    check(t, op, dtype, {20000}, plain, special());
    // All pairs of special numbers.
    t.begin();
    Operand& y = t.output("y", dtype, {kSpecialCount, kSpecialCount});
    Operand& a = t.input("a", dtype, {kSpecialCount, kSpecialCount}, plain.a, special_rows());
    Operand& b =
        t.input("b", dtype, {kSpecialCount, kSpecialCount}, Layout::transposed, special_columns());
    t.run([&](Side s) { kernels::binary(y[s], a[s], b[s], op); });
    t.expect(y, error_bound(op, dtype), {a, b});
  }));
}

/// Integer division by zero: an error, and that element is not written.
void add_bad_divisor_case(Cases& cases, BinaryOp op, DType dtype) {
  const auto path = fmt::format("binary/{}/{}/by_zero", name(op), name(dtype));
  cases.push_back(kernel_case(path, [=](Trial& t) {
    const int64_t n = 270001;
    const Values last_is_zero =
        each([=]<class T>(Random&, int64_t i) { return T(i < n - 1 ? 3 : 0); });
    t.begin("a divisor of 0 at the end");
    Operand& y = t.updated("y", dtype, {n});
    Operand& a = t.input("a", dtype, {n});
    Operand& b = t.input("b", dtype, {n}, Layout::contiguous, last_is_zero);
    t.expect_refusal<Error>("Error", [&](Side s) { kernels::binary(y[s], a[s], b[s], op); });
    t.expect_kept(y, static_cast<size_t>(n - 1));
  }));
}

void add_least_by_minus_one_case(Cases& cases, BinaryOp op, DType dtype) {
  const auto path = fmt::format("binary/{}/{}/least_by_minus_one", name(op), name(dtype));
  cases.push_back(kernel_case(path, [=](Trial& t) {
    const Values least =
        each([]<class T>(Random&, int64_t) { return std::numeric_limits<T>::lowest(); });
    const Values minus_one = each([]<class T>(Random&, int64_t) { return static_cast<T>(-1); });
    t.begin("the least integer divided by -1");
    Operand& y = t.updated("y", dtype, {3});
    Operand& a = t.input("a", dtype, {3}, Layout::contiguous, least);
    Operand& b = t.input("b", dtype, {3}, Layout::broadcast, minus_one);
    const auto call = [&](Side s) { kernels::binary(y[s], a[s], b[s], op); };
    if (row_of(op).refuses != FunctionRow::Refuses::overflow) {  // float division, exact
      t.run(call);
      return t.expect(y);
    }
    t.expect_refusal<Error>("Error", call);
    t.expect_kept(y, 0);
  }));
}

void check_compare(Trial& t, CompareOp op, DType dtype, IntArrayRef sizes, const Layouts& l,
                   const Values& values) {
  t.begin();
  Operand& y = t.output("y", kBool, sizes, l.y);
  Operand& a = t.input("a", dtype, sizes, l.a, values);
  Operand& b = t.input("b", dtype, sizes, l.b, values);
  t.run([&](Side s) { kernels::compare(y[s], a[s], b[s], op); });
  t.expect(y);
}

void add_compare_cases(Cases& cases, CompareOp op, DType dtype) {
  const auto path = [&](const std::string& form) {
    return fmt::format("compare/{}/{}/{}", name(op), name(dtype), form);
  };
  for (const Form& form : forms()) {
    cases.push_back(kernel_case(path(form.name), [=, &form](Trial& t) {
      for (const Dims& sizes : form.sizes) {
        for (const Layouts& l : layouts_of(form)) check_compare(t, op, dtype, sizes, l, any());
        check_compare(t, op, dtype, sizes, layouts_of(form)[0],
                      few(true));  // many elements are equal
      }
    }));
  }
}

}  // namespace

void add_binary_cases(Cases& cases) {
  for (const BinaryOp op : functions<BinaryOp>()) {
    for (const DType dtype : dtypes_of(op)) {
      add_cases(cases, op, dtype);
      if (!is_division(op) || !is_integral(dtype)) continue;
      add_bad_divisor_case(cases, op, dtype);
      if (is_signed(dtype)) add_least_by_minus_one_case(cases, op, dtype);
    }
  }
  for (const CompareOp op : functions<CompareOp>()) {
    for (const DType dtype : dtypes::with_reduced_floating(row_of(op).dtypes))
      add_compare_cases(cases, op, dtype);
  }
}

}  // namespace conformance
