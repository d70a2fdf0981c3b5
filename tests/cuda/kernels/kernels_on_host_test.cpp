// Kernels of the CUDA backend, run on the host by device.h, against the reference backend.
// Long because every kernel that runs so has its case here, beside what they share.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/settings.h>
#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <vector>

#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/matmul_tiled.h"
#include "device.h"

using namespace ambit;

namespace {

const Device kReference("reference");

Tensor normal(IntArrayRef sizes, DType dtype) { return randn(sizes, TensorOptions(dtype)); }
Tensor copy_if(const Tensor& t) { return t.defined() ? t.to(kReference) : Tensor(); }

// Both keep sums in float64, but in another order, which is a rounding for each of `terms` at most;
// results are then rounded to their dtype `roundings` times. All of it relative to the largest
// element, since differences cancel.
void check_close(const Tensor& ours, const Tensor& reference, double roundings, int64_t terms = 0) {
  constexpr double kWide = std::numeric_limits<double>::epsilon();
  constexpr double kNarrow = std::numeric_limits<float>::epsilon();
  const double epsilon = ours.dtype() == kFloat64 ? kWide : kNarrow;
  const Tensor expected = reference.cpu();
  const double largest = std::max(1.0, expected.abs().max().item<double>());
  const double tolerance = (roundings * epsilon + static_cast<double>(terms) * kWide) * largest;
  CHECK((ours - expected).abs().max().item<double>() <= tolerance);
}

const DType kFloats[] = {kFloat32, kFloat64};

}  // namespace

// What kernels call of those that are not compiled here.
void cuda::fill(Tensor& y, const Scalar& value) { y.fill_(value); }

TEST_CASE("softmax and its gradient, by threads, warps and blocks") {
  struct Case {
    std::vector<int64_t> sizes;
    int64_t dim;
  };
  manual_seed(1);
  for (const Case& c : std::vector<Case>{{{4, 10}, 1},
                                         {{300, 7}, 1},
                                         {{3, 5, 7}, 1},
                                         {{3, 5, 7}, 0},
                                         {{2, 2100}, 1},
                                         {{2100, 2}, 0},
                                         {{5, 1}, 1},
                                         {{}, 0}}) {
    for (const DType dtype : kFloats) {
      for (const bool log : {false, true}) {
        CAPTURE(str(c.sizes));
        CAPTURE(log);
        const Tensor x = normal(c.sizes, dtype), dy = normal(c.sizes, dtype);
        Tensor y = empty_like(x), dx = empty_like(x);
        Tensor y_expected = empty_like(x).to(kReference), dx_expected = y_expected.clone();
        cuda::softmax(y, x, c.dim, log);
        kernels::softmax(y_expected, x.to(kReference), c.dim, log);
        // exp and log round by at most 2 units, the quotient and the difference once each.
        check_close(y, y_expected, 8);
        y = y_expected.cpu();
        cuda::softmax_grad(dx, dy, y, c.dim, log);
        kernels::softmax_grad(dx_expected, dy.to(kReference), y_expected, c.dim, log);
        // The sum of dy, rounded, is as large as the root of 2100 elements of 1.
        check_close(dx, dx_expected, 64);
      }
    }
  }
}

