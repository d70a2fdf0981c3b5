// Products, convolutions, pooling and normalisation of the CPU against the reference.
#include <limits>

#include "kernel_cases.h"

using namespace ambit;

namespace {

/// A sum of n products of numbers uniform in [-3, 3]: the products deviate by 3, so that partial
/// sums stay below 5 * 3 sqrt(n); each of n roundings is eps/2 of that at most. Integers are exact.
Bound sum_bound(int64_t n, DType dtype) {
  if (!is_floating_point(dtype)) return {};
  const auto terms = static_cast<double>(n + 1);
  return {1, 15 * terms * std::sqrt(terms) * (dtype == kFloat32 ? 0x1p-24 : 0x1p-53)};
}

void run_matmul(Dims sizes, DType dtype, Layout a_layout, Layout b_layout) {
  const int64_t B = sizes[0], M = sizes[1], N = sizes[2], K = sizes[3];
  INFO(name(dtype), " ", str(sizes), " layouts ", static_cast<int>(a_layout), " ",
       static_cast<int>(b_layout));
  const Twin a = laid_out({B, M, K}, a_layout, dtype), b = laid_out({B, K, N}, b_layout, dtype);
  Twin y = output_twin({B, M, N}, dtype);
  kernels::matmul(y.cpu, a.cpu, b.cpu);
  kernels::matmul(y.reference, a.reference, b.reference);
  check_close(y, sum_bound(K, dtype));
}

void check_matmul() {
  for (DType dtype : kAllDTypes) {
    if (dtype == kBool) continue;
    for (Layout layout : kLayouts) {
      run_matmul({1, 1, 1, 1}, dtype, layout, layout);
      run_matmul({3, 7, 31, 5}, dtype, layout, Layout::contiguous);
      run_matmul({3, 7, 31, 5}, dtype, Layout::contiguous, layout);
      run_matmul({2, 65, 97, 300}, dtype, layout, layout);
    }
    for (const Dims& sizes :
         {Dims{0, 2, 3, 4}, Dims{2, 0, 3, 4}, Dims{2, 3, 0, 4}, Dims{2, 3, 4, 0},
          Dims{1, 1, 600, 9}, Dims{1, 600, 1, 9}, Dims{1, 200, 300, 200}}) {
      run_matmul(sizes, dtype, Layout::contiguous, Layout::contiguous);
    }
  }
  // Beyond the size from which oneDNN runs a cached plan on all threads.
  for (Layout layout : kLayouts) run_matmul({2, 160, 170, 180}, kFloat32, layout, layout);
}

void check_linear() {
  const auto run = [](int64_t M, int64_t N, int64_t K, DType dtype, Layout layout, bool has_bias) {
    INFO(name(dtype), " ", M, " ", N, " ", K, " layout ", static_cast<int>(layout));
    const Twin x = laid_out({M, K}, layout, dtype), w = laid_out({N, K}, layout, dtype);
    const Twin b = has_bias ? random_twin({N}, dtype) : Twin();
    Twin y = output_twin({M, N}, dtype);
    kernels::linear(y.cpu, x.cpu, w.cpu, b.cpu);
    kernels::linear(y.reference, x.reference, w.reference, b.reference);
    check_close(y, sum_bound(K, dtype));
  };
  for (DType dtype : kAllDTypes) {
    if (dtype == kBool) continue;
    for (bool bias : {false, true}) {
      for (Layout layout : kLayouts) {
        run(1, 1, 1, dtype, layout, bias);
        run(4, 120, 400, dtype, layout, bias);
      }
      run(0, 3, 4, dtype, Layout::contiguous, bias);
      run(3, 4, 0, dtype, Layout::contiguous, bias);
    }
  }
  for (bool bias : {false, true}) run(160, 170, 180, kFloat32, Layout::contiguous, bias);
}

struct ConvCase {
  Dims x, w;
  Conv2dParams p;
};
const std::vector<ConvCase> kConvolutions = {
    {{1, 1, 1, 1}, {1, 1, 1, 1}, {}},
    {{4, 3, 32, 32}, {6, 3, 5, 5}, {}},
    {{4, 6, 14, 14}, {16, 6, 5, 5}, {}},
    {{2, 3, 9, 11}, {7, 3, 3, 2}, {.padding = {1, 2}}},
    {{2, 4, 13, 12}, {6, 2, 3, 3}, {.stride = {2, 3}, .padding = {2, 1}, .groups = 2}},
    {{3, 5, 12, 17}, {4, 5, 2, 3}, {.stride = {3, 2}, .padding = {0, 3}, .dilation = {2, 3}}},
    {{2, 6, 8, 8}, {6, 1, 3, 3}, {.padding = {1, 1}, .groups = 6}},
    {{2, 8, 7, 7}, {9, 8, 1, 1}, {.stride = {2, 2}}},
    {{1, 2, 5, 40}, {3, 2, 1, 7}, {.padding = {3, 4}}},
    // oneDNN's: many channels
    {{2, 16, 20, 20}, {32, 16, 3, 3}, {.padding = {1, 1}}},
    {{2, 32, 15, 17}, {32, 16, 3, 3}, {.stride = {2, 2}, .padding = {1, 0}, .groups = 2}},
    {{4, 64, 16, 16}, {64, 64, 3, 3}, {.padding = {2, 2}, .dilation = {2, 2}}},
    // nothing to do
    {{0, 3, 8, 8}, {6, 3, 3, 3}, {}},
};

/// Call f(case, dtype, y sizes).
template <class F>
void for_convolutions(const F& f) {
  for (const ConvCase& c : kConvolutions) {
    for (DType dtype : {kFloat32, kFloat64}) {
      // The reference takes its time.
      if (dtype == kFloat64 && c.x[1] >= 16 && c.x[2] == 16) continue;
      INFO(name(dtype), " x ", str(c.x), " w ", str(c.w));
      f(c, dtype, c.p.out_sizes("test", c.x, c.w));
    }
  }
}

void check_conv2d() {
  for_convolutions([](const ConvCase& c, DType dtype, const Dims& y_sizes) {
    for (bool has_bias : {false, true}) {
      const Twin x = random_twin(c.x, dtype), w = laid_out(c.w, Layout::offset, dtype);
      const Twin b = has_bias ? random_twin({c.w[0]}, dtype) : Twin();
      Twin y = output_twin(y_sizes, dtype, Layout::offset);
      kernels::conv2d(y.cpu, x.cpu, w.cpu, b.cpu, c.p);
      kernels::conv2d(y.reference, x.reference, w.reference, b.reference, c.p);
      check_close(y, sum_bound(c.w[1] * c.w[2] * c.w[3], dtype));
    }
  });
}

void check_conv2d_input_grad() {
  for_convolutions([](const ConvCase& c, DType dtype, const Dims& y_sizes) {
    const Twin dy = random_twin(y_sizes, dtype), w = random_twin(c.w, dtype);
    Twin dx = output_twin(c.x, dtype, Layout::offset);
    kernels::conv2d_input_grad(dx.cpu, dy.cpu, w.cpu, c.p);
    kernels::conv2d_input_grad(dx.reference, dy.reference, w.reference, c.p);
    check_close(dx, sum_bound(c.w[0] * c.w[2] * c.w[3], dtype));
  });
}

void check_conv2d_weight_grad() {
  for_convolutions([](const ConvCase& c, DType dtype, const Dims& y_sizes) {
    const Twin dy = random_twin(y_sizes, dtype), x = random_twin(c.x, dtype);
    Twin dw = output_twin(c.w, dtype, Layout::offset);
    kernels::conv2d_weight_grad(dw.cpu, dy.cpu, x.cpu, c.p);
    kernels::conv2d_weight_grad(dw.reference, dy.reference, x.reference, c.p);
    check_close(dw, sum_bound(y_sizes[0] * y_sizes[2] * y_sizes[3], dtype));
  });
}

struct PoolCase {
  Dims x;
  Pool2dParams p;
};
const std::vector<PoolCase> kPools = {
    {{4, 6, 28, 28}, {.kernel = {2, 2}, .stride = {2, 2}}},
    {{1, 1, 1, 1}, {.kernel = {1, 1}}},
    {{2, 3, 7, 9}, {.kernel = {2, 2}, .stride = {2, 2}}},
    {{2, 3, 7, 9}, {.kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 1}}},
    {{2, 3, 7, 9}, {.kernel = {3, 3}, .stride = {2, 2}, .ceil_mode = true}},
    {{2, 3, 8, 8},
     {.kernel = {3, 3},
      .stride = {3, 3},
      .padding = {1, 1},
      .ceil_mode = true,
      .count_include_pad = false}},
    {{0, 3, 8, 8}, {.kernel = {2, 2}, .stride = {2, 2}}},
    {{40, 20, 24, 24}, {.kernel = {2, 2}, .stride = {2, 2}}},
};

