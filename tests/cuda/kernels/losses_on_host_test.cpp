// Kernels of the CUDA backend, run on the host by device.h, against the reference: losses of
// classes.
#include "on_host.h"

using namespace ambit;
using namespace on_host;

TEST_CASE("losses of classes and their gradient, with weights and ignored rows") {
  manual_seed(7);
  for (const Dims& sizes : std::vector<Dims>{
           {4, 10}, {0, 10}, {0, 40}, {5, 1}, {37, 16}, {37, 17}, {3, 2100}, {2500, 3}}) {
    const int64_t N = sizes[0], C = sizes[1];
    const Tensor target = randint(0, C, {N}, TensorOptions(kInt64));
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
