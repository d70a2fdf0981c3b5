// Reductions over dims, and argmax and argmin.
#include <ambit/backend/kernels.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cases.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

struct Shapes {
  const char* name;
  std::vector<std::pair<Dims, Dims>> sizes;  // of x and y
};
const std::vector<Shapes> kShapes = {
    {"0-dim", {{{}, {}}}},
    {"empty", {{{0}, {1}}, {{3, 0, 5}, {3, 1, 5}}, {{3, 0, 5}, {1, 0, 5}}}},
    {"all", {{{1}, {1}}, {{7}, {1}}, {{33}, {1}}, {{4097}, {1}}, {{31, 7}, {1, 1}}}},
    {"rows", {{{31, 7}, {31, 1}}, {{2, 1023}, {2, 1}}, {{3, 4, 17}, {3, 4, 1}}}},
    {"columns", {{{31, 7}, {1, 7}}, {{1023, 2}, {1, 2}}, {{17, 3, 5}, {1, 3, 5}}}},
    {"middle", {{{5, 6, 7, 3}, {5, 1, 7, 1}}, {{5, 6, 7, 3}, {1, 6, 1, 3}}}},
    {"nothing", {{{31, 7}, {31, 7}}}},
};
// Large enough for blocked sums and several threads.
const Shapes kLarge = {"large",
                       {{{300007}, {1}},
                        {{600, 600}, {1, 600}},
                        {{600, 600}, {600, 1}},
                        {{9000, 3}, {1, 3}},
                        {{120000, 3}, {1, 3}}}};

bool is_extreme(ReduceOp op) { return op == ReduceOp::max || op == ReduceOp::min; }

bool is_variance(ReduceOp op) {
  return op == ReduceOp::var || op == ReduceOp::var_unbiased || op == ReduceOp::std ||
         op == ReduceOp::std_unbiased;
}

/// Bound for elements up to 3, n per result.
Bound bound_of(ReduceOp op, double n, DType dtype) {
  const double eps = epsilon(dtype);
  if (is_extreme(op) || eps == 0) return {};
  if (op == ReduceOp::mean) {
    const Bound sum = bound_of(ReduceOp::sum, n, dtype);
    return {2, sum.absolute / std::max(1.0, n), "that of the sum, divided by n and rounded again"};
  }
  if (op == ReduceOp::prod) return {2 * n, 0, "n factors, each rounded, here and in the reference"};
  if (op == ReduceOp::abs_sum || op == ReduceOp::norm) {
    // Errors of equal numbers all have the same sign; a float32 sum is compared with a float64 one.
    if (dtype == kFloat64)
      return {3 + n / 2, 0, "n roundings of half an ulp, in a sum of one sign"};
    return {3 + std::sqrt(n), 0, "n roundings of a sum of one sign, which go either way"};
  }
  if (is_variance(op)) {
    // Deviations are up to 6, each with an error of 3 epsilon; errors of the squares have the same
    // sign.
    const double sum = dtype == kFloat64 ? n / 2 : std::sqrt(n);
    return {4 + sum, 16 * eps, "n roundings of a sum of one sign, of differences that may cancel"};
  }
  // A backend may sum in float32, in blocks: a partial sum stays below 5 * 1.8 sqrt(n), and n
  // random roundings of half an epsilon of it add up to about sqrt(n) of them.
  if (dtype != kFloat64) {
    return {1, 5 * 9 * std::max(1.0, n) * eps / 2,
            "a float32 sum of n numbers up to 3: n roundings that go either way"};
  }
  return {1, 3 * n * n * eps, "n roundings of partial sums up to 3 n, here and in the reference"};
}

/// For products, factors near 1, so that long products stay finite.
Values values_of(ReduceOp op, DType dtype) {
  if (op == ReduceOp::prod && is_floating_point(dtype)) return between(0.991, 1.009);
  return op == ReduceOp::any || op == ReduceOp::all ? few(true) : any();
}

void check_reduce(Trial& t, ReduceOp op, DType dtype, DType to, const Dims& x_sizes,
                  const Dims& y_sizes, Layout layout, const Values& values) {
  const int64_t n = count("conformance", x_sizes);
  if (is_extreme(op) && n == 0) return;
  t.begin();
  Operand& y = t.output("y", to, y_sizes);
  Operand& x = t.input("x", dtype, x_sizes, layout, values);
  t.run([&](Side s) { kernels::reduce(y[s], x[s], op); });
  const int64_t outputs = std::max<int64_t>(1, count("conformance", y_sizes));
  t.expect(y, bound_of(op, static_cast<double>(n / outputs), to));
}

