// Kernels of the CUDA backend compared with the reference: classification losses.
#include <cmath>
#include <limits>
#include <string>

#include "gpu_kernels.h"

using namespace ambit;
using namespace gpu_kernels;

TEST_CASE("gpu: classification losses and their gradient, with weights and ignored rows") {
  if (!has_gpu()) return;
  manual_seed(7);
  for (const Dims& sizes : std::vector<Dims>{
           {4, 10}, {0, 10}, {0, 40}, {5, 1}, {37, 16}, {37, 17}, {3, 2100}, {2500, 3}}) {
    const int64_t N = sizes[0], C = sizes[1];
    const Tensor target = randint(0, C, {N}, TensorOptions(kInt64)).to(gpu());
    for (const DType dtype : dtypes::kFloating) {
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
        kernels::nll_loss(y, weight_sum, x, target, w, ignore_index);
        kernels::nll_loss(y_expected, weight_sum_expected, x.to(kReference), target.to(kReference),
                          copy_if(w), ignore_index);
        check();
        kernels::cross_entropy(y, weight_sum, x, target, w, ignore_index);
        kernels::cross_entropy(y_expected, weight_sum_expected, x.to(kReference),
                               target.to(kReference), copy_if(w), ignore_index);
        // Rounding errors: differences of logits, exp within 2 ulp, the logarithm, and the weight.
        check();

        // The gradient of a mean is the same number for all rows.
        const Tensor g =
            weighted ? normal({1}, dtype).expand({N}) : normal({N, 2}, dtype).select(1, 0);
        Tensor dx = empty_like(x), dx_expected = dx.to(kReference);
        kernels::cross_entropy_grad(dx, g, x, target, w, ignore_index);
        kernels::cross_entropy_grad(dx_expected, g.to(kReference), x.to(kReference),
                                    target.to(kReference), copy_if(w), ignore_index);
        // The errors above are multiplied by g and w, which are at most 5.
        if (N > 0) check_close(dx, dx_expected, 8 * 5 * 5);
      }
    }
  }
}

TEST_CASE("gpu: classification losses skip an invalid target, and report it") {
  if (!has_gpu()) return;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const int64_t C : {3, 40, 3000}) {
    for (const int64_t bad : {int64_t{-1}, C}) {
      CAPTURE(C);
      CAPTURE(bad);
      const Tensor target = tensor({int64_t{2}, bad, int64_t{-100}}).to(gpu());
      const Tensor g = ones({3}, gpu());
      Tensor x = zeros({3, C}, gpu());
      x.slice(0, 1).fill_(kInfinity);  // these rows must not be read
      x.select(0, 0)[0].fill_(-kInfinity);
      const auto check_report = [&](const std::string& op) {
        CHECK(reported() == op + ": expected a target in [0, " + std::to_string(C) + "), got " +
                                std::to_string(bad));
      };
      Tensor y = full({3}, 7.0, gpu()), weight_sum = full({}, 7.0, gpu());
      Tensor dx = full({3, C}, 7.0, gpu());
      kernels::nll_loss(y, weight_sum, x, target, Tensor(), -100);
      check_report("nll_loss");
      CHECK(y.cpu().equal(zeros({3})));
      CHECK(weight_sum.item<float>() == 1);
      kernels::cross_entropy(y, weight_sum, x, target, Tensor(), -100);
      check_report("cross_entropy");
      const double log_classes = std::log(static_cast<double>(C - 1));
      // One rounding of a number of at most 16 has an error of 2^-21.
      CHECK(std::abs(y[0].item<double>() - log_classes) <= 0x1p-21);
      CHECK(y.slice(0, 1).cpu().equal(zeros({2})));
      CHECK(weight_sum.item<float>() == 1);
      kernels::cross_entropy_grad(dx, g, x, target, Tensor(), -100);
      check_report("cross_entropy_grad");
      CHECK(dx[0][0].item<float>() == 0);
      CHECK(dx[0][1].item<float>() == static_cast<float>(1.0 / static_cast<double>(C - 1)));
      CHECK(dx.slice(0, 1).cpu().equal(zeros({2, C})));
    }
  }
}
