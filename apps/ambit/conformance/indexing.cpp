// Gather, scatter, row lookup, and positions of true elements.
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "cases.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

const Dims kSizes{7, 31, 5};

size_t at(int64_t dim) { return static_cast<size_t>(dim); }

Dims with_size(Dims sizes, int64_t dim, int64_t size) {
  sizes[at(dim)] = size;
  return sizes;
}

Values indices(int64_t bound) { return between(0, static_cast<double>(bound)); }

/// Along dim each line contains every index once: 3 is coprime to the sizes.
Values permutations(const Dims& sizes, int64_t dim) {
  const int64_t stride = contiguous_strides(sizes)[at(dim)], size = sizes[at(dim)];
  return each([=]<class T>(Random&, int64_t i) {
    return static_cast<T>((i / stride * 3 + i % stride) % size);
  });
}

Bound sum_bound(DType dtype) {
  // m < 40.
  return {
      1, 40 * 40 * 3 * epsilon(dtype) / 2,
      "m additions of numbers up to 3 round m times a sum below 3 m, here and in the reference"};
}

/// Parameters of a call: operands of [7, 31, 5] in one layout, along one dim.
struct Setting {
  DType dtype;
  Layout layout;
  int64_t dim;
};

void check_gather(Trial& t, const Setting& s, const Dims& x_sizes, const Dims& index_sizes) {
  t.begin(fmt::format("dim {}", s.dim));
  Operand& y = t.output("y", s.dtype, index_sizes);
  Operand& x = t.input("x", s.dtype, x_sizes, s.layout);
  const int64_t bound = x_sizes.empty() ? 1 : x_sizes[at(s.dim)];
  Operand& index = t.input("index", kInt64, index_sizes, s.layout, indices(bound));
  t.run([&](Side side) { kernels::gather(y[side], x[side], index[side], s.dim); });
  t.expect(y);
}

void check_scatter(Trial& t, const Setting& s) {
  t.begin(fmt::format("dim {}", s.dim));
  Operand& y = t.updated("y", s.dtype, kSizes, for_output(s.layout));
  // In the broadcast layout indices would repeat, and the contract does not specify which of equal
  // indices wins.
  const Layout distinct = s.layout == Layout::broadcast ? Layout::contiguous : s.layout;
  Operand& index = t.input("index", kInt64, kSizes, distinct, permutations(kSizes, s.dim));
  Operand& src = t.input("src", s.dtype, kSizes, s.layout);
  t.run([&](Side side) { kernels::scatter(y[side], index[side], src[side], s.dim); });
  t.expect(y);
}

/// With duplicate indices, one of the values is written, deterministically.
void check_duplicates(Trial& t, DType dtype) {
  t.begin("5 elements for each position");
  Operand& y = t.updated("y", dtype, {60, 3});
  Operand& index = t.input("index", kInt64, {300, 3}, Layout::contiguous, indices(60));
  Operand& src = t.input("src", dtype, {300, 3});
  t.run([&](Side side) { kernels::scatter(y[side], index[side], src[side], 0); });
}

void check_scatter_add(Trial& t, const Setting& s) {
  t.begin(fmt::format("dim {}", s.dim));
  Operand& y = t.updated("y", s.dtype, kSizes, for_output(s.layout));
  Operand& index = t.input("index", kInt64, kSizes, s.layout, indices(kSizes[at(s.dim)]));
  Operand& src = t.input("src", s.dtype, kSizes, s.layout);
  t.run([&](Side side) { kernels::scatter_add(y[side], index[side], src[side], s.dim); });
  t.expect(y, sum_bound(s.dtype));
}

/// For products, factors near 1, so that long products stay finite; for maxima and minima, many
/// equal elements.
Values joined(ScatterOp op, DType dtype) {
  if (op == ScatterOp::prod && is_floating_point(dtype)) return between(0.991, 1.009);
  return op == ScatterOp::prod ? any() : few(true);
}

void check_scatter_reduce(Trial& t, const Setting& s, ScatterOp op, const Dims& sizes,
                          const Dims& index_sizes) {
  t.begin(fmt::format("dim {}, {}", s.dim, name(op)));
  Operand& y = t.updated("y", s.dtype, sizes, for_output(s.layout), joined(op, s.dtype));
  const int64_t bound = sizes.empty() ? 1 : sizes[at(s.dim)];
  Operand& index = t.input("index", kInt64, index_sizes, s.layout, indices(bound));
  Operand& src = t.input("src", s.dtype, index_sizes, s.layout, joined(op, s.dtype));
  t.run([&](Side side) { kernels::scatter_reduce(y[side], index[side], src[side], s.dim, op); });
  const double factors = index_sizes.empty() ? 1 : static_cast<double>(index_sizes[at(s.dim)]);
  if (op != ScatterOp::prod) return t.expect(y);
  t.expect(y, {epsilon(s.dtype) > 0 ? 2 * factors : 0, 0,
               "n factors, each rounded, here and in the reference"});
}

