// Sums, means and maxima of bags of rows.
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include "cases.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;
using Mode = EmbeddingBagParams::Mode;

struct Bags {
  const char* name;
  int64_t V, D, n;
  std::vector<int64_t> offsets;
  int64_t most;  // largest number of rows in a bag
};
const std::vector<Bags> kBags = {
    {"one", 1, 1, 1, {0, 1}, 1},
    {"odd", 11, 7, 20, {0, 3, 3, 8, 19, 20, 20}, 11},
    {"wide", 5, 130, 12, {0, 5, 12}, 7},
    {"beside_bags", 6, 4, 9, {2, 4, 7}, 3},
    {"no_bags", 6, 4, 9, {0}, 1},
    {"no_rows", 6, 4, 0, {0, 0, 0}, 1},
    {"large", 3000, 33, 7000, {0, 1000, 1040, 1040, 3500, 7000}, 3500},
};

Values listed(const std::vector<int64_t>& numbers) {
  return each([&numbers]<class T>(Random&, int64_t i) {
    return static_cast<T>(numbers[static_cast<size_t>(i)]);
  });
}

struct Setting {
  Mode mode;
  bool weighted;
  int64_t padding;
};
const Setting kSettings[] = {{Mode::sum, false, -1}, {Mode::sum, true, 1},   {Mode::mean, false, 0},
                             {Mode::mean, true, -1}, {Mode::max, false, -1}, {Mode::max, false, 2}};

std::string text(const Setting& s) {
  return fmt::format("mode {}, padding {}", static_cast<int>(s.mode), s.padding);
}
EmbeddingBagParams params(const Setting& s) { return {.mode = s.mode, .padding = s.padding}; }

/// Bound of a sum of n products of numbers up to 3.
Bound bound(int64_t n, DType dtype) {
  const auto terms = static_cast<double>(n + 2);
  return {1, 9 * terms * terms * epsilon(dtype) / 2, "n sums of products up to 9, each rounded"};
}

void check_forward(Trial& t, const Bags& c, DType dtype, Layout layout) {
  const auto B = static_cast<int64_t>(c.offsets.size()) - 1;
  for (const Setting& s : kSettings) {
    t.begin(text(s));
    Operand& y = t.output("y", dtype, {B, c.D}, layout);
    Operand& best = s.mode == Mode::max ? t.output("best", kInt64, {B, c.D}, layout) : t.absent();
    Operand& w = t.input("w", dtype, {c.V, c.D}, layout, s.mode == Mode::max ? few(true) : any());
    Operand& index = t.input("index", kInt64, {c.n}, layout, between(0, static_cast<double>(c.V)));
    Operand& offsets = t.input("offsets", kInt64, {B + 1}, layout, listed(c.offsets));
    Operand& factors = s.weighted ? t.input("factors", dtype, {c.n}, layout) : t.absent();
    t.run([&](Side side) {
      kernels::embedding_bag(y[side], best[side], w[side], index[side], offsets[side],
                             factors[side], params(s));
    });
    if (s.mode == Mode::max) t.expect(best);
    t.expect(y, s.mode == Mode::max ? Bound() : bound(c.most, dtype));
  }
}

void check_backward(Trial& t, const Bags& c, DType dtype, Layout layout) {
  const auto B = static_cast<int64_t>(c.offsets.size()) - 1;
  for (const Setting& s : kSettings) {
    t.begin(text(s));
    Operand& dw = t.output("dw", dtype, {c.V, c.D}, layout);
    Operand& dy = t.input("dy", dtype, {B, c.D}, layout);
    Operand& best = s.mode == Mode::max ? t.input("best", kInt64, {B, c.D}, layout,
                                                  between(-1, static_cast<double>(c.n)))
                                        : t.absent();
    Operand& index = t.input("index", kInt64, {c.n}, layout, between(0, static_cast<double>(c.V)));
    Operand& offsets = t.input("offsets", kInt64, {B + 1}, layout, listed(c.offsets));
    Operand& factors = s.weighted ? t.input("factors", dtype, {c.n}, layout) : t.absent();
    t.run([&](Side side) {
      kernels::embedding_bag_grad(dw[side], dy[side], best[side], index[side], offsets[side],
                                  factors[side], params(s));
    });
    t.expect(dw, bound(c.n / c.V * 3 + 20, dtype));  // each row occurs in few positions
  }
}

void check_bad_index(Trial& t, int64_t bad) {
  t.begin(fmt::format("index {} of 3 rows", bad));
  const std::vector<int64_t> numbers{0, bad, 1};
  Operand& y = t.updated("y", kFloat32, {1, 4});
  Operand& none = t.absent();
  Operand& w = t.input("w", kFloat32, {3, 4});
  Operand& index = t.input("index", kInt64, {3}, Layout::contiguous, listed(numbers));
  const std::vector<int64_t> ends{0, 3};
  Operand& offsets = t.input("offsets", kInt64, {2}, Layout::contiguous, listed(ends));
  t.expect_refusal<IndexError>("IndexError", [&](Side s) {
    kernels::embedding_bag(y[s], none[s], w[s], index[s], offsets[s], none[s], {});
  });
}

}  // namespace

void add_bag_cases(Cases& cases) {
  const auto add = [&](const char* op, const Bags& c, auto check, bool has_order) {
    for (DType dtype : dtypes::kAnyFloating) {
      const std::string path = fmt::format("{}/{}/{}", op, name(dtype), c.name);
      const auto each_layout = [=, &c](Trial& t) {
        for (Layout layout : {Layout::contiguous, Layout::offset}) check(t, c, dtype, layout);
      };
      cases.push_back(kernel_case(path, each_layout));
      if (has_order) cases.push_back(deterministic_case(path, each_layout));
    }
  };
  for (const Bags& c : kBags) add("embedding_bag", c, check_forward, false);
  for (const Bags& c : kBags) add("embedding_bag_grad", c, check_backward, true);
  for (const int64_t bad : {int64_t{-1}, int64_t{3}}) {
    cases.push_back(kernel_case(fmt::format("embedding_bag/bad_index/{}", bad),
                                [=](Trial& t) { check_bad_index(t, bad); }));
  }
}

}  // namespace conformance
