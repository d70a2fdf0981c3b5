// Softmax, batch, layer, RMS and group normalisation, and their gradients.
#include <ambit/backend/kernels.h>
#include <fmt/format.h>

#include <cmath>

#include "cases.h"
#include "sum_bound.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

struct Softmax {
  const char* name;
  Dims sizes;
  int64_t dim;
};
const std::vector<Softmax> kSoftmaxes = {
    {"0-dim", {}, 0},           {"empty", {0, 5}, 1},
    {"empty_rows", {3, 0}, 1},  {"vector", {7}, 0},
    {"rows", {4, 10}, 1},       {"odd_rows", {31, 1023}, 1},
    {"columns", {31, 1023}, 0}, {"middle", {5, 7, 3}, 1},
    {"large", {600, 200}, 1},   {"large_middle", {2, 40, 700}, 1},
};

constexpr Layout kAligned[] = {Layout::contiguous, Layout::offset};

void check_softmax(Trial& t, const Softmax& c, DType dtype, Layout layout) {
  const Bound bound{12, 16 * epsilon(dtype),
                    "exp is accurate to 4 ulp, and so is a sum of positive terms (blocks round "
                    "another 4); log: 16 ulp of 1, because numbers are up to 6 + log n < 14"};
  for (bool log : {false, true}) {
    t.begin(fmt::format("dim {}, log {}", c.dim, log));
    Operand& y = t.output("y", dtype, c.sizes, layout);
    Operand& x = t.input("x", dtype, c.sizes, layout);
    t.run([&](Side s) { kernels::softmax(y[s], x[s], c.dim, log); });
    t.expect(y, bound);
  }
}

/// The gradient is defined for any y, not only softmax results; probabilities around 1 / n are
/// used.
Values probabilities(int64_t n, bool log) {
  const double mean = 1.0 / static_cast<double>(std::max<int64_t>(n, 1));
  return log ? between(std::log(mean) - 3, std::log(mean)) : between(0, 2 * mean);
}

void check_softmax_grad(Trial& t, const Softmax& c, DType dtype, Layout layout) {
  const int64_t n = c.sizes.empty() ? 1 : c.sizes[static_cast<size_t>(c.dim)];
  const Bound bound{12, sum_bound(n, dtype).absolute / 8,
                    "a sum of n numbers up to 3, weighted by probabilities of about 1 / n"};
  for (bool log : {false, true}) {
    t.begin(fmt::format("dim {}, log {}", c.dim, log));
    Operand& dx = t.output("dx", dtype, c.sizes, layout);
    Operand& dy = t.input("dy", dtype, c.sizes, layout);
    Operand& y = t.input("y", dtype, c.sizes, layout, probabilities(n, log));
    t.run([&](Side s) { kernels::softmax_grad(dx[s], dy[s], y[s], c.dim, log); });
    t.expect(dx, bound);
  }
}

struct Norm {
  const char* name;
  Dims x;
};
const std::vector<Norm> kNorms = {{"image", {4, 3, 5, 7}},
                                  {"vectors", {31, 6}},
                                  {"large", {40, 8, 15, 16}},
                                  {"empty", {0, 3, 2}}};

struct NormCase {
  DType dtype;
  bool training, affine;
  Layout layout;
};

/// The bound requires sums in float64, or in float32 after subtracting the mean.
Bound norm_bound(DType dtype) {
  return {4, 128 * epsilon(dtype),
          "sums, then three operations on numbers up to (3 + 3) / sqrt(0.5) * 3 + 3 < 32, each of "
          "which rounds to half an epsilon of that; twice as much for sums in float32"};
}