// Rows that a thread takes, a warp, a block; so many that two blocks share the sum of the weights.
TEST_CASE("losses of classes and their gradient, with weights and ignored rows") {
  manual_seed(7);
  for (const Dims& sizes : std::vector<Dims>{
           {4, 10}, {0, 10}, {0, 40}, {5, 1}, {37, 16}, {37, 17}, {3, 2100}, {2500, 3}}) {
    const int64_t N = sizes[0], C = sizes[1];
    const Tensor target = randint(0, C, {N}, TensorOptions(kInt64));
    for (const DType dtype : kFloats) {
      for (const int mode : {0, 1, 2, 3}) {
        const bool weighted = mode % 2 == 1;
        const int64_t ignore_index = mode / 2 == 1 ? C / 2 : -100;
        CAPTURE(str(IntArrayRef(sizes)));
        CAPTURE(weighted);
        CAPTURE(ignore_index);
        const Tensor x = normal(sizes, dtype) * 4;
        const Tensor w = weighted ? normal({C}, dtype).abs() : Tensor();
        Tensor y = empty({N}, x.options()), weight_sum = empty({}, x.options());
        Tensor y_expected = y.to(kReference), weight_sum_expected = weight_sum.to(kReference);
        const auto check = [&] {
          if (N > 0) check_close(y, y_expected, 8);
          check_close(weight_sum, weight_sum_expected, 1, N);
        };
        cuda::nll_loss(y, weight_sum, x, target, w, ignore_index);
        kernels::nll_loss(y_expected, weight_sum_expected, x.to(kReference), target.to(kReference),
                          copy_if(w), ignore_index);
        check();
        cuda::cross_entropy(y, weight_sum, x, target, w, ignore_index);
        kernels::cross_entropy(y_expected, weight_sum_expected, x.to(kReference),
                               target.to(kReference), copy_if(w), ignore_index);
        // Differences of logits, exp by up to 2 units, the logarithm and the weight round.
        check();

        // The gradient of a mean is one number for all rows.
        const Tensor g =
            weighted ? normal({1}, dtype).expand({N}) : normal({N, 2}, dtype).select(1, 0);
        Tensor dx = empty_like(x), dx_expected = dx.to(kReference);
        cuda::cross_entropy_grad(dx, g, x, target, w, ignore_index);
        kernels::cross_entropy_grad(dx_expected, g.to(kReference), x.to(kReference),
                                    target.to(kReference), copy_if(w), ignore_index);
        // As above, times g and w, neither larger than 5.
        if (N > 0) check_close(dx, dx_expected, 8 * 5 * 5);
      }
    }
  }
}

TEST_CASE("losses of classes skip a target that is no class, and report it") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const int64_t C : {3, 40, 3000}) {
    for (const int64_t bad : {int64_t{-1}, C}) {
      CAPTURE(C);
      CAPTURE(bad);
      const Tensor target = tensor({int64_t{2}, bad, int64_t{-100}}), g = ones({3});
      Tensor x = zeros({3, C});
      x.slice(0, 1).fill_(kInfinity);  // rows that nobody may read
      x.select(0, 0)[0].fill_(-kInfinity);
      const auto check_report = [&] {
        CHECK(cuda::Call::fault.kind == cuda::FaultKind::target);
        CHECK(cuda::Call::fault.got == bad);
        CHECK(cuda::Call::fault.limit == C);
        cuda::Call::fault = {};
      };
      Tensor y = full({3}, 7.0), weight_sum = full({}, 7.0), dx = full({3, C}, 7.0);
      cuda::Call::fault = {};
      cuda::nll_loss(y, weight_sum, x, target, Tensor(), -100);
      check_report();
      CHECK(y.equal(zeros({3})));
      CHECK(weight_sum.item<float>() == 1);
      cuda::cross_entropy(y, weight_sum, x, target, Tensor(), -100);
      check_report();
      const double log_classes = std::log(static_cast<double>(C - 1));
      // One rounding, of a number in [8, 16) at most: half of 2^-20.
      CHECK(std::abs(y[0].item<double>() - log_classes) <= 0x1p-21);
      CHECK(y.slice(0, 1).equal(zeros({2})));
      CHECK(weight_sum.item<float>() == 1);
      cuda::cross_entropy_grad(dx, g, x, target, Tensor(), -100);
      check_report();
      CHECK(dx[0][0].item<float>() == 0);
      CHECK(dx[0][1].item<float>() == static_cast<float>(1.0 / static_cast<double>(C - 1)));
      CHECK(dx.slice(0, 1).equal(zeros({2, C})));
    }
  }
}

