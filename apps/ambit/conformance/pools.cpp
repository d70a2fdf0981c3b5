// Max and average pooling, and their gradients.
#include <ambit/backend/kernels.h>
#include <fmt/format.h>

#include "cases.h"
#include "sum_bound.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

struct Pool {
  const char* name;
  Dims x;
  PoolParams p;
  Dims adaptive = {};  // y's spatial sizes for adaptive pooling
  Dims y() const { return p.adaptive ? adaptive : p.out_sizes("conformance", x); }
};
const std::vector<Pool> kPools = {
    {"1x1", {1, 1, 1, 1}, {.kernel = {1, 1}}},
    {"2x2", {4, 6, 28, 28}, {.kernel = {2, 2}}},
    {"odd", {2, 3, 7, 9}, {.kernel = {2, 2}}},
    {"overlap", {2, 3, 7, 9}, {.kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 1}}},
    {"ceil_mode", {2, 3, 7, 9}, {.kernel = {3, 3}, .stride = {2, 2}, .ceil_mode = true}},
    {"not_counting_padding",
     {2, 3, 8, 8},
     {.kernel = {3, 3},
      .stride = {3, 3},
      .padding = {1, 1},
      .ceil_mode = true,
      .count_include_pad = false}},
    {"empty", {0, 3, 8, 8}, {.kernel = {2, 2}}},
    {"1d", {3, 5, 33}, {.kernel = {3}, .stride = {2}, .padding = {1}}},
    {"1d_side_by_side", {2, 3, 21}, {.kernel = {5}, .stride = {1}, .ceil_mode = true}},
    {"3d", {2, 3, 5, 6, 7}, {.kernel = {2, 3, 1}, .stride = {2, 1, 2}, .padding = {1, 1, 0}}},
    {"3d_ceil_mode", {1, 2, 4, 7, 9}, {.kernel = {2}, .padding = {1}, .ceil_mode = true}},
    {"divisor", {2, 3, 7, 9}, {.kernel = {3, 2}, .padding = {1, 0}, .divisor = 5}},
    {"adaptive_1d", {2, 3, 10}, {.adaptive = true}, {2, 3, 4}},
    {"adaptive", {2, 3, 7, 5}, {.adaptive = true}, {2, 3, 3, 7}},
    {"adaptive_3d", {1, 2, 5, 4, 7}, {.adaptive = true}, {1, 2, 2, 4, 3}},
    {"large", {40, 20, 24, 24}, {.kernel = {2, 2}}},
};
const Pool kDilated{"dilation",
                    {2, 3, 9, 9},
                    {.kernel = {2, 3}, .stride = {2, 3}, .padding = {1, 1}, .dilation = {3, 2}}};

std::string text(const PoolParams& p) {
  if (p.adaptive) return "adaptive";
  return fmt::format(
      "kernel {}, stride {}, padding {}, dilation {}, ceil_mode {}, count_include_pad {}, "
      "divisor {}",
      str(p.kernel), str(p.stride), str(p.padding), str(p.dilation), p.ceil_mode,
      p.count_include_pad, p.divisor);
}

/// An element is in at most 12 windows, and a window has at most 12 elements.
constexpr int64_t kWindow = 12;

void check_max(Trial& t, const Pool& c, DType dtype, Layout layout) {
  for (const Values& values : {any(), few(true)}) {
    t.begin(text(c.p));
    Operand& y = t.output("y", dtype, c.y(), layout);
    Operand& index = t.output("index", kInt32, c.y(), layout);
    Operand& x = t.input("x", dtype, c.x, layout, values);
    t.run([&](Side s) { kernels::max_pool(y[s], index[s], x[s], c.p); });
    t.expect(y);
    t.expect(index);
  }
  t.begin("positions not requested");
  Operand& y = t.output("y", dtype, c.y(), layout);
  Operand& x = t.input("x", dtype, c.x, layout);
  t.run([&](Side s) {
    Tensor none;
    kernels::max_pool(y[s], none, x[s], c.p);
  });
  t.expect(y);
}

/// Return the first position of a window inside the image, along one of its dims.
int64_t first_place(int64_t window, size_t d, const Pool& c) {
  if (c.p.adaptive) return window * c.x[2 + d] / c.adaptive[2 + d];
  int64_t at = window * c.p.stride[d] - c.p.padding[d];
  while (at < 0) at += c.p.dilation[d];
  return at;
}

void check_max_grad(Trial& t, const Pool& c, DType dtype, Layout layout) {
  const Dims y = c.y();
  const Values first_of_window = each([&]<class T>(Random&, int64_t i) {
    int64_t at = 0, scale = 1;
    for (size_t d = y.size() - 2; d-- > 0;) {  // last dim first, to decompose i
      at += scale * first_place(i % y[2 + d], d, c);
      scale *= c.x[2 + d];
      i /= y[2 + d];
    }
    return static_cast<T>(at);
  });
  t.begin(text(c.p));
  Operand& dx = t.output("dx", dtype, c.x, layout);
  Operand& dy = t.input("dy", dtype, y, layout);
  Operand& index = t.input("index", kInt32, y, layout, first_of_window);
  t.run([&](Side s) { kernels::max_pool_grad(dx[s], dy[s], index[s], c.p); });
  t.expect(dx, sum_bound(kWindow, dtype));
}

void check_mean(Trial& t, const Pool& c, DType dtype, Layout layout) {
  t.begin(text(c.p));
  Operand& y = t.output("y", dtype, c.y(), layout);
  Operand& x = t.input("x", dtype, c.x, layout);
  t.run([&](Side s) { kernels::avg_pool(y[s], x[s], c.p); });
  t.expect(y, sum_bound(kWindow, dtype));
}

void check_mean_grad(Trial& t, const Pool& c, DType dtype, Layout layout) {
  t.begin(text(c.p));
  Operand& dx = t.output("dx", dtype, c.x, layout);
  Operand& dy = t.input("dy", dtype, c.y(), layout);
  t.run([&](Side s) { kernels::avg_pool_grad(dx[s], dy[s], c.p); });
  t.expect(dx, sum_bound(kWindow, dtype));
}

}  // namespace

void add_pool_cases(Cases& cases) {
  const auto add = [&](const char* op, const Pool& c, auto check, bool has_order = false) {
    for (DType dtype : dtypes::kAnyFloating) {
      const std::string path = fmt::format("{}/{}/{}", op, name(dtype), c.name);
      const auto each_layout = [=, &c](Trial& t) {
        for (Layout layout : {Layout::contiguous, Layout::offset}) check(t, c, dtype, layout);
      };
      cases.push_back(kernel_case(path, each_layout));
      if (has_order) cases.push_back(deterministic_case(path, each_layout));
    }
  };
  for (const Pool& c : kPools) add("max_pool", c, check_max);
  add("max_pool", kDilated, check_max);
  for (const Pool& c : kPools) add("max_pool_grad", c, check_max_grad, true);
  add("max_pool_grad", kDilated, check_max_grad, true);
  for (const Pool& c : kPools) add("avg_pool", c, check_mean);
  for (const Pool& c : kPools) add("avg_pool_grad", c, check_mean_grad);
}

}  // namespace conformance
