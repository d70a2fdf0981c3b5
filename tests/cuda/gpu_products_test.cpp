// Kernels of the CUDA backend compared with the reference: matrix products, activations after
// products and convolutions, and optimizer steps.
#include <array>
#include <cmath>

#include "gpu_kernels.h"

using namespace ambit;
using namespace gpu_kernels;

TEST_CASE("gpu: products of matrices of any dtype and strides") {
  if (!has_gpu()) return;
  manual_seed(4);
  const auto matrices = [](int64_t batch, int64_t rows, int64_t columns, DType dtype, bool turned) {
    const Tensor t = (randn({batch, turned ? columns : rows, turned ? rows : columns}) * 50);
    const Tensor there = t.to(dtype).to(gpu());
    return turned ? there.transpose(1, 2) : there;
  };
  for (const DType dtype : {kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat32, kFloat64}) {
    for (const auto& size :
         {std::array<int64_t, 4>{1, 5, 7, 3}, {3, 17, 33, 20}, {2, 1, 1, 40}, {2, 3, 4, 0}}) {
      const int64_t B = size[0], M = size[1], N = size[2], K = size[3];
      for (const bool turned : {false, true}) {
        CAPTURE(name(dtype));
        CAPTURE(M);
        CAPTURE(turned);
        const Tensor a = matrices(B, M, K, dtype, turned), b = matrices(B, K, N, dtype, !turned);
        Tensor y = empty({B, M, N}, a.options()), expected = y.to(kReference);
        kernels::matmul(y, a, b);
        kernels::matmul(expected, a.to(kReference), b.to(kReference));
        // Integers wrap in the same way; floats are summed in float64, in another order.
        if (is_floating_point(dtype)) {
          check_close(y, expected, 64);
        } else {
          CHECK(y.cpu().equal(expected.cpu()));
        }
      }
    }
  }
  const Tensor x = arange(6).reshape({2, 3}).to(gpu()), bias = arange(4).to(gpu());
  Tensor y = empty({2, 4}, x.options());
  kernels::linear(y, x, ones({4, 3}, kInt64).to(gpu()), bias);
  CHECK(y.cpu().equal(tensor({3, 4, 5, 6, 12, 13, 14, 15}).reshape({2, 4})));
}

TEST_CASE("gpu: products of float16 and bfloat16 are summed in float32, and rounded once") {
  if (!has_gpu()) return;
  manual_seed(6);
  // Whole numbers, whose sums are exact in float32 in any order.
  for (const DType dtype : dtypes::kReducedFloating) {
    const auto numbers = [&](IntArrayRef sizes) {
      return randint(-16, 17, sizes).to(dtype).to(gpu());
    };
    const auto check = [&](const Tensor& y, const Tensor& exact) {
      CHECK(y.cpu().equal(exact.to(dtype)));
    };
    const auto wide = [](const Tensor& t) { return t.cpu().to(kFloat64); };
    for (const auto& size :
         {std::array<int64_t, 3>{5, 7, 3}, {16, 24, 64}, {17, 33, 299}, {1, 1, 300}, {3, 4, 0}}) {
      const int64_t M = size[0], N = size[1], K = size[2];
      CAPTURE(name(dtype));
      CAPTURE(K);
      const Tensor x = numbers({M, K}), w = numbers({N, K}), b = numbers({2 * N}).slice(0, N);
      const Tensor strided = numbers({N, 2}).select(1, 0);
      const Tensor exact = matmul(wide(x), wide(w).t());
      Tensor y = empty({M, N}, x.options());
      for (const Tensor& bias : {b, strided}) {
        kernels::linear(y, x, w, bias);
        check(y, exact + wide(bias));
      }
      kernels::linear(y, x, w, Tensor());
      check(y, exact);
      const Tensor left = numbers({3, K, M}).transpose(1, 2), right = numbers({3, K, N});
      Tensor products = empty({3, M, N}, x.options());
      kernels::matmul(products, left, right);
      check(products, matmul(wide(left), wide(right)));
    }
  }
}

TEST_CASE("gpu: activations after products, with and without epilogues") {
  if (!has_gpu()) return;
  manual_seed(7);
  for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
    const Tensor x = randn({33, 24}).to(gpu(), dtype), w = randn({17, 24}).to(gpu(), dtype);
    for (const Tensor& bias : {randn({17}).to(gpu(), dtype), Tensor()}) {
      for (const UnaryOp op : kActivations) {
        CAPTURE(std::string(name(dtype)));
        CAPTURE(std::string(name(op)));
        Tensor y = empty({33, 17}, x.options()), expected = y.to(kReference);
        kernels::linear_map(y, x, w, bias, op);
        kernels::linear_map(expected, x.to(kReference), w.to(kReference), copy_if(bias), op);
        // The bound for float16 and bfloat16 is in units in the last place: the sum may be rounded,
        // and the result is rounded.
        const double roundings = dtype == kFloat16 ? 0x1p13 : dtype == kBFloat16 ? 0x1p16 : 64;
        const DType wide = dtype == kFloat64 ? kFloat64 : kFloat32;
        check_close(y.to(wide), expected.to(wide), roundings);
      }
    }
  }
}