void check_index_select(Trial& t, const Setting& s) {
  for (int64_t n : {0, 1, 40}) {
    t.begin(fmt::format("dim {}", s.dim));
    Operand& y = t.output("y", s.dtype, with_size(kSizes, s.dim, n));
    Operand& x = t.input("x", s.dtype, kSizes, s.layout);
    Operand& index = t.input("index", kInt64, {n}, Layout::strided, indices(kSizes[at(s.dim)]));
    t.run([&](Side side) { kernels::index_select(y[side], x[side], index[side], s.dim); });
    t.expect(y);
  }
}

void check_index_add(Trial& t, const Setting& s, const Dims& sizes, int64_t n) {
  t.begin(fmt::format("dim {}", s.dim));
  Operand& y = t.updated("y", s.dtype, sizes, for_output(s.layout));
  Operand& index = t.input("index", kInt64, {n}, Layout::contiguous, indices(sizes[at(s.dim)]));
  Operand& src = t.input("src", s.dtype, with_size(sizes, s.dim, n), s.layout);
  t.run([&](Side side) { kernels::index_add(y[side], index[side], src[side], s.dim); });
  t.expect(y, sum_bound(s.dtype));
}

void check_nonzero(Trial& t, const Dims& sizes) {
  std::vector<bool> mask(static_cast<size_t>(count("conformance", sizes)));
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = any_value<bool>(t.random());
  const int64_t n = std::ranges::count(mask, true);
  t.begin();
  Operand& y = t.output("y", kInt64, {n, static_cast<int64_t>(sizes.size())});
  Operand& x =
      t.input("x", kBool, sizes, Layout::contiguous, each([&]<class T>(Random&, int64_t i) {
                return static_cast<T>(mask[static_cast<size_t>(i)]);
              }));
  t.run([&](Side s) { kernels::nonzero(y[s], x[s]); });
  t.expect(y);
}

void add(Cases& cases, const std::string& path, std::function<void(Trial&)> check) {
  cases.push_back(kernel_case(path, std::move(check)));
}

void add_cases_of(Cases& cases, DType dtype) {
  const auto each_layout = [&](const char* op, auto check, bool has_order = false) {
    for (Layout layout : kLayouts) {
      const std::string path = fmt::format("{}/{}/{}", op, name(dtype), name(layout));
      const auto each_dim = [=](Trial& t) {
        for (int64_t dim : {0, 1, 2}) check(t, Setting{dtype, layout, dim});
      };
      add(cases, path, each_dim);
      if (has_order) cases.push_back(deterministic_case(path, each_dim));
    }
  };
  const auto path = [&](const char* op, const char* form) {
    return fmt::format("{}/{}/{}", op, name(dtype), form);
  };
  each_layout("gather", [](Trial& t, const Setting& s) { check_gather(t, s, kSizes, {6, 9, 4}); });
  each_layout("scatter", check_scatter, true);
  cases.push_back(deterministic_case(path("scatter", "duplicates"),
                                     [=](Trial& t) { check_duplicates(t, dtype); }));
  each_layout("index_select", check_index_select);
  const Setting plain{dtype, Layout::contiguous, 0}, along_rows{dtype, Layout::contiguous, 1};
  add(cases, path("gather", "0-dim"), [=](Trial& t) { check_gather(t, plain, {}, {}); });
  add(cases, path("gather", "empty"), [=](Trial& t) { check_gather(t, plain, kSizes, {0, 9, 4}); });
  add(cases, path("gather", "large"), [=](Trial& t) {
    check_gather(t, along_rows, {50, 300}, {50, 1500});
  });
  for (const ScatterOp op : functions<ScatterOp>()) {
    const std::string kernel = std::string("scatter_reduce/") + name(op);
    each_layout(kernel.c_str(), [op](Trial& t, const Setting& s) {
      check_scatter_reduce(t, s, op, kSizes, kSizes);
      check_scatter_reduce(t, s, op, kSizes, {6, 9, 4});
    });
    add(cases, path(kernel.c_str(), "0-dim"),
        [=](Trial& t) { check_scatter_reduce(t, plain, op, {}, {}); });
    add(cases, path(kernel.c_str(), "empty"), [=](Trial& t) {
      check_scatter_reduce(t, plain, op, kSizes, {0, 9, 4});
    });
    add(cases, path(kernel.c_str(), "large"), [=](Trial& t) {
      check_scatter_reduce(t, along_rows, op, {50, 300}, {50, 1500});
    });
  }
  if (dtype == kBool) return;
  const bool rounds = is_floating_point(dtype);  // integer sums do not depend on the order
  each_layout("scatter_add", check_scatter_add, rounds);
  each_layout(
      "index_add",
      [](Trial& t, const Setting& s) {
        for (int64_t n : {0, 1, 40}) check_index_add(t, s, kSizes, n);
      },
      rounds);
  add(cases, path("index_add", "large"), [=](Trial& t) {
    check_index_add(t, plain, {3, 20001}, 40);
  });
}