TEST_CASE("batch norm and its gradient, with and without weights and running statistics") {
  manual_seed(2);
  for (const auto& sizes : std::vector<std::vector<int64_t>>{
           {4, 3, 8, 8}, {6, 5}, {2, 3, 5, 7}, {300, 2, 3}, {8, 2, 20, 20}, {7, 1, 1, 4}}) {
    for (const DType dtype : kFloats) {
      for (const int mode : {0, 1, 2, 3}) {
        const bool training = mode % 2 == 1, affine = mode / 2 == 1;
        CAPTURE(str(IntArrayRef(sizes)));
        CAPTURE(training);
        CAPTURE(affine);
        const Dims C{sizes[1]};
        const Tensor x = normal(sizes, dtype) * 2 + 5, dy = normal(sizes, dtype);
        const Tensor w = affine ? normal(C, dtype) : Tensor();
        const Tensor b = affine ? normal(C, dtype) : Tensor();
        const bool tracks = affine || !training;
        Tensor running_mean = tracks ? normal(C, dtype) : Tensor();
        Tensor running_var = tracks ? normal(C, dtype).square() + 0.5 : Tensor();
        Tensor running_mean_expected = copy_if(running_mean);
        Tensor running_var_expected = copy_if(running_var);
        Tensor y = empty_like(x), mean = empty(C, x.options()), invstd = empty_like(mean);
        Tensor y_expected = y.to(kReference), mean_expected = mean.to(kReference);
        Tensor invstd_expected = invstd.to(kReference);
        const BatchNormParams p{.training = training};
        cuda::batch_norm(y, mean, invstd, running_mean, running_var, x, w, b, p);
        kernels::batch_norm(y_expected, mean_expected, invstd_expected, running_mean_expected,
                            running_var_expected, x.to(kReference), copy_if(w), copy_if(b), p);
        const int64_t terms = x.numel() / sizes[1];
        // Statistics are rounded once, then differ as the results made of them.
        check_close(y, y_expected, 8, terms);
        check_close(mean, mean_expected, 8, terms);
        check_close(invstd, invstd_expected, 8, terms);
        if (tracks) check_close(running_mean, running_mean_expected, 8, terms);
        if (tracks) check_close(running_var, running_var_expected, 8, terms);

        Tensor dx = empty_like(x), dw = empty_like(mean), db = empty_like(mean);
        Tensor dx_expected = dx.to(kReference), dw_expected = dw.to(kReference);
        Tensor db_expected = db.to(kReference);
        mean = mean_expected.cpu(), invstd = invstd_expected.cpu();
        cuda::batch_norm_grad(dx, dw, db, dy, x, w, mean, invstd, p);
        kernels::batch_norm_grad(dx_expected, dw_expected, db_expected, dy.to(kReference),
                                 x.to(kReference), copy_if(w), mean_expected, invstd_expected, p);
        check_close(dx, dx_expected, 8, terms);
        check_close(dw, dw_expected, 8, terms);
        check_close(db, db_expected, 8, terms);
      }
    }
  }
}

TEST_CASE("average pooling and its gradient") {
  manual_seed(3);
  for (const DType dtype : kFloats) {
    for (const bool odd : {false, true}) {
      for (const bool include_pad : {false, true}) {
        Pool2dParams p{.kernel = {3, 2}, .stride = {odd ? 2 : 1, 2}, .padding = {1, odd}};
        p.ceil_mode = odd;
        p.count_include_pad = include_pad;
        const Tensor x = normal({2, 3, 9, 8}, dtype);
        const Dims out = p.out_sizes("avg_pool2d", x.sizes());
        const Tensor dy = normal(out, dtype);
        Tensor y = empty(out, x.options()), dx = empty_like(x);
        Tensor y_expected = y.to(kReference), dx_expected = dx.to(kReference);
        cuda::avg_pool2d(y, x, p);
        kernels::avg_pool2d(y_expected, x.to(kReference), p);
        check_close(y, y_expected, 2);  // both round once, from float64
        cuda::avg_pool2d_grad(dx, dy, p);
        kernels::avg_pool2d_grad(dx_expected, dy.to(kReference), p);
        check_close(dx, dx_expected, 8);  // of up to 6 windows, in another order
      }
    }
  }
}

// Overlapping, apart, and so dilated that most of a window falls on padding.
const Pool2dParams kMaxPools[] = {
    {.kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 1}},
    {.kernel = {2, 2}, .stride = {2, 2}},
    {.kernel = {3, 3}, .stride = {1, 2}, .dilation = {2, 3}},
    {.kernel = {2, 2}, .stride = {3, 4}, .padding = {1, 1}, .dilation = {8, 2}},
    {.kernel = {2, 3}, .stride = {1, 1}, .padding = {1, 1}, .dilation = {8, 7}},
};

