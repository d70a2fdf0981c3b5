// Composites compared with the reference backend's kernels: a backend without a kernel uses the
// composite, which must have the same results. Op::composite() returns it even if there is a
// kernel.
#include <ambit/autograd.h>
#include <ambit/backend/kernels.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "composite.h"

using namespace ambit;
using namespace composite_test;

TEST_CASE("composite index_select and index_add agree with the kernels") {
  manual_seed(1);
  const Tensor index = tensor({2, 0, 2, 1, 2});
  for (const int64_t dim : {0, 1, 2}) {
    std::vector<int64_t> sizes{3, 3, 3}, taken{3, 3, 3};
    taken[static_cast<size_t>(dim)] = 5;
    check_composite(kernels::index_select, {unwritten(taken)}, {normal(sizes), index},
                    [&](auto&& f, Tensors& y, const Tensors& in) { f(y[0], in[0], in[1], dim); });
    check_composite(kernels::index_add, {normal(sizes)}, {index, normal(taken)},
                    [&](auto&& f, Tensors& y, const Tensors& in) { f(y[0], in[0], in[1], dim); });
  }
}

TEST_CASE("composite linear and linear_map agree with the kernels, for any strides, without bias") {
  manual_seed(2);
  const auto call = [](auto&& f, Tensors& y, const Tensors& in) { f(y[0], in[0], in[1], in[2]); };
  const auto transposed = [](auto&& f, Tensors& y, const Tensors& in) {
    f(y[0], in[0].t(), in[1].t(), in[2]);
  };
  const Tensor y = unwritten({4, 5}), x = normal({4, 3}), w = normal({5, 3}), b = normal({5});
  check_composite(kernels::linear, {y}, {x, w, b}, call);
  check_composite(kernels::linear, {y}, {x, w, Tensor()}, call);
  check_composite(kernels::linear, {y}, {normal({3, 4}), normal({3, 5}), b}, transposed);
  for (const UnaryOp op : kActivations) {
    check_composite(
        kernels::linear_map, {y}, {x, w, b},
        [&](auto&& f, Tensors& out, const Tensors& in) { f(out[0], in[0], in[1], in[2], op); });
  }
}

TEST_CASE("composite gradients of convolutions agree with the kernels") {
  manual_seed(3);
  struct Case {
    std::vector<int64_t> x, w;
    ConvParams p;
  };
  const std::vector<Case> cases{
      {{2, 3, 5, 6}, {4, 3, 3, 2}, {}},
      {{2, 4, 7, 8}, {6, 2, 3, 2}, {{2, 3}, {1, 2}, {1, 1}, 2}},
      {{1, 2, 9, 8}, {2, 2, 2, 3}, {{3, 2}, {0, 1}, {2, 2}, 1}},
      {{1, 3, 4, 4}, {3, 1, 1, 1}, {{2, 2}, {0, 0}, {1, 1}, 3}},  // the last rows are not used
      {{1, 1, 2, 3},
       {1, 1, 2, 2},
       {{1, 2}, {3, 4}, {1, 1}, 1}},  // windows that contain only padding
      {{0, 2, 4, 4}, {2, 2, 3, 3}, {}},
      {{2, 4, 9}, {6, 2, 3}, {{2}, {3}, {2}, 2}},
      {{2, 2, 5, 4, 6}, {3, 2, 2, 3, 2}, {{2, 1, 3}, {1, 0, 2}, {1, 1, 2}, 1}}};
  for (const Case& c : cases) {
    INFO("input ", str(IntArrayRef(c.x)), " weight ", str(IntArrayRef(c.w)));
    const Tensor dy = normal(c.p.out_sizes("convolution", c.x, c.w));
    const auto call = [&](auto&& f, Tensors& out, const Tensors& in) {
      f(out[0], in[0], in[1], c.p);
    };
    check_composite(kernels::convolution_input_grad, {unwritten(c.x)}, {dy, normal(c.w)}, call);
    check_composite(kernels::convolution_weight_grad, {unwritten(c.w)}, {dy, normal(c.x)}, call);
  }
}

