// Convolutions and their gradients.
#include <ambit/backend/kernels.h>
#include <fmt/format.h>

#include "cases.h"
#include "sum_bound.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

struct Convolution {
  const char* name;
  Dims x, w;
  ConvParams p;
  Dims y() const { return p.out_sizes("conformance", x, w); }
};
const std::vector<Convolution> kConvolutions = {
    {"1x1", {1, 1, 1, 1}, {1, 1, 1, 1}, {}},
    {"image", {4, 3, 32, 32}, {6, 3, 5, 5}, {}},
    {"5x5", {4, 6, 14, 14}, {16, 6, 5, 5}, {}},
    {"padding", {2, 3, 9, 11}, {7, 3, 3, 2}, {.padding = {1, 2}}},
    {"groups", {2, 4, 13, 12}, {6, 2, 3, 3}, {.stride = {2, 3}, .padding = {2, 1}, .groups = 2}},
    {"dilation",
     {3, 5, 12, 17},
     {4, 5, 2, 3},
     {.stride = {3, 2}, .padding = {0, 3}, .dilation = {2, 3}}},
    {"depthwise", {2, 6, 8, 8}, {6, 1, 3, 3}, {.padding = {1, 1}, .groups = 6}},
    {"stride_beyond_kernel", {2, 8, 7, 7}, {9, 8, 1, 1}, {.stride = {2, 2}}},
    {"row_kernel", {1, 2, 5, 40}, {3, 2, 1, 7}, {.padding = {3, 4}}},
    // Many channels, for which libraries use other algorithms.
    {"16_channels", {2, 16, 20, 20}, {32, 16, 3, 3}, {.padding = {1, 1}}},
    {"32_channels",
     {2, 32, 15, 17},
     {32, 16, 3, 3},
     {.stride = {2, 2}, .padding = {1, 0}, .groups = 2}},
    {"3x3", {4, 32, 9, 10}, {48, 32, 3, 3}, {.padding = {1, 1}}},
    {"5x5_32_channels", {4, 32, 8, 11}, {48, 32, 5, 5}, {.padding = {2, 2}}},
    {"empty", {0, 3, 8, 8}, {6, 3, 3, 3}, {}},
    {"line", {2, 3, 17}, {4, 3, 5}, {.stride = {2}, .padding = {3}}},
    {"line_groups", {3, 6, 40}, {4, 3, 3}, {.padding = {2}, .dilation = {2}, .groups = 2}},
    {"line_16_channels", {1, 16, 600}, {32, 16, 7}, {.padding = {3}}},
    {"line_32_channels", {2, 32, 66}, {48, 32, 5}, {.padding = {2}}},
    {"volume", {2, 3, 5, 6, 7}, {4, 3, 3, 2, 3}, {.padding = {1, 0, 2}}},
    {"volume_groups",
     {2, 4, 7, 5, 6},
     {6, 2, 2, 3, 2},
     {.stride = {2, 1, 3}, .padding = {1, 2, 0}, .dilation = {3, 1, 2}, .groups = 2}},
    {"volume_16_channels",
     {1, 16, 20, 9, 8},
     {16, 16, 3, 3, 3},
     {.stride = {2, 1, 1}, .padding = {1, 1, 2}}},
    {"volume_3x3x3", {1, 16, 4, 8, 7}, {32, 16, 3, 3, 3}, {.padding = {1, 1, 1}}},
    {"volume_empty", {0, 3, 4, 4, 4}, {2, 3, 2, 2, 2}, {}},
};
// The reference is slow for these.
const Convolution kLarge{
    "large", {4, 64, 16, 16}, {64, 64, 3, 3}, {.padding = {2, 2}, .dilation = {2, 2}}};

std::string text(const ConvParams& p) {
  return fmt::format("stride {}, padding {}, dilation {}, groups {}", str(p.stride), str(p.padding),
                     str(p.dilation), p.groups);
}

/// Return the number of elements of the spatial dims.
int64_t window(const Dims& sizes) { return count("conformance", IntArrayRef(sizes).slice(2)); }

void check_forward(Trial& t, const Convolution& c, DType dtype, Layout layout) {
  for (bool has_bias : {false, true}) {
    t.begin(text(c.p));
    Operand& y = t.output("y", dtype, c.y(), layout);
    Operand& x = t.input("x", dtype, c.x, layout);
    Operand& w = t.input("w", dtype, c.w, layout);
    Operand& b = has_bias ? t.input("b", dtype, {c.w[0]}, layout) : t.absent();
    t.run([&](Side s) { kernels::convolution(y[s], x[s], w[s], b[s], c.p); });
    t.expect(y, sum_bound(c.w[1] * window(c.w) + 1, dtype));
  }
}

void check_map(Trial& t, const Convolution& c, DType dtype, Layout layout) {
  for (const UnaryOp op : kActivations) {
    for (bool has_bias : {false, true}) {
      t.begin(fmt::format("{}, {}", text(c.p), name(op)));
      Operand& y = t.output("y", dtype, c.y(), layout);
      Operand& x = t.input("x", dtype, c.x, layout);
      Operand& w = t.input("w", dtype, c.w, layout);
      Operand& b = has_bias ? t.input("b", dtype, {c.w[0]}, layout) : t.absent();
      t.run([&](Side s) { kernels::convolution_map(y[s], x[s], w[s], b[s], c.p, op); });
      t.expect(y, map_bound(c.w[1] * window(c.w) + 1, dtype));
    }
  }
}

void check_input_grad(Trial& t, const Convolution& c, DType dtype, Layout layout) {
  t.begin(text(c.p));
  Operand& dx = t.output("dx", dtype, c.x, layout);
  Operand& dy = t.input("dy", dtype, c.y(), layout);
  Operand& w = t.input("w", dtype, c.w, layout);
  t.run([&](Side s) { kernels::convolution_input_grad(dx[s], dy[s], w[s], c.p); });
  t.expect(dx, sum_bound(c.w[0] * window(c.w), dtype));
}

void check_weight_grad(Trial& t, const Convolution& c, DType dtype, Layout layout) {
  t.begin(text(c.p));
  Operand& dw = t.output("dw", dtype, c.w, layout);
  Operand& dy = t.input("dy", dtype, c.y(), layout);
  Operand& x = t.input("x", dtype, c.x, layout);
  t.run([&](Side s) { kernels::convolution_weight_grad(dw[s], dy[s], x[s], c.p); });
  const Dims y = c.y();
  t.expect(dw, sum_bound(y[0] * window(y), dtype));
}

void add_cases_of(Cases& cases, const Convolution& c, DType dtype, const std::string& form) {
  const auto add = [&](const char* op, auto check) {
    const std::string path = fmt::format("{}/{}/{}", op, name(dtype), form);
    const auto each_layout = [=, &c](Trial& t) {
      for (Layout layout : {Layout::contiguous, Layout::offset}) check(t, c, dtype, layout);
    };
    cases.push_back(kernel_case(path, each_layout));
    cases.push_back(deterministic_case(path, each_layout));
  };
  add("convolution", check_forward);
  if (&c != &kLarge) add("convolution_map", check_map);
  add("convolution_input_grad", check_input_grad);
  add("convolution_weight_grad", check_weight_grad);
}

}  // namespace

void add_convolution_cases(Cases& cases) {
  for (DType dtype : dtypes::kAnyFloating) {
    for (const Convolution& c : kConvolutions) add_cases_of(cases, c, dtype, c.name);
  }
  add_cases_of(cases, kLarge, kFloat32, kLarge.name);
}

}  // namespace conformance
