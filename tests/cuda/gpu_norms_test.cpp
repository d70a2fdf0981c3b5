// Kernels of the CUDA backend compared with the reference: softmax and batch normalisation.
#include <ambit/memory.h>

#include "gpu_kernels.h"

#include <cmath>
#include <limits>

using namespace ambit;
using namespace gpu_kernels;

TEST_CASE("gpu: softmax and its gradient, by threads, warps and blocks") {
  if (!has_gpu()) return;
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
                                         {{9, 32}, 1},
                                         {{9, 100}, 1},
                                         {{3, 500}, 1},
                                         {{3, 1000}, 1},
                                         {{3, 2048}, 1},
                                         {{2, 8192}, 1},
                                         {{2, 8193}, 1},
                                         {{8200, 3}, 0},
                                         {{5, 1}, 1},
                                         {{}, 0}}) {
    for (const DType dtype : dtypes::kFloating) {
      for (const bool log : {false, true}) {
        CAPTURE(str(c.sizes));
        CAPTURE(log);
        const Tensor x = normal(c.sizes, dtype), dy = normal(c.sizes, dtype);
        Tensor y = empty_like(x), dx = empty_like(x);
        Tensor y_expected = empty_like(x).to(kReference), dx_expected = y_expected.clone();
        kernels::softmax(y, x, c.dim, log);
        kernels::softmax(y_expected, x.to(kReference), c.dim, log);
        // exp and log have errors of at most 2 ulp, the quotient and the difference one rounding
        // each.
        check_close(y, y_expected, 8);
        y = y_expected.to(gpu());
        kernels::softmax_grad(dx, dy, y, c.dim, log);
        kernels::softmax_grad(dx_expected, dy.to(kReference), y_expected, c.dim, log);
        // The rounded sum of dy is about as large as sqrt(2100), for 2100 random elements of
        // magnitude 1.
        check_close(dx, dx_expected, 64);
      }
    }
  }
}

TEST_CASE("gpu: softmax of ascending rows, with infinities and NaN, in one or several blocks") {
  if (!has_gpu()) return;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const int64_t n : {5, 40, 700, 2500, 20000}) {
    for (const DType dtype : dtypes::kFloating) {
      CAPTURE(n);
      // Each element is larger than the previous one, by small or large steps.
      const Tensor rising = arange(n, TensorOptions(kFloat64));
      Tensor x = stack({rising * 1e-6, rising * 0.01, rising * -0.01, rising, rising * 0,
                        where(rising < n / 2, -kInfinity, rising * 0.01),
                        where(rising >= n / 2, -kInfinity, rising * 0.01), rising - kInfinity})
                     .to(dtype)
                     .to(gpu());
      for (const bool along_memory : {true, false}) {
        const Tensor lines = along_memory ? x : x.t().contiguous();
        for (const bool log : {false, true}) {
          CAPTURE(log);
          Tensor y = empty_like(lines), expected = empty_like(lines).to(kReference);
          kernels::softmax(y, lines, along_memory ? 1 : 0, log);
          kernels::softmax(expected, lines.to(kReference), along_memory ? 1 : 0, log);
          // exp and log have errors of at most 2 ulp, the quotient and the difference one rounding
          // each; the rounding of a difference d is a relative error of exp(d) of d / 2 ulp. The
          // logarithm of a probability near 1 has the absolute error of the logarithm of the sum;
          // denormals have no significant digits.
          const double epsilon = visit<dtypes::kFloating>(
              dtype, []<class T>() -> double { return std::numeric_limits<T>::epsilon(); });
          const double least = visit<dtypes::kFloating>(
              dtype, []<class T>() -> double { return std::numeric_limits<T>::min(); });
          const double relative = (8 - std::log(least) / 2) * epsilon;
          CHECK(y.cpu().allclose(expected.cpu(), relative, log ? 8 * epsilon : least, true));
        }
      }
    }
  }
}

// Sizes for which a row is processed by a thread, a warp or a block, and so many rows that two
// blocks sum the weights' gradients.
TEST_CASE("gpu: batch norm and its gradient, with and without weights and running statistics") {
  if (!has_gpu()) return;
  manual_seed(2);
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{4, 3, 8, 8},
                                                             {6, 5},
                                                             {2, 3, 5, 7},
                                                             {300, 2, 3},
                                                             {8, 2, 20, 20},
                                                             {7, 1, 1, 4},
                                                             {1000, 40},
                                                             {70, 33, 5}}) {
    for (const DType dtype : dtypes::kFloating) {
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
        kernels::batch_norm(y, mean, invstd, running_mean, running_var, x, w, b, p);
        kernels::batch_norm(y_expected, mean_expected, invstd_expected, running_mean_expected,
                            running_var_expected, x.to(kReference), copy_if(w), copy_if(b), p);
        const int64_t terms = x.numel() / sizes[1];
        // Statistics are rounded once, and affect the results.
        check_close(y, y_expected, 8, terms);
        check_close(mean, mean_expected, 8, terms);
        check_close(invstd, invstd_expected, 8, terms);
        if (tracks) check_close(running_mean, running_mean_expected, 8, terms);
        if (tracks) check_close(running_var, running_var_expected, 8, terms);

        Tensor dx = empty_like(x), dw = empty_like(mean), db = empty_like(mean);
        Tensor dx_expected = dx.to(kReference), dw_expected = dw.to(kReference);
        Tensor db_expected = db.to(kReference);
        mean = mean_expected.to(gpu()), invstd = invstd_expected.to(gpu());
        kernels::batch_norm_grad(dx, dw, db, dy, x, w, mean, invstd, p);
        kernels::batch_norm_grad(dx_expected, dw_expected, db_expected, dy.to(kReference),
                                 x.to(kReference), copy_if(w), mean_expected, invstd_expected, p);
        check_close(dx, dx_expected, 8, terms);
        check_close(dw, dw_expected, 8, terms);
        check_close(db, db_expected, 8, terms);
      }
    }
  }
}

TEST_CASE("gpu: a NaN in a channel affects all results of that channel, and of no other") {
  if (!has_gpu()) return;
  for (const DType dtype : dtypes::kFloating) {
    Tensor x = normal({40, 2, 5}, dtype);
    x[7][1][3].fill_(std::numeric_limits<double>::quiet_NaN());
    Tensor y = empty_like(x), mean = empty({2}, x.options()), invstd = empty_like(mean);
    Tensor running_mean = zeros_like(mean), running_var = ones_like(mean);
    kernels::batch_norm(y, mean, invstd, running_mean, running_var, x, Tensor(), Tensor(), {});
    for (const Tensor& made :
         {y.transpose(0, 1).sum({1, 2}), mean, invstd, running_mean, running_var}) {
      CHECK_FALSE(std::isnan(made[0].item<double>()));
      CHECK(std::isnan(made[1].item<double>()));
    }
  }
}

TEST_CASE("gpu: batch norm of float16 does not read uninitialised memory") {
  if (!has_gpu()) return;
  const Tensor x = randn({4, 3, 5}).to(kFloat16).to(gpu());
  const Tensor running_mean = zeros({3}, x.options()), running_var = ones({3}, x.options());
  empty_cache(gpu());  // the following allocations are new
  const Tensor y = batch_norm(x, {}, {}, running_mean, running_var, {.training = true});
  CHECK(y.to(kFloat32).mean().abs().item<float>() < 1e-3);  // mean of 60 numbers rounded to 2^-11
}
