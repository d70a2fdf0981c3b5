// Kernels with scalar operands: binary_scalar, compare_scalar, clamp, masked_fill. A case tests all
// layouts; the functions themselves are tested by binary and others.
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <limits>
#include <optional>

#include "binary_operands.h"
#include "cases.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string str(const Scalar& s) { return fmt::format("{}", s.to<double>()); }

/// Call check(t, sizes, layout) for all forms of elementwise kernels.
template <class Check>
std::function<void(Trial&)> for_all_forms(Check check) {
  return [check](Trial& t) {
    for (const Form& form : forms()) {
      for (const Dims& sizes : form.sizes) check(t, IntArrayRef(sizes), form.layout);
    }
  };
}

void check_binary(Trial& t, BinaryOp op, DType dtype, IntArrayRef sizes, Layout layout,
                  const ScalarOperand& number, const Values& values) {
  t.begin(fmt::format("number {}{}", str(number.value), number.first ? ", first" : ""));
  Operand& y = t.output("y", dtype, sizes, for_output(layout));
  Operand& x = t.input("x", dtype, sizes, layout, number.first ? second_of(op, values) : values);
  t.run([&](Side s) { kernels::binary_scalar(y[s], x[s], number, op); });
  const Term x_term = x, number_term = number.value;
  t.expect(y, error_bound(op, dtype),
           number.first ? std::vector{number_term, x_term} : std::vector{x_term, number_term});
}

void check_binary_in_place(Trial& t, BinaryOp op, DType dtype, IntArrayRef sizes, Layout layout) {
  for (const Scalar& number : numbers(dtype)) {
    t.begin("y and x the same tensor, number " + str(number));
    Operand& y = t.updated("y", dtype, sizes, layout);
    t.run([&](Side s) { kernels::binary_scalar(y[s], y[s], {number}, op); });
    t.expect(y, error_bound(op, dtype), {y, number});
  }
}

/// Integer division by 0: an error, and nothing is written.
void check_by_zero(Trial& t, BinaryOp op, DType dtype) {
  const int64_t n = 1023;
  t.begin("a divisor of 0");
  Operand& y = t.updated("y", dtype, {n});
  Operand& x = t.input("x", dtype, {n});
  t.expect_refusal<Error>("Error", [&](Side s) { kernels::binary_scalar(y[s], x[s], {0}, op); });
  t.expect_kept(y, 0);
  const Values last_is_zero =
      each([=]<class T>(Random&, int64_t i) { return T(i < n - 1 ? 3 : 0); });
  t.begin("a number by 0 at the end");
  Operand& z = t.updated("y", dtype, {n});
  Operand& d = t.input("x", dtype, {n}, Layout::contiguous, last_is_zero);
  t.expect_refusal<Error>("Error", [&](Side s) {
    kernels::binary_scalar(z[s], d[s], {7, true}, op);
  });
  t.expect_kept(z, static_cast<size_t>(n - 1));
}

void check_least_by_minus_one(Trial& t, BinaryOp op, DType dtype) {
  const Values least =
      each([]<class T>(Random&, int64_t) { return std::numeric_limits<T>::lowest(); });
  const Values minus_one = each([]<class T>(Random&, int64_t) { return static_cast<T>(-1); });
  const auto lowest = visit(
      dtype, []<class T>() { return static_cast<int64_t>(std::numeric_limits<T>::lowest()); });
  for (const bool first : {false, true}) {
    t.begin(first ? "the least integer, first, divided by -1" : "the least integer divided by -1");
    Operand& y = t.updated("y", dtype, {3});
    Operand& x = t.input("x", dtype, {3}, Layout::contiguous, first ? minus_one : least);
    const ScalarOperand number{first ? lowest : -1, first};
    const auto call = [&](Side s) { kernels::binary_scalar(y[s], x[s], number, op); };
    if (row_of(op).refuses != FunctionRow::Refuses::overflow) {  // float division, exact
      t.run(call);
      t.expect(y);
    } else {
      t.expect_refusal<Error>("Error", call);
      t.expect_kept(y, 0);
    }
  }
}