void check_norm(Trial& t, const Dims& sizes, const NormCase& c) {
  const BatchNormParams p{.training = c.training, .momentum = 0.3, .eps = 1e-4};
  const Dims C{sizes[1]};
  t.begin(fmt::format("training {}, momentum {}, eps {}", p.training, p.momentum, p.eps));
  Operand& y = t.output("y", c.dtype, sizes, c.layout);
  Operand& mean = t.output("mean", c.dtype, C, c.layout);
  Operand& invstd = t.output("invstd", c.dtype, C, c.layout);
  const bool tracked = c.affine || !c.training;
  const DType kept = is_reduced_floating(c.dtype) ? kFloat32 : c.dtype;
  Operand& running_mean = tracked ? t.updated("running_mean", kept, C, c.layout) : t.absent();
  Operand& running_var =
      tracked ? t.updated("running_var", kept, C, c.layout, between(0.5, 3.5)) : t.absent();
  Operand& x = t.input("x", c.dtype, sizes, c.layout);
  Operand& w = c.affine ? t.input("w", c.dtype, C, c.layout) : t.absent();
  Operand& b = c.affine ? t.input("b", c.dtype, C, c.layout) : t.absent();
  t.run([&](Side s) {
    kernels::batch_norm(y[s], mean[s], invstd[s], running_mean[s], running_var[s], x[s], w[s], b[s],
                        p);
  });
  for (Operand* out : {&y, &mean, &invstd, &running_mean, &running_var}) {
    if (out->is_defined()) t.expect(*out, norm_bound(c.dtype));
  }
}

void check_norm_grad(Trial& t, const Dims& sizes, const NormCase& c) {
  const BatchNormParams p{.training = c.training};
  const Dims C{sizes[1]};
  t.begin(fmt::format("training {}, eps {}", p.training, p.eps));
  Operand& dx = t.output("dx", c.dtype, sizes, c.layout);
  Operand& dw = t.output("dw", c.dtype, C, c.layout);
  Operand& db = t.output("db", c.dtype, C, c.layout);
  Operand& dy = t.input("dy", c.dtype, sizes, c.layout);
  Operand& x = t.input("x", c.dtype, sizes, c.layout);
  Operand& w = c.affine ? t.input("w", c.dtype, C, c.layout) : t.absent();
  Operand& mean = t.input("mean", c.dtype, C, c.layout);
  Operand& invstd = t.input("invstd", c.dtype, C, c.layout, between(0.5, 3.5));
  t.run([&](Side s) {
    kernels::batch_norm_grad(dx[s], dw[s], db[s], dy[s], x[s], w[s], mean[s], invstd[s], p);
  });
  const auto n = static_cast<double>(count("conformance", sizes) / sizes[1]);
  const Bound sums{2, 64 * n * epsilon(c.dtype),
                   "n terms up to 3 * 6 * 3.5 < 64, each rounded, here and in the reference"};
  t.expect(dw, sums);
  t.expect(db, sums);
  t.expect(dx, {2, 3 * 64 * 4 * epsilon(c.dtype),
                "eight roundings of numbers up to three times as large as in the forward"});
}

struct LayerNorm {
  const char* name;
  int64_t M, N;
};
const std::vector<LayerNorm> kLayerNorms = {
    {"one", 3, 1}, {"odd", 31, 7}, {"rows", 5, 1023}, {"long", 3, 5000}, {"large", 700, 64}};

void check_layer_norm(Trial& t, const LayerNorm& c, DType dtype, bool centered, Layout layout) {
  for (bool affine : {false, true}) {
    t.begin(fmt::format("eps 1e-4, centered {}", centered));
    Operand& y = t.output("y", dtype, {c.M, c.N}, layout);
    Operand& mean = t.output("mean", dtype, {c.M}, layout);
    Operand& invstd = t.output("invstd", dtype, {c.M}, layout);
    Operand& x = t.input("x", dtype, {c.M, c.N}, layout);
    Operand& w = affine ? t.input("w", dtype, {c.N}, layout) : t.absent();
    Operand& b = affine ? t.input("b", dtype, {c.N}, layout) : t.absent();
    t.run([&](Side s) {
      kernels::layer_norm(y[s], mean[s], invstd[s], x[s], w[s], b[s], 1e-4, centered);
    });
    // A row of one element has variance 0: x - mean is a rounding error, multiplied by invstd, 100.
    const double enlarged = c.N == 1 ? 100 : 1;
    for (Operand* out : {&y, &mean, &invstd}) {
      Bound bound = norm_bound(dtype);
      bound.absolute *= enlarged;
      t.expect(*out, bound);
    }
  }
}