/// Call f(case, dtype, y sizes), with dilation too for maxima.
template <class F>
void for_pools(bool dilated, const F& f) {
  std::vector<PoolCase> cases = kPools;
  if (dilated) {
    cases.push_back({{2, 3, 9, 9}, {.kernel = {2, 3}, .padding = {1, 1}, .dilation = {3, 2}}});
  }
  for (const PoolCase& c : cases) {
    for (DType dtype : {kFloat32, kFloat64}) {
      INFO(name(dtype), " x ", str(c.x));
      f(c, dtype, c.p.out_sizes("test", c.x));
    }
  }
}

/// Few values, so that many are equal, and some NaN.
Twin pool_input(IntArrayRef sizes, DType dtype) {
  return visit(dtype, [&]<class T>() {
    return make_twin<T>(sizes, [](int64_t i) {
      if (i % 97 == 5) return static_cast<T>(std::numeric_limits<double>::quiet_NaN());
      return static_cast<T>(static_cast<int64_t>(generator()() % 9) - 4);
    });
  });
}

void check_max_pool2d() {
  for_pools(true, [](const PoolCase& c, DType dtype, const Dims& y_sizes) {
    const Twin x = pool_input(c.x, dtype);
    Twin y = output_twin(y_sizes, dtype), index = output_twin(y_sizes, kInt64);
    kernels::max_pool2d(y.cpu, index.cpu, x.cpu, c.p);
    kernels::max_pool2d(y.reference, index.reference, x.reference, c.p);
    check_close(y);
    check_close(index);
  });
}