TEST_CASE("composite avg_pool2d and its gradient agree with the kernels") {
  manual_seed(4);
  const std::vector<int64_t> sizes{2, 3, 7, 6};
  for (const bool count_include_pad : {true, false}) {
    for (const bool ceil_mode : {true, false}) {
      for (PoolParams p : {PoolParams{.kernel = {2, 3}, .stride = {2, 2}},
                           PoolParams{.kernel = {3, 2}, .stride = {2, 3}, .padding = {1, 1}},
                           PoolParams{.kernel = {4, 4}, .stride = {5, 5}, .padding = {2, 2}}}) {
        p.count_include_pad = count_include_pad;
        p.ceil_mode = ceil_mode;
        const Tensor y = unwritten(p.out_sizes("avg_pool2d", sizes));
        const auto call = [&](auto&& f, Tensors& out, const Tensors& in) { f(out[0], in[0], p); };
        check_composite(kernels::avg_pool, {y}, {normal(sizes)}, call);
        check_composite(kernels::avg_pool_grad, {unwritten(sizes)}, {normal(y.sizes())}, call);
      }
    }
  }
}

TEST_CASE("composite softmax and its gradient agree with the kernels") {
  manual_seed(5);
  const Tensor x = normal({3, 4, 2}) * 20;
  for (const int64_t dim : {0, 1, 2}) {
    for (const bool log : {false, true}) {
      const auto call = [&](auto&& f, Tensors& out, const Tensors& in) {
        f(out[0], in[0], dim, log);
      };
      check_composite(kernels::softmax, {unwritten(x.sizes())}, {x}, call);
      const Tensor y = log ? x.log_softmax(dim) : x.softmax(dim);
      check_composite(
          kernels::softmax_grad, {unwritten(x.sizes())}, {normal(x.sizes()), y},
          [&](auto&& f, Tensors& out, const Tensors& in) { f(out[0], in[0], in[1], dim, log); });
    }
  }
}

TEST_CASE("composite batch_norm and its gradient agree with the kernels") {
  manual_seed(6);
  const Tensor x = normal({3, 4, 2, 2}), w = normal({4}), b = normal({4});
  const Tensor mean = normal({4}), invstd = normal({4}).abs() + 0.5;
  for (const bool training : {true, false}) {
    const BatchNormParams p{.training = training, .momentum = 0.3};
    const auto forward = [&](auto&& f, Tensors& o, const Tensors& in) {
      f(o[0], o[1], o[2], o[3], o[4], in[0], in[1], in[2], p);
    };
    const auto backward = [&](auto&& f, Tensors& o, const Tensors& in) {
      f(o[0], o[1], o[2], in[0], in[1], in[2], in[3], in[4], p);
    };
    const Tensor y = unwritten(x.sizes()), c = unwritten({4});
    check_composite(kernels::batch_norm, {y, c, c, mean, invstd}, {x, w, b}, forward);
    check_composite(kernels::batch_norm, {y, c, c, mean, invstd}, {x, Tensor(), b}, forward);
    if (training) {
      check_composite(kernels::batch_norm, {y, c, c, Tensor(), Tensor()}, {x, w, b}, forward);
    }
    const Tensor dy = normal(x.sizes());
    check_composite(kernels::batch_norm_grad, {y, c, c}, {dy, x, w, mean, invstd}, backward);
    check_composite(kernels::batch_norm_grad, {y, c, c}, {dy, x, Tensor(), mean, invstd}, backward);
  }
}

TEST_CASE("composite nll_loss agrees with the kernel") {
  manual_seed(7);
  const Tensor target = tensor({1, 3, 0, 3}), w = normal({4}).abs();
  for (const int64_t ignore : {-100, 3}) {
    for (const Tensor& weight : {w, Tensor()}) {
      check_composite(kernels::nll_loss, {unwritten({4}), unwritten({})},
                      {normal({4, 4}), target, weight},
                      [&](auto&& f, Tensors& o, const Tensors& in) {
                        f(o[0], o[1], in[0], in[1], in[2], ignore);
                      });
    }
  }
}