void check_layer_norm_grad(Trial& t, const LayerNorm& c, DType dtype, bool centered,
                           Layout layout) {
  for (bool affine : {false, true}) {
    t.begin(fmt::format("centered {}", centered));
    Operand& dx = t.output("dx", dtype, {c.M, c.N}, layout);
    Operand& dw = t.output("dw", dtype, {c.N}, layout);
    Operand& db = t.output("db", dtype, {c.N}, layout);
    Operand& dy = t.input("dy", dtype, {c.M, c.N}, layout);
    Operand& x = t.input("x", dtype, {c.M, c.N}, layout);
    Operand& w = affine ? t.input("w", dtype, {c.N}, layout) : t.absent();
    Operand& mean = t.input("mean", dtype, {c.M}, layout);
    Operand& invstd = t.input("invstd", dtype, {c.M}, layout, between(0.5, 3.5));
    t.run([&](Side s) {
      kernels::layer_norm_grad(dx[s], dw[s], db[s], dy[s], x[s], w[s], mean[s], invstd[s],
                               centered);
    });
    const Bound sums{2, 64 * static_cast<double>(c.M) * epsilon(dtype),
                     "M terms up to 3 * 6 * 3.5 < 64, each rounded, here and in the reference"};
    t.expect(dw, sums);
    t.expect(db, sums);
    // u = (x - mean) invstd is up to 21, dy w up to 9; the mean of their product is of numbers up
    // to 189, and is multiplied by 21 and by 3.5.
    t.expect(dx, {2, 8 * 189 * 21 * 3.5 * epsilon(dtype),
                  "eight roundings of numbers up to 189 * 21 * 3.5"});
  }
}

void add_layer_norm_cases(Cases& cases, DType dtype) {
  for (const LayerNorm& c : kLayerNorms) {
    for (bool centered : {true, false}) {
      const auto add = [&](const char* op, auto check) {
        const char* kind = centered ? "centered" : "rms";
        cases.push_back(kernel_case(fmt::format("{}/{}/{}/{}", op, name(dtype), kind, c.name),
                                    [=, &c](Trial& t) {
                                      for (Layout l : kAligned) check(t, c, dtype, centered, l);
                                    }));
      };
      add("layer_norm", check_layer_norm);
      add("layer_norm_grad", check_layer_norm_grad);
    }
  }
}

struct GroupNorm {
  const char* name;
  Dims x;
  int64_t groups;
};
const std::vector<GroupNorm> kGroupNorms = {
    {"vectors", {31, 6}, 3}, {"one", {3, 4}, 4},           {"whole", {3, 5, 7}, 1},
    {"each", {2, 6, 17}, 6}, {"image", {2, 8, 15, 16}, 4}, {"long", {2, 4, 40, 65}, 2}};

void check_group_norm(Trial& t, const GroupNorm& c, DType dtype, Layout layout) {
  const Dims C{c.x[1]}, groups{c.x[0], c.groups};
  for (bool affine : {false, true}) {
    t.begin("eps 1e-4");
    Operand& y = t.output("y", dtype, c.x, layout);
    Operand& mean = t.output("mean", dtype, groups, layout);
    Operand& invstd = t.output("invstd", dtype, groups, layout);
    Operand& x = t.input("x", dtype, c.x, layout);
    Operand& w = affine ? t.input("w", dtype, C, layout) : t.absent();
    Operand& b = affine ? t.input("b", dtype, C, layout) : t.absent();
    t.run([&](Side s) { kernels::group_norm(y[s], mean[s], invstd[s], x[s], w[s], b[s], 1e-4); });
    // A group of one element has variance 0: x - mean is a rounding error, multiplied by invstd,
    // 100.
    const double enlarged = count("conformance", c.x) == c.x[0] * c.groups ? 100 : 1;
    for (Operand* out : {&y, &mean, &invstd}) {
      Bound bound = norm_bound(dtype);
      bound.absolute *= enlarged;
      t.expect(*out, bound);
    }
  }
}