TEST_CASE("gpu: activations after convolutions, by each implementation") {
  if (!has_gpu()) return;
  manual_seed(8);
  struct Case {
    Dims x, w;
    ConvParams p;
  };
  const Case cases[] = {
      {{3, 8, 14, 15}, {16, 8, 3, 3}, {.padding = {1, 1}}},              // with transposes
      {{3, 8, 14, 15}, {8, 1, 3, 3}, {.padding = {1, 1}, .groups = 8}},  // cuDNN's relu
      {{3, 8, 3, 3}, {16, 8, 3, 3}, {}},  // one pixel: both layouts are equal
      {{2, 6, 40}, {4, 3, 3}, {.padding = {2}, .groups = 2}},
      {{2, 4, 5, 6, 7}, {8, 4, 3, 3, 2}, {.padding = {1, 0, 1}}},
      {{1, 2, 0, 3}, {4, 2, 2, 2}, {.padding = {2, 2}}},  // only padding
  };
  const bool was_allowed = is_tf32_allowed();
  for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
    for (const Case& c : cases) {
      for (const bool tf32 : {false, true}) {
        if (tf32 && dtype != kFloat32) continue;
        allow_tf32(tf32);
        const Tensor x = randn(c.x).to(gpu(), dtype), w = randn(c.w).to(gpu(), dtype);
        for (const Tensor& bias : {randn({c.w[0]}).to(gpu(), dtype), Tensor()}) {
          for (const UnaryOp op : kActivations) {
            CAPTURE(std::string(name(dtype)));
            CAPTURE(std::string(name(op)));
            CAPTURE(str(c.x));
            CAPTURE(tf32);
            if (bias.defined()) bias[1].fill_(NAN);
            Tensor y = empty(c.p.out_sizes("convolution", c.x, c.w), x.options());
            Tensor expected = y.to(kReference);
            kernels::convolution_map(y, x, w, bias, c.p, op);
            kernels::convolution_map(expected, x.to(kReference), w.to(kReference), copy_if(bias),
                                     c.p, op);
            CHECK(isnan(y).cpu().equal(isnan(expected).cpu()));
            // The bound for float16 and bfloat16 is in units in the last place: the sum and the
            // result are rounded. TF32 rounds each operand to float16's precision; the magnitudes
            // of the products add up to five times the largest result.
            const double roundings = dtype == kFloat16 ? 0x1p13 : dtype == kBFloat16 ? 0x1p16 : 64;
            const DType wide = dtype == kFloat64 ? kFloat64 : kFloat32;
            const auto numbers = [&](const Tensor& t) { return t.to(wide).nan_to_num(0); };
            check_close(numbers(y), numbers(expected), tf32 ? 5 * 0x1p13 : roundings);
          }
        }
      }
    }
  }
  allow_tf32(was_allowed);
}

TEST_CASE("gpu: optimizer steps, with lists that need several tables") {
  if (!has_gpu()) return;
  manual_seed(5);
  std::vector<Dims> sizes{{0}, {3000}, {}, {1024}, {5, 5}, {1025}};
  for (int i = 0; i < 150; ++i) sizes.push_back({i % 3 + 1});
  using Tensors = std::vector<Tensor>;
  const auto copies = [](const Tensors& list) {
    Tensors all;
    for (const Tensor& t : list) all.push_back(t.to(kReference));
    return all;
  };
  // The bound: a dozen roundings of numbers up to 5 times the largest result, or up to 5.
  const auto check = [](const Tensors& ours, const Tensors& reference) {
    for (size_t i = 0; i < ours.size(); ++i) {
      if (ours[i].numel() > 0) check_close(ours[i], reference[i], 12 * 5);
    }
  };
  for (const DType dtype : dtypes::kFloating) {
    for (const bool odd : {false, true}) {  // not aligned to vectors
      const auto make = [&](bool positive) {
        Tensors list;
        for (const Dims& s : sizes) {
          const Tensor flat = normal({empty(s).numel() + odd}, dtype).slice(0, odd);
          list.push_back((positive ? flat.abs_().add_(0.1) : flat).view(s));
        }
        return list;
      };
      for (const SgdParams& o :
           {SgdParams{.lr = 0.1, .weight_decay = 0.2},
            SgdParams{.lr = 0.1, .momentum = 0.9, .first_step = true},
            SgdParams{.lr = 0.1, .momentum = 0.9, .dampening = 0.3, .nesterov = true}}) {
        const Tensors p = make(false), g = make(false), buf = o.momentum != 0 ? make(false) : p;
        const Tensors p_expected = copies(p), buf_expected = copies(buf);
        const size_t buffers = o.momentum != 0 ? buf.size() : 0;
        kernels::sgd_step(p, {buf.data(), buffers}, g, o);
        kernels::sgd_step(p_expected, {buf_expected.data(), buffers}, copies(g), o);
        check(p, p_expected);
        if (buffers > 0) check(buf, buf_expected);
      }
      for (const AdamParams& o : {AdamParams{.lr = 0.1, .weight_decay = 0.2, .step = 3},
                                  AdamParams{.weight_decay = 0.2, .decoupled = true}}) {
        const Tensors p = make(false), m = make(false), v = make(true), g = make(false);
        const Tensors p_expected = copies(p), m_expected = copies(m), v_expected = copies(v);
        for (const size_t counted : {size_t{0}, p.size()}) {  // step counts in tensors
          const Tensors t(p.size(), full({}, 5, TensorOptions(kFloat32).device(p[0].device())));
          kernels::adam_step(p, m, v, {t.data(), counted}, g, o);
          kernels::adam_step(p_expected, m_expected, v_expected, {copies(t).data(), counted},
                             copies(g), o);
          check(p, p_expected);
          check(m, m_expected);
          check(v, v_expected);
        }
      }
    }
  }
}
