// Sorting along one dim, topk, and searchsorted.
#include <ambit/backend/kernels.h>
#include <fmt/format.h>

#include <algorithm>

#include "cases.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

/// Check the first k elements of each sorted line; k = 0: all.
void check_sort(Trial& t, DType dtype, const Dims& sizes, int64_t dim, int64_t k, Layout layout,
                const Values& values) {
  Dims kept = sizes;
  if (k > 0 && !sizes.empty()) kept[static_cast<size_t>(dim)] = k;
  for (bool descending : {false, true}) {
    t.begin(fmt::format("dim {}, {} {}", dim, k > 0 ? "largest" : "descending", descending));
    Operand& y = t.output("y", dtype, kept);
    Operand& index = t.output("index", kInt64, kept);
    Operand& x = t.input("x", dtype, sizes, layout, values);
    t.run([&](Side s) {
      k > 0 ? kernels::topk(y[s], index[s], x[s], dim, descending)
            : kernels::sort(y[s], index[s], x[s], dim, descending);
    });
    t.expect(index);
    t.expect(y);
  }
}

/// some: keep the first few of a line (topk); false: all (sort).
void add_sort_cases(Cases& cases, const char* op, DType dtype, bool some) {
  const auto add = [&](const std::string& form, std::function<void(Trial&)> check) {
    cases.push_back(kernel_case(fmt::format("{}/{}/{}", op, name(dtype), form), std::move(check)));
  };
  const auto kept = [some](int64_t k) { return some ? k : 0; };
  for (Layout layout : kLayouts) {
    add(name(layout), [=](Trial& t) {
      for (int64_t dim : {0, 1, 2}) {
        check_sort(t, dtype, {9, 31, 4}, dim, kept(3), layout, any());
        check_sort(t, dtype, {9, 31, 4}, dim, kept(4), layout, few(false));
      }
    });
  }
  add("0-dim", [=](Trial& t) { check_sort(t, dtype, {}, 0, kept(1), Layout::contiguous, any()); });
  add("empty", [=](Trial& t) {
    check_sort(t, dtype, {0, 3}, 1, kept(2), Layout::contiguous, any());
  });
  add("odd", [=](Trial& t) {
    for (int64_t n : {1, 7, 33, 63, 64, 127, 128, 129, 257, 1023, 1024, 1025, 2500}) {
      for (int64_t k : {int64_t{1}, (n + 8) / 9, n}) {
        check_sort(t, dtype, {3, n}, 1, kept(k), Layout::contiguous, few(false));
        if (!some) break;
      }
    }
  });
  add("large", [=](Trial& t) {
    check_sort(t, dtype, {1, 70001}, 1, kept(300), Layout::contiguous, any());
    check_sort(t, dtype, {300, 257}, 0, kept(10), Layout::contiguous, any());
  });
  if (!is_floating_point(dtype)) return;
  add("nan", [=](Trial& t) {
    for (int64_t dim : {0, 1}) {
      check_sort(t, dtype, {40, 130}, dim, kept(20), Layout::contiguous, few(true));
    }
    check_sort(t, dtype, {5, 4 * kSpecialCount}, 1, kept(9), Layout::contiguous, special());
  });
}

/// Sorted rows with steps of 0 or 1, and search values around them, many of which are equal.
void check_searchsorted(Trial& t, DType dtype, int64_t rows, int64_t length, int64_t columns,
                        bool one_row) {
  const auto steps = each([=]<class T>(Random&, int64_t i) {
    return static_cast<T>(i % std::max<int64_t>(length, 1) * 2 / 3 % 100);
  });
  for (bool right : {false, true}) {
    t.begin(fmt::format("right {}", right));
    Operand& index = t.output("index", kInt64, {rows, columns});
    Operand& sorted =
        t.input("sorted", dtype, {one_row ? 1 : rows, length}, Layout::contiguous, steps);
    Operand& x = t.input("x", dtype, {rows, columns}, Layout::contiguous,
                         is_floating_point(dtype) ? few(true) : between(0, 100));
    t.run([&](Side s) { kernels::searchsorted(index[s], sorted[s], x[s], right); });
    t.expect(index);
  }
}

void add_searchsorted_cases(Cases& cases, DType dtype) {
  const auto add = [&](const char* form, std::function<void(Trial&)> check) {
    cases.push_back(
        kernel_case(fmt::format("searchsorted/{}/{}", name(dtype), form), std::move(check)));
  };
  add("odd", [=](Trial& t) {
    for (int64_t n : {1, 2, 7, 33, 140}) {
      check_searchsorted(t, dtype, 3, n, 17, false);
      check_searchsorted(t, dtype, 3, n, 17, true);
    }
  });
  add("empty", [=](Trial& t) {
    check_searchsorted(t, dtype, 1, 0, 5, true);
    check_searchsorted(t, dtype, 2, 4, 0, false);
  });
  add("large", [=](Trial& t) { check_searchsorted(t, dtype, 1, 149, 70001, true); });
}

}  // namespace

void add_sorting_cases(Cases& cases) {
  for (const DType dtype : dtypes::kEvery) {
    add_sort_cases(cases, "sort", dtype, false);
    add_sort_cases(cases, "topk", dtype, true);
    if (dtype != kBool) add_searchsorted_cases(cases, dtype);
  }
}

}  // namespace conformance