void add_binary_scalar_cases(Cases& cases, BinaryOp op, DType dtype) {
  const auto add = [&](const char* form, std::function<void(Trial&)> check) {
    cases.push_back(kernel_case(fmt::format("binary_scalar/{}/{}/{}", name(op), name(dtype), form),
                                std::move(check)));
  };
  add("layouts", for_all_forms([=](Trial& t, IntArrayRef sizes, Layout layout) {
        for (const Scalar& number : numbers(dtype)) {
          for (const bool first : {false, true}) {
            check_binary(t, op, dtype, sizes, layout, {number, first}, any());
          }
        }
      }));
  add("in_place", [=](Trial& t) {
    check_binary_in_place(t, op, dtype, {1023}, Layout::contiguous);
    check_binary_in_place(t, op, dtype, {31, 7}, Layout::strided);
  });
  if (is_floating_point(dtype) && is_special(op)) {
    add("special", [=](Trial& t) {
      for (const double number : {0., -0., 1., kInfinity, -kInfinity, kNaN}) {
        for (const bool first : {false, true}) {
          check_binary(t, op, dtype, {2000}, Layout::contiguous, {number, first}, special());
        }
      }
    });
  }
  if (!is_integral(dtype) || !is_division(op)) return;
  add("by_zero", [=](Trial& t) { check_by_zero(t, op, dtype); });
  if (!is_signed(dtype)) return;
  add("least_by_minus_one", [=](Trial& t) { check_least_by_minus_one(t, op, dtype); });
}

void add_compare_scalar_cases(Cases& cases, CompareOp op, DType dtype) {
  const auto path = fmt::format("compare_scalar/{}/{}/layouts", name(op), name(dtype));
  cases.push_back(kernel_case(
      path, for_all_forms([=](Trial& t, IntArrayRef sizes, Layout layout) {
        for (const Scalar& number : {Scalar(0), Scalar(1), Scalar(-2.5)}) {
          t.begin("number " + str(number));
          Operand& y = t.output("y", kBool, sizes, for_output(layout));
          Operand& x = t.input("x", dtype, sizes, layout, few(true));  // many are equal to it
          t.run([&](Side s) { kernels::compare_scalar(y[s], x[s], number, op); });
          t.expect(y);
        }
      })));
}

using Limit = std::optional<Scalar>;

void check_clamp(Trial& t, DType dtype, IntArrayRef sizes, Layout layout, const Limit& min,
                 const Limit& max, const Values& values) {
  t.begin(fmt::format("min {}, max {}", min ? str(*min) : "none", max ? str(*max) : "none"));
  Operand& y = t.output("y", dtype, sizes, for_output(layout));
  Operand& x = t.input("x", dtype, sizes, layout, values);
  t.run([&](Side s) { kernels::clamp(y[s], x[s], min, max); });
  t.expect(y);
}

void check_clamp_grad(Trial& t, DType dtype, IntArrayRef sizes, Layout layout, const Limit& min,
                      const Limit& max, bool passes_nan, const Values& values) {
  t.begin(fmt::format("min {}, max {}{}", min ? str(*min) : "none", max ? str(*max) : "none",
                      passes_nan ? ", NaN passes" : ""));
  Operand& dx = t.output("dx", dtype, sizes, for_output(layout));
  Operand& dy = t.input("dy", dtype, sizes, layout);
  Operand& x = t.input("x", dtype, sizes, layout, values);
  t.run([&](Side s) { kernels::clamp_grad(dx[s], dy[s], x[s], min, max, passes_nan); });
  t.expect(dx);
}