/// An element is in at most 9 windows.
void check_max_pool2d_grad() {
  for_pools(true, [](const PoolCase& c, DType dtype, const Dims& y_sizes) {
    const Twin x = pool_input(c.x, dtype), dy = random_twin(y_sizes, dtype);
    Twin y = output_twin(y_sizes, dtype), index = output_twin(y_sizes, kInt64);
    kernels::max_pool2d(y.cpu, index.cpu, x.cpu, c.p);
    kernels::copy(index.reference, index.cpu.to(reference_device()));
    Twin dx = output_twin(c.x, dtype);
    kernels::max_pool2d_grad(dx.cpu, dy.cpu, index.cpu, c.p);
    kernels::max_pool2d_grad(dx.reference, dy.reference, index.reference, c.p);
    check_close(dx, sum_bound(9, dtype));
  });
}

void check_avg_pool2d() {
  for_pools(false, [](const PoolCase& c, DType dtype, const Dims& y_sizes) {
    const Twin x = random_twin(c.x, dtype);
    Twin y = output_twin(y_sizes, dtype);
    kernels::avg_pool2d(y.cpu, x.cpu, c.p);
    kernels::avg_pool2d(y.reference, x.reference, c.p);
    check_close(y, sum_bound(9, dtype));
  });
}

void check_avg_pool2d_grad() {
  for_pools(false, [](const PoolCase& c, DType dtype, const Dims& y_sizes) {
    const Twin dy = random_twin(y_sizes, dtype);
    Twin dx = output_twin(c.x, dtype);
    kernels::avg_pool2d_grad(dx.cpu, dy.cpu, c.p);
    kernels::avg_pool2d_grad(dx.reference, dy.reference, c.p);
    check_close(dx, sum_bound(9, dtype));
  });
}