TEST_CASE("maximum pooling and its gradient, also where all has to be added in order") {
  manual_seed(5);
  for (const DType dtype : kFloats) {
    for (const Pool2dParams& p : kMaxPools) {
      for (const bool deterministic : {false, true}) {
        CAPTURE(p.dilation[0]);
        CAPTURE(deterministic);
        const Tensor x = normal({2, 3, 8, 13}, dtype);
        const Dims out = p.out_sizes("max_pool2d", x.sizes());
        const Tensor dy = normal(out, dtype);
        Tensor y = empty(out, x.options()), dx = empty_like(x);
        Tensor index = empty(out, TensorOptions(kInt32)), index_expected = index.to(kReference);
        Tensor y_expected = y.to(kReference), dx_expected = dx.to(kReference);
        cuda::max_pool2d(y, index, x, p);
        kernels::max_pool2d(y_expected, index_expected, x.to(kReference), p);
        CHECK(y.equal(y_expected.cpu()));
        CHECK(index.equal(index_expected.cpu()));
        set_deterministic(deterministic);
        cuda::max_pool2d_grad(dx, dy, index, p);
        set_deterministic(false);
        kernels::max_pool2d_grad(dx_expected, dy.to(kReference), index_expected, p);
        // Each window's gradient is added, with a rounding each: the reference rounds once.
        check_close(dx, dx_expected, static_cast<double>(out[2] * out[3]));
      }
    }
  }
}

TEST_CASE("a position outside of the image is reported, whatever the order of adding") {
  Pool2dParams p{.kernel = {3, 3}, .stride = {1, 1}};
  for (const bool deterministic : {false, true}) {
    Tensor dx = empty({1, 1, 4, 4});
    const Tensor dy = ones({1, 1, 2, 2}), index = tensor({5, 16, -1, 5}, kInt32).view({1, 1, 2, 2});
    cuda::Call::fault = {};
    set_deterministic(deterministic);
    cuda::max_pool2d_grad(dx, dy, index, p);
    set_deterministic(false);
    CHECK(cuda::Call::fault.kind == cuda::FaultKind::index);
    CHECK(cuda::Call::fault.got == 16);
    CHECK(cuda::Call::fault.limit == 16);
    CHECK(dx.view({16})[5].item<float>() == 2);
    CHECK(dx.sum().item<float>() == 2);
  }
}

TEST_CASE("sums at places that an index names, by atomics and in order, of every dtype") {
  manual_seed(6);
  for (const DType dtype : {kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat32, kFloat64}) {
    for (const bool deterministic : {false, true}) {
      CAPTURE(name(dtype));
      CAPTURE(deterministic);
      const Tensor src = (randn({40, 6}) * 20).to(dtype), y0 = (randn({7, 6}) * 20).to(dtype);
      const Tensor index = randint(0, 7, {40, 6}, TensorOptions(kInt64));
      const Tensor rows = index.select(1, 0).contiguous();
      Tensor y = y0.clone(), by_row = y0.clone();
      Tensor expected = y0.to(kReference), expected_by_row = expected.clone();
      set_deterministic(deterministic);
      cuda::scatter_add(y, index, src, 0);
      cuda::index_add(by_row, rows, src, 0);
      set_deterministic(false);
      kernels::scatter_add(expected, index.to(kReference), src.to(kReference), 0);
      kernels::index_add(expected_by_row, rows.to(kReference), src.to(kReference), 0);
      if (is_floating_point(dtype)) {
        check_close(y, expected, 40);  // a rounding for each of the elements that may meet
        check_close(by_row, expected_by_row, 40);
      } else {
        CHECK(y.equal(expected.cpu()));
        CHECK(by_row.equal(expected_by_row.cpu()));
      }
    }
  }
}