void add_clamp_grad_cases(Cases& cases, DType dtype) {
  const auto path = [&](const char* form) {
    return fmt::format("clamp_grad/{}/{}", name(dtype), form);
  };
  // Bounds that all dtypes can represent, and that some elements equal.
  cases.push_back(
      kernel_case(path("layouts"), for_all_forms([=](Trial& t, IntArrayRef sizes, Layout layout) {
                    for (const bool passes_nan : {false, true}) {
                      check_clamp_grad(t, dtype, sizes, layout, -1, 1, passes_nan, few(true));
                      check_clamp_grad(t, dtype, sizes, layout, -1, {}, passes_nan, any());
                      check_clamp_grad(t, dtype, sizes, layout, {}, 1.25, passes_nan, any());
                    }
                  })));
  cases.push_back(kernel_case(path("special"), [=](Trial& t) {
    const Limit limits[] = {{}, 0., -1., kInfinity, -kInfinity, kNaN};
    for (const Limit& min : limits) {
      for (const Limit& max : limits) {
        for (const bool passes_nan : {false, true}) {
          check_clamp_grad(t, dtype, {2000}, Layout::contiguous, min, max, passes_nan, special());
        }
      }
    }
  }));
}

void add_clamp_cases(Cases& cases, DType dtype) {
  const auto path = [&](const char* form) { return fmt::format("clamp/{}/{}", name(dtype), form); };
  const Scalar low = dtype == kUInt8 ? 20 : -1, high = is_floating_point(dtype) ? 1.3 : 50;
  cases.push_back(
      kernel_case(path("layouts"), for_all_forms([=](Trial& t, IntArrayRef sizes, Layout layout) {
                    check_clamp(t, dtype, sizes, layout, low, high, any());
                    check_clamp(t, dtype, sizes, layout, low, {}, any());
                    check_clamp(t, dtype, sizes, layout, {}, high, any());
                    check_clamp(t, dtype, sizes, layout, high, low, any());  // all are max
                  })));
  cases.push_back(kernel_case(path("in_place"), [=](Trial& t) {
    t.begin("y and x the same tensor");
    Operand& y = t.updated("y", dtype, {1023});
    t.run([&](Side s) { kernels::clamp(y[s], y[s], low, high); });
    t.expect(y);
  }));
  if (!is_floating_point(dtype)) return;
  cases.push_back(kernel_case(path("special"), [=](Trial& t) {
    const Limit limits[] = {{}, 0., -1., kInfinity, -kInfinity, kNaN};
    for (const Limit& min : limits) {
      for (const Limit& max : limits) {
        if (!min && !max) continue;
        check_clamp(t, dtype, {2000}, Layout::contiguous, min, max, special());
      }
    }
  }));
}

void add_masked_fill_cases(Cases& cases, DType dtype) {
  const auto path = fmt::format("masked_fill/{}/layouts", name(dtype));
  cases.push_back(kernel_case(path, for_all_forms([=](Trial& t, IntArrayRef sizes, Layout layout) {
                                for (const bool masked : {false, true}) {
                                  t.begin(fmt::format("masked {}", masked));
                                  Operand& y = t.output("y", dtype, sizes, for_output(layout));
                                  Operand& x = t.input("x", dtype, sizes, layout);
                                  Operand& mask = t.input("mask", kBool, sizes, layout);
                                  t.run([&](Side s) {
                                    kernels::masked_fill(y[s], x[s], mask[s], numbers(dtype)[0],
                                                         masked);
                                  });
                                  t.expect(y);
                                }
                              })));
}

}  // namespace

void add_scalar_cases(Cases& cases) {
  for (const BinaryOp op : functions<BinaryOp>()) {
    for (const DType dtype : dtypes_of(op)) add_binary_scalar_cases(cases, op, dtype);
  }
  for (const CompareOp op : functions<CompareOp>()) {
    for (const DType dtype : dtypes::with_reduced_floating(row_of(op).dtypes))
      add_compare_scalar_cases(cases, op, dtype);
  }
  for (const DType dtype : dtypes::kEvery) {
    add_clamp_cases(cases, dtype);
    if (is_floating_point(dtype)) add_clamp_grad_cases(cases, dtype);
    add_masked_fill_cases(cases, dtype);
  }
}

}  // namespace conformance
