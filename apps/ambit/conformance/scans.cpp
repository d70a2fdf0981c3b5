// Scans along one dim: cumulative sums, products, extremes and logarithms of sums of exponentials.
#include <ambit/backend/kernels.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cases.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

/// Bound for lines of n elements up to 3; products have factors near 1.
Bound bound_of(ScanOp op, double n, DType dtype) {
  const double eps = epsilon(dtype);
  if (eps == 0) return {};
  if (op == ScanOp::prod) return {2 * n, 0, "n factors, each rounded, here and in the reference"};
  if (op == ScanOp::logsumexp) {
    // A step adds a number up to 3 + log(n) and a number up to log(2); exp and log1p are accurate
    // to 4 epsilon, and the influence of earlier errors decreases with each step.
    return {4, 16 * eps * (1 + std::log2(n)) * std::max(1.0, std::sqrt(n)),
            "n roundings of numbers up to 3 + log(n)"};
  }
  // A backend may sum in float32, in blocks: see reductions.cpp.
  if (dtype != kFloat64) {
    return {1, 5 * 9 * std::max(1.0, n) * eps / 2,
            "a float32 sum of n numbers up to 3: n roundings that go either way"};
  }
  return {1, 3 * n * n * eps, "n roundings of partial sums up to 3 n, here and in the reference"};
}

double length_of(const Dims& sizes, int64_t dim) {
  return static_cast<double>(sizes.empty() ? 1 : sizes[static_cast<size_t>(dim)]);
}

/// Check lines of a shape along a dim.
using Check = std::function<void(Trial&, const Dims& sizes, int64_t dim, Layout)>;

void add_line_cases(Cases& cases, const std::string& path, const Check& check) {
  const auto add = [&](const std::string& form, std::function<void(Trial&)> run) {
    cases.push_back(kernel_case(path + "/" + form, std::move(run)));
  };
  for (Layout layout : kLayouts) {
    add(name(layout), [=](Trial& t) {
      for (int64_t dim : {0, 1, 2}) check(t, {9, 31, 4}, dim, layout);
    });
  }
  add("0-dim", [=](Trial& t) { check(t, {}, 0, Layout::contiguous); });
  add("empty", [=](Trial& t) { check(t, {3, 0}, 1, Layout::contiguous); });
  add("odd", [=](Trial& t) {
    for (int64_t n : {1, 3, 7, 17, 33, 1023}) check(t, {n}, 0, Layout::contiguous);
  });
  add("large", [=](Trial& t) {
    check(t, {300, 257}, 1, Layout::contiguous);
    check(t, {70001}, 0, Layout::contiguous);
  });
}

void add_scan_cases_of(Cases& cases, ScanOp op, DType dtype) {
  const bool near_one = op == ScanOp::prod && is_floating_point(dtype);
  const Values values = near_one ? between(0.991, 1.009) : any();
  add_line_cases(
      cases, fmt::format("scan/{}/{}", name(op), name(dtype)),
      [=](Trial& t, const Dims& sizes, int64_t dim, Layout layout) {
        for (const bool reverse : {false, true}) {
          for (const bool exclusive : {false, true}) {
            t.begin(fmt::format("dim {}, reverse {}, exclusive {}", dim, reverse, exclusive));
            Operand& y = t.output("y", dtype, sizes);
            Operand& x = t.input("x", dtype, sizes, layout, values);
            t.run([&](Side s) { kernels::scan(y[s], x[s], {dim, reverse, exclusive}, op); });
            t.expect(y, bound_of(op, length_of(sizes, dim), dtype));
          }
        }
      });
}

void add_extremum_cases_of(Cases& cases, DType dtype) {
  const auto check = [=](Trial& t, const Dims& sizes, int64_t dim, Layout layout,
                         const Values& values) {
    for (bool largest : {false, true}) {
      t.begin(fmt::format("dim {}, largest {}", dim, largest));
      Operand& y = t.output("y", dtype, sizes);
      Operand& index = t.output("index", kInt64, sizes);
      Operand& x = t.input("x", dtype, sizes, layout, values);
      t.run([&](Side s) { kernels::cum_extremum(y[s], index[s], x[s], dim, largest); });
      t.expect(index);
      t.expect(y);
    }
  };
  const auto path = fmt::format("cum_extremum/{}", name(dtype));
  add_line_cases(cases, path, [=](Trial& t, const Dims& sizes, int64_t dim, Layout layout) {
    check(t, sizes, dim, layout, any());
    check(t, sizes, dim, layout, few(false));
  });
  if (!is_floating_point(dtype)) return;
  cases.push_back(kernel_case(path + "/nan", [=](Trial& t) {
    for (int64_t dim : {0, 1}) check(t, {40, 130}, dim, Layout::contiguous, few(true));
  }));
}

}  // namespace

void add_scan_cases(Cases& cases) {
  for (const DType dtype : dtypes::kEvery) {
    for (const ScanOp op : functions<ScanOp>()) {
      if (row_of(op).supports(dtype)) add_scan_cases_of(cases, op, dtype);
    }
    add_extremum_cases_of(cases, dtype);
  }
}

}  // namespace conformance