const std::vector<std::pair<Dims, int64_t>> kSoftmaxes = {
    {{}, 0},         {{7}, 0},        {{4, 10}, 1},   {{0, 5}, 1},     {{3, 0}, 1},
    {{31, 1023}, 1}, {{31, 1023}, 0}, {{5, 7, 3}, 1}, {{600, 200}, 1}, {{2, 40, 700}, 1}};

/// exp is good to 4 ulp, so is the sum of positive terms, summed in blocks of 512 that round like a
/// random walk (another 4 ulp), then a quotient. The logarithm: of numbers up to 6 + log n < 14,
/// an absolute error of 16 ulp of 1, and its own roundings. Gradients: sums of n terms.
Bound softmax_bound(DType dtype) { return {12, 32 * (dtype == kFloat32 ? 0x1p-24 : 0x1p-53)}; }

void check_softmax() {
  for (DType dtype : {kFloat32, kFloat64}) {
    for (const auto& [sizes, dim] : kSoftmaxes) {
      for (bool log : {false, true}) {
        INFO(name(dtype), " ", str(sizes), " dim ", dim, " log ", log);
        const Twin x = random_twin(sizes, dtype);
        Twin y = output_twin(sizes, dtype);
        kernels::softmax(y.cpu, x.cpu, dim, log);
        kernels::softmax(y.reference, x.reference, dim, log);
        check_close(y, softmax_bound(dtype));
      }
    }
  }
}

void check_softmax_grad() {
  for (DType dtype : {kFloat32, kFloat64}) {
    for (const auto& [sizes, dim] : kSoftmaxes) {
      for (bool log : {false, true}) {
        INFO(name(dtype), " ", str(sizes), " dim ", dim, " log ", log);
        const Twin dy = random_twin(sizes, dtype), x = random_twin(sizes, dtype);
        Twin y = output_twin(sizes, dtype), dx = output_twin(sizes, dtype);
        kernels::softmax(y.reference, x.reference, dim, log);
        y.cpu = y.reference.to(kCPU);
        kernels::softmax_grad(dx.cpu, dy.cpu, y.cpu, dim, log);
        kernels::softmax_grad(dx.reference, dy.reference, y.reference, dim, log);
        // Sums of up to 1023 terms dy (log), each weighted by a probability.
        check_close(dx, {12, sum_bound(1023, dtype).absolute / 8});
      }
    }
  }
}

struct NormTensors {
  Twin w, b, running_mean, running_var, mean, invstd;
};

NormTensors norm_tensors(int64_t C, DType dtype, bool affine) {
  NormTensors t;
  if (affine) t.w = random_twin({C}, dtype), t.b = random_twin({C}, dtype);
  t.running_mean = random_twin({C}, dtype);
  t.running_var = map(random_twin({C}, dtype), [](const Tensor& v) { return v.abs() + 0.5; });
  t.mean = output_twin({C}, dtype);
  t.invstd = output_twin({C}, dtype);
  return t;
}

/// Sums are in float64 on both sides; then three operations on numbers up to
/// (3 + 3) / sqrt(0.5) * 3 + 3 < 32, in float32 rounded to eps/2 of that each.
Bound norm_bound(DType dtype) { return {2, 4 * 32 * (dtype == kFloat32 ? 0x1p-24 : 0x1p-50)}; }

