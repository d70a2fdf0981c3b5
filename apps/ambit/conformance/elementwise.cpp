// where, copy (with conversion) and fill.
#include <ambit/backend/kernels.h>
#include <fmt/format.h>

#include "cases.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

void check_where(Trial& t, DType dtype, IntArrayRef sizes, Layout layout) {
  t.begin();
  Operand& y = t.output("y", dtype, sizes, for_output(layout));
  Operand& condition = t.input("condition", kBool, sizes, layout);
  Operand& a = t.input("a", dtype, sizes);
  Operand& b = t.input("b", dtype, sizes, layout);
  t.run([&](Side s) { kernels::where(y[s], condition[s], a[s], b[s]); });
  t.expect(y);
}

/// Numbers that every dtype can represent: converting other floats is undefined in C++.
Values convertible(DType from) { return is_floating_point(from) ? between(0, 127) : any(); }

void check_copy(Trial& t, DType to, DType from, IntArrayRef sizes, Layout layout, Layout out) {
  t.begin();
  Operand& y = t.output("y", to, sizes, out);
  Operand& x = t.input("x", from, sizes, layout, to == from ? any() : convertible(from));
  t.run([&](Side s) { kernels::copy(y[s], x[s]); });
  t.expect(y);
}

void check_fill(Trial& t, DType dtype, IntArrayRef sizes, Layout layout) {
  for (const Scalar& value : {Scalar(2.75), Scalar(0), Scalar(true)}) {
    t.begin("value " + std::to_string(value.to<double>()));
    Operand& y = t.output("y", dtype, sizes, layout);
    t.run([&](Side s) { kernels::fill(y[s], value); });
    t.expect(y);
  }
}

/// Copy every layout to every layout.
void check_copy_layouts(Trial& t, DType to, DType from) {
  for (Layout out : kLayouts) {
    if (out == Layout::broadcast) continue;
    for (Layout in : kLayouts) check_copy(t, to, from, {37, 5, 11}, in, out);
  }
}

}  // namespace

void add_elementwise_cases(Cases& cases) {
  for (const DType dtype : dtypes::kEvery) {
    for (const Form& form : forms()) {
      const auto add = [&](const char* op, auto check) {
        cases.push_back(
            kernel_case(fmt::format("{}/{}/{}", op, name(dtype), form.name), [=, &form](Trial& t) {
              for (const Dims& sizes : form.sizes) check(t, IntArrayRef(sizes), form.layout);
            }));
      };
      add("where", [=](Trial& t, IntArrayRef sizes, Layout l) { check_where(t, dtype, sizes, l); });
      add("copy", [=](Trial& t, IntArrayRef sizes, Layout l) {
        check_copy(t, dtype, dtype, sizes, l, Layout::contiguous);
        check_copy(t, dtype, dtype, sizes, Layout::contiguous, for_output(l));
      });
      if (form.layout == Layout::broadcast) continue;  // outputs must not overlap themselves
      add("fill", [=](Trial& t, IntArrayRef sizes, Layout l) { check_fill(t, dtype, sizes, l); });
    }
    for (const DType from : dtypes::kEvery) {
      const auto path = fmt::format("copy/{}/from_{}", name(dtype), name(from));
      cases.push_back(kernel_case(path, [=](Trial& t) { check_copy_layouts(t, dtype, from); }));
    }
  }
}

}  // namespace conformance