void add_reduce_cases(Cases& cases, ReduceOp op, DType dtype) {
  const DType to = row_of(op).result_dtype(dtype);
  const bool also_int64 =
      row_of(op).result == FunctionRow::Result::total && !is_floating_point(dtype) && to != kInt64;
  const auto add = [&](const Shapes& shapes, Layout layout, const std::string& form) {
    const auto path = fmt::format("reduce/{}/{}/{}", name(op), name(dtype), form);
    cases.push_back(kernel_case(path, [=](Trial& t) {
      for (const auto& [x, y] : shapes.sizes) {
        check_reduce(t, op, dtype, to, x, y, layout, values_of(op, dtype));
        if (also_int64) check_reduce(t, op, dtype, kInt64, x, y, layout, any());
      }
    }));
  };
  for (const Shapes& shapes : kShapes) {
    for (Layout layout : kLayouts) {
      if (layout != Layout::contiguous && count("", shapes.sizes[0].first) < 2) continue;
      add(shapes, layout, fmt::format("{}/{}", shapes.name, name(layout)));
    }
  }
  const Shapes channels{"channels_last",
                        {{{2, 5, 7, 3}, {1, 5, 1, 1}}, {{2, 5, 7, 3}, {2, 1, 7, 3}}}};
  add(channels, Layout::channels_last, channels.name);
  add(kLarge, Layout::contiguous, kLarge.name);
  const bool in_all = (op == ReduceOp::sum || op == ReduceOp::max) && element_size(dtype) >= 4;
  for (Layout layout : kLayouts) {
    if (in_all && layout != Layout::contiguous) {
      add(kLarge, layout, fmt::format("{}/{}", kLarge.name, name(layout)));
    }
  }
  if (!is_floating_point(dtype) || op == ReduceOp::prod) return;
  cases.push_back(
      kernel_case(fmt::format("reduce/{}/{}/nan", name(op), name(dtype)), [=](Trial& t) {
        for (const Dims& y : {Dims{1, 130}, Dims{40, 1}, Dims{1, 1}}) {
          check_reduce(t, op, dtype, to, {40, 130}, y, Layout::contiguous, few(true));
        }
      }));
}

void check_arg_reduce(Trial& t, DType dtype, Dims x_sizes, int64_t dim, bool wants_value,
                      Layout layout, const Values& values) {
  Dims sizes = x_sizes;
  if (!sizes.empty()) sizes[static_cast<size_t>(dim)] = 1;
  for (bool largest : {false, true}) {
    t.begin(fmt::format("dim {}, largest {}", dim, largest));
    Operand& value = wants_value ? t.output("value", dtype, sizes) : t.absent();
    Operand& index = t.output("index", kInt64, sizes);
    Operand& x = t.input("x", dtype, x_sizes, layout, values);
    t.run([&](Side s) { kernels::arg_reduce(value[s], index[s], x[s], dim, largest); });
    t.expect(index);
    if (wants_value) t.expect(value);
  }
}

void add_arg_reduce_cases(Cases& cases, DType dtype) {
  const auto add = [&](const std::string& form, std::function<void(Trial&)> check) {
    cases.push_back(kernel_case(fmt::format("arg_reduce/{}/{}", name(dtype), form), check));
  };
  for (Layout layout : kLayouts) {
    add(name(layout), [=](Trial& t) {
      for (int64_t dim : {0, 1, 2}) {
        check_arg_reduce(t, dtype, {9, 31, 4}, dim, dim != 1, layout, any());
        check_arg_reduce(t, dtype, {9, 31, 4}, dim, dim == 1, layout, few(false));
      }
    });
  }
  add("channels_last", [=](Trial& t) {
    for (int64_t dim : {0, 1, 2, 3}) {
      check_arg_reduce(t, dtype, {2, 5, 7, 3}, dim, true, Layout::channels_last, any());
    }
  });
  add("0-dim",
      [=](Trial& t) { check_arg_reduce(t, dtype, {}, 0, true, Layout::contiguous, any()); });
  add("empty", [=](Trial& t) {
    check_arg_reduce(t, dtype, {0, 3}, 1, true, Layout::contiguous, any());
  });
  add("odd", [=](Trial& t) {
    for (int64_t n : {1, 3, 7, 17, 31, 33, 1023}) {
      check_arg_reduce(t, dtype, {3, n}, 1, true, Layout::contiguous, few(false));
    }
  });
  add("large", [=](Trial& t) {
    check_arg_reduce(t, dtype, {3000, 40}, 1, false, Layout::contiguous, any());
    check_arg_reduce(t, dtype, {1, 70001}, 1, true, Layout::contiguous, few(false));
  });
  if (!is_floating_point(dtype)) return;
  add("nan", [=](Trial& t) {
    for (int64_t dim : {0, 1}) {
      check_arg_reduce(t, dtype, {40, 130}, dim, true, Layout::contiguous, few(true));
    }
  });
}

}  // namespace

void add_reduction_cases(Cases& cases) {
  for (const DType dtype : dtypes::kEvery) {
    for (const ReduceOp op : functions<ReduceOp>()) {
      if (row_of(op).supports(dtype)) add_reduce_cases(cases, op, dtype);
    }
    add_arg_reduce_cases(cases, dtype);
  }
}

}  // namespace conformance