void check_batch_norm() {
  for (DType dtype : {kFloat32, kFloat64}) {
    for (const Dims& sizes : {Dims{4, 3, 5, 7}, Dims{31, 6}, Dims{40, 8, 15, 16}, Dims{0, 3, 2}}) {
      for (bool affine : {false, true}) {
        for (bool training : {false, true}) {
          if (training && sizes[0] == 0) continue;
          INFO(name(dtype), " ", str(sizes), " training ", training);
          const Twin x = random_twin(sizes, dtype);
          Twin y = output_twin(sizes, dtype);
          NormTensors t = norm_tensors(sizes[1], dtype, affine);
          const BatchNormParams p{.training = training, .momentum = 0.3, .eps = 1e-4};
          kernels::batch_norm(y.cpu, t.mean.cpu, t.invstd.cpu, t.running_mean.cpu,
                              t.running_var.cpu, x.cpu, t.w.cpu, t.b.cpu, p);
          kernels::batch_norm(y.reference, t.mean.reference, t.invstd.reference,
                              t.running_mean.reference, t.running_var.reference, x.reference,
                              t.w.reference, t.b.reference, p);
          for (const Twin& out : {y, t.mean, t.invstd, t.running_mean, t.running_var}) {
            check_close(out, norm_bound(dtype));
          }
        }
      }
    }
  }
}

/// dw and db are sums of n terms up to 3 * 6 in float64; dx is the same arithmetic as forward, on
/// numbers up to three times as large.
void check_batch_norm_grad() {
  for (DType dtype : {kFloat32, kFloat64}) {
    for (const Dims& sizes : {Dims{4, 3, 5, 7}, Dims{31, 6}, Dims{40, 8, 15, 16}}) {
      for (bool training : {false, true}) {
        INFO(name(dtype), " ", str(sizes), " training ", training);
        const Twin x = random_twin(sizes, dtype), dy = random_twin(sizes, dtype);
        Twin dx = output_twin(sizes, dtype), dw = output_twin({sizes[1]}, dtype),
             db = output_twin({sizes[1]}, dtype);
        NormTensors t = norm_tensors(sizes[1], dtype, true);
        t.mean = t.running_mean;
        t.invstd = t.running_var;
        const BatchNormParams p{.training = training};
        kernels::batch_norm_grad(dx.cpu, dw.cpu, db.cpu, dy.cpu, x.cpu, t.w.cpu, t.mean.cpu,
                                 t.invstd.cpu, p);
        kernels::batch_norm_grad(dx.reference, dw.reference, db.reference, dy.reference,
                                 x.reference, t.w.reference, t.mean.reference, t.invstd.reference,
                                 p);
        const double n = static_cast<double>(x.cpu.numel() / sizes[1]);
        const double eps = dtype == kFloat32 ? 0x1p-24 : 0x1p-53;
        for (const Twin& sum : {dw, db}) check_close(sum, {2, 2 * 64 * n * eps});
        check_close(dx, {2, 3 * 64 * 8 * eps});
      }
    }
  }
}

}  // namespace

std::vector<KernelCase> layer_cases() {
  return {{"matmul", check_matmul},
          {"linear", check_linear},
          {"conv2d", check_conv2d},
          {"conv2d_input_grad", check_conv2d_input_grad},
          {"conv2d_weight_grad", check_conv2d_weight_grad},
          {"max_pool2d", check_max_pool2d},
          {"max_pool2d_grad", check_max_pool2d_grad},
          {"avg_pool2d", check_avg_pool2d},
          {"avg_pool2d_grad", check_avg_pool2d_grad},
          {"softmax", check_softmax},
          {"softmax_grad", check_softmax_grad},
          {"batch_norm", check_batch_norm},
          {"batch_norm_grad", check_batch_norm_grad}};
}

TEST_CASE("products, convolutions, pools and norms of the cpu agree with the reference") {
  for (const KernelCase& c : layer_cases()) {
    INFO(c.op);
    c.run();
  }
}