void check_group_norm_grad(Trial& t, const GroupNorm& c, DType dtype, Layout layout) {
  const Dims C{c.x[1]}, groups{c.x[0], c.groups};
  for (bool affine : {false, true}) {
    t.begin();
    Operand& dx = t.output("dx", dtype, c.x, layout);
    Operand& dw = t.output("dw", dtype, C, layout);
    Operand& db = t.output("db", dtype, C, layout);
    Operand& dy = t.input("dy", dtype, c.x, layout);
    Operand& x = t.input("x", dtype, c.x, layout);
    Operand& w = affine ? t.input("w", dtype, C, layout) : t.absent();
    Operand& mean = t.input("mean", dtype, groups, layout);
    Operand& invstd = t.input("invstd", dtype, groups, layout, between(0.5, 3.5));
    t.run([&](Side s) {
      kernels::group_norm_grad(dx[s], dw[s], db[s], dy[s], x[s], w[s], mean[s], invstd[s]);
    });
    const auto n = static_cast<double>(count("conformance", c.x) / c.x[1]);
    const Bound sums{2, 64 * n * epsilon(dtype),
                     "n terms up to 3 * 6 * 3.5 < 64, each rounded, here and in the reference"};
    t.expect(dw, sums);
    t.expect(db, sums);
    t.expect(dx, {2, 8 * 189 * 21 * 3.5 * epsilon(dtype),
                  "eight roundings of numbers up to 189 * 21 * 3.5, as of layer_norm_grad"});
  }
}

void add_group_norm_cases(Cases& cases, DType dtype) {
  for (const GroupNorm& c : kGroupNorms) {
    const auto add = [&](const char* op, auto check) {
      cases.push_back(
          kernel_case(fmt::format("{}/{}/{}", op, name(dtype), c.name), [=, &c](Trial& t) {
            for (Layout layout : kAligned) check(t, c, dtype, layout);
          }));
    };
    add("group_norm", check_group_norm);
    add("group_norm_grad", check_group_norm_grad);
  }
}

void add_norm_cases(Cases& cases, const Norm& n, DType dtype) {
  for (bool training : {false, true}) {
    if (training && n.x[0] == 0) continue;  // the mean of no elements is undefined
    const auto add = [&](const char* op, auto check) {
      const auto path =
          fmt::format("{}/{}/{}/{}", op, name(dtype), training ? "training" : "evaluation", n.name);
      cases.push_back(kernel_case(path, [=, &n](Trial& t) {
        for (bool affine : {false, true}) {
          for (Layout layout : kAligned) check(t, n.x, NormCase{dtype, training, affine, layout});
        }
      }));
    };
    add("batch_norm", check_norm);
    if (n.x[0] > 0) add("batch_norm_grad", check_norm_grad);
  }
}

}  // namespace

void add_norm_cases(Cases& cases) {
  for (DType dtype : dtypes::kAnyFloating) {
    for (const Softmax& c : kSoftmaxes) {
      const auto add = [&](const char* op, auto check) {
        cases.push_back(
            kernel_case(fmt::format("{}/{}/{}", op, name(dtype), c.name), [=, &c](Trial& t) {
              for (Layout layout : kAligned) check(t, c, dtype, layout);
            }));
      };
      add("softmax", check_softmax);
      add("softmax_grad", check_softmax_grad);
    }
    for (const Norm& n : kNorms) add_norm_cases(cases, n, dtype);
    add_layer_norm_cases(cases, dtype);
    add_group_norm_cases(cases, dtype);
  }
}

}  // namespace conformance
