// Image resizing.
#include <ambit/backend/kernels.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cases.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;
using Mode = InterpolateParams::Mode;

struct Resize {
  const char* name;
  Dims x, y;
  InterpolateParams p;
};
const std::vector<Resize> kResizes = {
    {"nearest", {2, 3, 7}, {2, 3, 16}, {}},
    {"nearest_smaller", {2, 3, 9, 11}, {2, 3, 4, 5}, {}},
    {"nearest_scale", {2, 3, 7, 5}, {2, 3, 10, 7}, {.scale = {1.5, 1.5}}},
    {"nearest_3d", {1, 2, 3, 4, 5}, {1, 2, 6, 4, 11}, {}},
    {"nearest_exact", {2, 3, 7, 9}, {2, 3, 14, 4}, {.mode = Mode::nearest_exact}},
    {"linear", {2, 3, 7}, {2, 3, 16}, {.mode = Mode::linear}},
    {"bilinear", {2, 3, 7, 9}, {2, 3, 14, 18}, {.mode = Mode::linear}},
    {"bilinear_odd", {2, 3, 7, 9}, {2, 3, 11, 31}, {.mode = Mode::linear}},
    {"bilinear_smaller", {2, 3, 33, 40}, {2, 3, 5, 7}, {.mode = Mode::linear}},
    {"align_corners", {2, 3, 7, 9}, {2, 3, 12, 5}, {.mode = Mode::linear, .align_corners = true}},
    {"from_one", {2, 3, 1, 1}, {2, 3, 4, 9}, {.mode = Mode::linear, .align_corners = true}},
    {"to_one", {2, 3, 5, 6}, {2, 3, 1, 1}, {.mode = Mode::linear}},
    {"trilinear", {1, 2, 3, 4, 5}, {1, 2, 7, 4, 9}, {.mode = Mode::linear}},
    {"bicubic", {2, 3, 7, 9}, {2, 3, 11, 20}, {.mode = Mode::cubic}},
    {"bicubic_corners", {2, 3, 7, 9}, {2, 3, 4, 25}, {.mode = Mode::cubic, .align_corners = true}},
    {"scale", {1, 2, 8, 8}, {1, 2, 4, 20}, {.mode = Mode::linear, .scale = {0.45, 2.4}}},
    {"all_of_one", {1, 2, 30}, {1, 2, 40}, {.mode = Mode::linear, .scale = {1e-3}}},
    {"same_size", {2, 3, 5, 6}, {2, 3, 5, 6}, {.mode = Mode::cubic}},
    {"empty", {0, 3, 5, 6}, {0, 3, 10, 12}, {.mode = Mode::linear}},
    {"large", {3, 17, 40, 50}, {3, 17, 80, 100}, {.mode = Mode::linear}},
};

std::string text(const Resize& c) {
  return fmt::format("mode {}, align_corners {}, scale {}, {}, {}", static_cast<int>(c.p.mode),
                     c.p.align_corners, c.p.scale[0], c.p.scale[1], c.p.scale[2]);
}

/// The weights along one dim are below 1.1, those of one element sum to less than 1.4, and they are
/// accurate to a few roundings of positions up to 100.
Bound bound(const Resize& c, double terms, DType dtype) {
  const auto dims = static_cast<double>(c.x.size() - 2);
  const double weights = c.p.mode == Mode::cubic ? std::pow(1.4, dims) : 1;
  return {2, 3 * weights * terms * (4 * dims + terms) * epsilon(dtype),
          "sums of numbers up to 3 by products of rounded weights, a rounding for each term"};
}

void check_forward(Trial& t, const Resize& c, DType dtype, Layout layout) {
  t.begin(text(c));
  Operand& y = t.output("y", dtype, c.y, layout);
  Operand& x = t.input("x", dtype, c.x, layout);
  t.run([&](Side s) { kernels::interpolate(y[s], x[s], c.p); });
  t.expect(y, bound(c, 4, dtype));
}

void check_backward(Trial& t, const Resize& c, DType dtype, Layout layout) {
  t.begin(text(c));
  Operand& dx = t.output("dx", dtype, c.x, layout);
  Operand& dy = t.input("dy", dtype, c.y, layout);
  t.run([&](Side s) { kernels::interpolate_grad(dx[s], dy[s], c.p); });
  // Each input element receives the gradient of the outputs around it; an element at the border
  // also receives the gradient of all outputs beyond it.
  double users = 1;
  for (size_t d = 2; d < c.x.size(); ++d) {
    const auto in = static_cast<double>(c.x[d]), out = static_cast<double>(c.y[d]);
    users *= c.p.scale[0] != 0 ? out : std::min(out, 4 * std::ceil(out / in) + 1);
  }
  t.expect(dx, bound(c, users, dtype));
}

}  // namespace

void add_image_cases(Cases& cases) {
  const auto add = [&](const char* op, const Resize& c, auto check) {
    for (DType dtype : dtypes::kAnyFloating) {
      cases.push_back(
          kernel_case(fmt::format("{}/{}/{}", op, name(dtype), c.name), [=, &c](Trial& t) {
            for (Layout layout : {Layout::contiguous, Layout::offset}) check(t, c, dtype, layout);
          }));
    }
  };
  for (const Resize& c : kResizes) add("interpolate", c, check_forward);
  for (const Resize& c : kResizes) add("interpolate_grad", c, check_backward);
}

}  // namespace conformance