/// An invalid index: IndexError, and nothing is written for it or next to the tensor.
void add_bad_index_cases(Cases& cases) {
  const auto bad_at_end = [](int64_t n, int64_t bad) {
    return each([=]<class T>(Random&, int64_t i) { return static_cast<T>(i < n - 1 ? 0 : bad); });
  };
  for (int64_t bad : {-1, 5}) {
    const auto path = [&](const char* op) { return fmt::format("{}/float32/index_{}", op, bad); };
    const auto note = fmt::format("index {} where size is 5", bad);
    const Values last = bad_at_end(12, bad), last_row = bad_at_end(4, bad);
    add(cases, path("gather"), [=](Trial& t) {
      t.begin(note);
      Operand& y = t.updated("y", kFloat32, {4, 3});
      Operand& x = t.input("x", kFloat32, {5, 3});
      Operand& index = t.input("index", kInt64, {4, 3}, Layout::contiguous, last);
      t.expect_refusal<IndexError>("IndexError",
                                   [&](Side s) { kernels::gather(y[s], x[s], index[s], 0); });
      t.expect_kept(y, 11);
    });
    add(cases, path("index_select"), [=](Trial& t) {
      t.begin(note);
      Operand& y = t.updated("y", kFloat32, {4, 3});
      Operand& x = t.input("x", kFloat32, {5, 3});
      Operand& index = t.input("index", kInt64, {4}, Layout::contiguous, last_row);
      t.expect_refusal<IndexError>("IndexError",
                                   [&](Side s) { kernels::index_select(y[s], x[s], index[s], 0); });
      t.expect_kept(y, 9);
    });
    // Valid indices are all 0, so that all rows except the first must not change.
    const auto add_scatter = [&](const char* op, const auto kernel) {
      add(cases, path(op), [=](Trial& t) {
        t.begin(note);
        Operand& y = t.updated("y", kFloat32, {5, 3});
        Operand& index = t.input("index", kInt64, {4, 3}, Layout::contiguous, last);
        Operand& src = t.input("src", kFloat32, {4, 3});
        t.expect_refusal<IndexError>("IndexError",
                                     [&](Side s) { kernel(y[s], index[s], src[s], 0); });
        t.expect_kept(y, 3);
      });
    };
    add_scatter("scatter", std::cref(kernels::scatter));
    add_scatter("scatter_add", std::cref(kernels::scatter_add));
    for (const ScatterOp op : functions<ScatterOp>()) {
      add_scatter(fmt::format("scatter_reduce/{}", name(op)).c_str(),
                  [op](Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
                    kernels::scatter_reduce(y, index, src, dim, op);
                  });
    }
    add(cases, path("index_add"), [=](Trial& t) {
      t.begin(note);
      Operand& y = t.updated("y", kFloat32, {5, 3});
      Operand& index = t.input("index", kInt64, {4}, Layout::contiguous, last_row);
      Operand& src = t.input("src", kFloat32, {4, 3});
      t.expect_refusal<IndexError>("IndexError",
                                   [&](Side s) { kernels::index_add(y[s], index[s], src[s], 0); });
      t.expect_kept(y, 3);
    });
  }
}

}  // namespace

void add_index_cases(Cases& cases) {
  for (const DType dtype : dtypes::kEvery) add_cases_of(cases, dtype);
  add_bad_index_cases(cases);
  add(cases, "nonzero/bool/0-dim", [](Trial& t) { check_nonzero(t, {}); });
  add(cases, "nonzero/bool/empty", [](Trial& t) { check_nonzero(t, {0, 3}); });
  add(cases, "nonzero/bool/odd", [](Trial& t) {
    for (const Dims& sizes : {Dims{1}, Dims{31}, Dims{33}, Dims{5, 7, 3}}) check_nonzero(t, sizes);
  });
  add(cases, "nonzero/bool/large", [](Trial& t) { check_nonzero(t, {129, 517}); });
}

}  // namespace conformance