TEST_CASE("composite cross_entropy and its gradient agree with the kernels") {
  manual_seed(9);
  const Tensor target = tensor({1, 3, 0, 3}), w = normal({4}).abs(), x = normal({4, 4});
  for (const int64_t ignore : {-100, 3}) {
    for (const Tensor& weight : {w, Tensor()}) {
      check_composite(kernels::cross_entropy, {unwritten({4}), unwritten({})}, {x, target, weight},
                      [&](auto&& f, Tensors& o, const Tensors& in) {
                        f(o[0], o[1], in[0], in[1], in[2], ignore);
                      });
      check_composite(kernels::cross_entropy_grad, {unwritten({4, 4})},
                      {normal({4}), x, target, weight},
                      [&](auto&& f, Tensors& o, const Tensors& in) {
                        f(o[0], in[0], in[1], in[2], in[3], ignore);
                      });
    }
  }
}

TEST_CASE("composite sgd_step agrees with the kernel, for every kind of momentum") {
  manual_seed(8);
  const Tensor p = normal({2, 3}), buffer = normal({2, 3}), g = normal({2, 3});
  const std::vector<SgdParams> kinds{
      {.lr = 0.1},
      {.lr = 0.1, .weight_decay = 0.5},
      {.lr = 0.1, .momentum = 0.9, .dampening = 0.2, .weight_decay = 0.5, .first_step = true},
      {.lr = 0.1, .momentum = 0.9, .dampening = 0.2},
      {.lr = 0.1, .momentum = 0.9, .nesterov = true}};
  for (const SgdParams& kind : kinds) {
    const size_t buffers = kind.momentum != 0 ? 2 : 0;
    check_composite(kernels::sgd_step, {p, p[0], buffer, buffer[0]}, {g, g[0]},
                    [&](auto&& f, Tensors& o, const Tensors& in) {
                      f({&o[0], 2}, {&o[2], buffers}, in, kind);
                    });
  }
}

TEST_CASE("composite adam_step agrees with the kernel, for both kinds of decay") {
  manual_seed(9);
  const Tensor p = normal({2, 3}), m = normal({2, 3}), v = normal({2, 3}).abs(), g = normal({2, 3});
  for (const AdamParams& kind : {AdamParams{}, AdamParams{.lr = 0.1, .eps = 0.1, .step = 7},
                                 AdamParams{.beta1 = 0, .weight_decay = 0.3, .step = 2},
                                 AdamParams{.weight_decay = 0.3, .decoupled = true}}) {
    for (const size_t steps : {0, 2}) {  // step counts in kind.step, in tensors
      check_composite(kernels::adam_step, {p, p[0], m, m[0], v, v[0]},
                      {full({}, 0, kFloat32), full({}, 70, kFloat32), g, g[0]},
                      [&](auto&& f, Tensors& o, const Tensors& in) {
                        f({&o[0], 2}, {&o[2], 2}, {&o[4], 2}, {&in[0], steps}, {&in[2], 2}, kind);
                      });
    }
  }
}

TEST_CASE("composite unscale agrees with the kernel, with and without overflow") {
  manual_seed(10);
  for (const double last : {1.0, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    const Tensor g = normal({2, 3});
    g[1][2] = last;
    for (const double before : {0.0, 0.5}) {
      check_composite(kernels::unscale,
                      {g[0].clone(), g, empty({0}, oracle()), full({}, before, kFloat32)}, {},
                      [&](auto&& f, Tensors& o, const Tensors&) {
                        f({&o[0], 3}, o[3], 0.3);
                      });
    }
  }
}

TEST_CASE("18 kernels have no composite: every backend must have them") {
  std::set<std::string> least;
  for (const OpBase* op : all_ops()) {
    if (!op->has_composite()) least.insert(op->name());
  }
  CHECK(least == std::set<std::string>{"copy", "fill", "random", "unary", "binary", "compare",
                                       "where", "reduce", "arg_reduce", "scan", "gather", "scatter",
                                       "scatter_add", "nonzero", "matmul", "convolution",
                                       "max_pool", "max_pool_grad"});
}