TEST_CASE("of elements that meet at a place the last stays, where order matters") {
  manual_seed(8);
  set_deterministic(true);
  for (const DType dtype : {kUInt8, kInt16, kFloat32, kFloat64}) {
    for (const int64_t dim : {0, 1}) {
      CAPTURE(name(dtype));
      CAPTURE(dim);
      const Tensor src = (randn({20, 30}) * 50).abs().to(dtype).transpose(0, 1);
      const Tensor index = randint(0, 9, {40, 16}, TensorOptions(kInt64)).slice(0, 0, 40, 2);
      Tensor y = zeros({50, 40}, TensorOptions(dtype)).transpose(0, 1);
      Tensor expected = y.to(kReference);
      cuda::scatter(y, index, src, dim);
      kernels::scatter(expected, index.to(kReference), src.to(kReference), dim);
      CHECK(y.equal(expected.cpu()));
    }
  }
  Tensor y = zeros({3}), scalar = zeros({});
  cuda::Call::fault = {};
  cuda::scatter(y, tensor({1, 3, 1, -1}), tensor({1.f, 2.f, 3.f, 4.f}), 0);
  CHECK(cuda::Call::fault.kind == cuda::FaultKind::index);
  CHECK(y.equal(tensor({0.f, 3.f, 0.f})));
  cuda::Call::fault = {};
  cuda::scatter(scalar, zeros({}, kInt64), ones({}), 0);
  CHECK(scalar.item<float>() == 1);
  set_deterministic(false);
}

TEST_CASE("products of matrices of any dtype and strides") {
  manual_seed(4);
  const auto matrices = [](int64_t batch, int64_t rows, int64_t columns, DType dtype, bool turned) {
    const Tensor t = (randn({batch, turned ? columns : rows, turned ? rows : columns}) * 50);
    return turned ? t.to(dtype).transpose(1, 2) : t.to(dtype);
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
        Tensor y = empty({B, M, N}, TensorOptions(dtype)), expected = y.to(kReference);
        cuda::matmul_tiled(y, cuda::Matrices(a), cuda::Matrices(b), Tensor());
        kernels::matmul(expected, a.to(kReference), b.to(kReference));
        // Integers wrap alike; floats sum in float64, in another order.
        if (is_floating_point(dtype)) {
          check_close(y, expected, 64);
        } else {
          CHECK(y.equal(expected.cpu()));
        }
      }
    }
  }
  const Tensor x = arange(6).reshape({2, 3}), w = ones({4, 3}, kInt64), bias = arange(4);
  Tensor y = empty({2, 4}, TensorOptions(kInt64));
  cuda::matmul_tiled(y, cuda::Matrices(x), cuda::Matrices(w).transposed(), bias);
  CHECK(y.equal(tensor({3, 4, 5, 6, 12, 13, 14, 15}).reshape({2, 4})));
}

TEST_CASE("steps of optimizers, for lists that fill several tables") {
  manual_seed(5);
  std::vector<Dims> sizes{{0}, {3000}, {}, {1024}, {5, 5}, {1025}};
  for (int i = 0; i < 150; ++i) sizes.push_back({i % 3 + 1});
  using Tensors = std::vector<Tensor>;
  const auto copies = [](const Tensors& list) {
    Tensors all;
    for (const Tensor& t : list) all.push_back(t.to(kReference));
    return all;
  };
  // A dozen roundings, of numbers up to 5 times as large as the largest result or 1.
  const auto check = [](const Tensors& ours, const Tensors& reference) {
    for (size_t i = 0; i < ours.size(); ++i) {
      if (ours[i].numel() > 0) check_close(ours[i], reference[i], 12 * 5);
    }
  };
  for (const DType dtype : kFloats) {
    for (const bool odd : {false, true}) {  // aligned to no vector
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
        cuda::sgd_step(p, {buf.data(), buffers}, g, o);
        kernels::sgd_step(p_expected, {buf_expected.data(), buffers}, copies(g), o);
        check(p, p_expected);
        if (buffers > 0) check(buf, buf_expected);
      }
      for (const AdamParams& o : {AdamParams{.lr = 0.1, .weight_decay = 0.2, .step = 3},
                                  AdamParams{.weight_decay = 0.2, .decoupled = true}}) {
        const Tensors p = make(false), m = make(false), v = make(true), g = make(false);
        const Tensors p_expected = copies(p), m_expected = copies(m), v_expected = copies(v);
        cuda::adam_step(p, m, v, g, o);
        kernels::adam_step(p_expected, m_expected, v_expected, copies(g), o);
        check(p, p_expected);
        check(m, m_expected);
        check(v, v_expected);
      }
    }
  }
}
