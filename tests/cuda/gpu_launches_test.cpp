// The number of kernels that a call launches, each of which costs some microseconds: one if
// possible. Without a GPU these cases are skipped with a note.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/cuda_counters.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "has_gpu.h"

using namespace ambit;

namespace {

template <class F>
uint64_t launches(const F& work) {
  const uint64_t before = cuda::counters().launches;
  work();
  return cuda::counters().launches - before;
}

}  // namespace

TEST_CASE("gpu: a number with a tensor is an argument of the launch, not another launch") {
  if (!has_gpu()) return;
  const Tensor x = ones({4, 3}, Device("cuda"));
  CHECK(launches([&] { x * 2; }) == 1);
  CHECK(launches([&] { 2 / x; }) == 1);
  CHECK(launches([&] { 1 - x; }) == 1);
  CHECK(launches([&] { x > 0.5; }) == 1);
  CHECK(launches([&] { x.clamp(0, 1); }) == 1);
  CHECK(launches([&] { x.add_(x, 3); }) == 1);
  CHECK(launches([&] { x.mean(); }) == 1);
  CHECK(((1 - x * 2).clamp(-4) - x).mean().item<float>() == -8);
}

TEST_CASE("gpu: activations, losses, variances and gradients of maps are one launch each") {
  if (!has_gpu()) return;
  namespace F = nn::functional;
  for (const DType dtype : {kFloat32, kBFloat16}) {
    CAPTURE(std::string(name(dtype)));
    const Tensor x = randn({2, 3}, Device("cuda")).to(dtype).requires_grad_();
    const Tensor other = x.detach() + 1, g = ones_like(other);
    const auto once = [&](const char* what, const auto& f) {
      CAPTURE(what);
      Tensor y;
      CHECK(launches([&] { y = f(x); }) == 1);
      CHECK(launches([&] { autograd::grad({y}, {x}, {g}); }) == 1);
    };
    once("silu", [](const Tensor& t) { return F::silu(t); });
    once("mish", [](const Tensor& t) { return F::mish(t); });
    once("selu", [](const Tensor& t) { return F::selu(t); });
    once("logsigmoid", [](const Tensor& t) { return F::logsigmoid(t); });
    once("hardsigmoid", [](const Tensor& t) { return F::hardsigmoid(t); });
    once("hardswish", [](const Tensor& t) { return F::hardswish(t); });
    once("elu", [](const Tensor& t) { return F::elu(t, 0.5); });
    once("celu", [](const Tensor& t) { return F::celu(t, 0.5); });
    once("leaky_relu", [](const Tensor& t) { return F::leaky_relu(t); });
    once("softplus", [](const Tensor& t) { return F::softplus(t); });
    once("hardtanh", [](const Tensor& t) { return F::hardtanh(t); });
    once("relu6", [](const Tensor& t) { return F::relu6(t); });
    once("clamp", [](const Tensor& t) { return t.clamp(-0.5, 0.5); });
    once("clamp_min", [](const Tensor& t) { return t.clamp_min(0); });
    once("prelu", [&](const Tensor& t) { return F::prelu(t, other[0][0].view({1})); });
    once("maximum", [&](const Tensor& t) { return maximum(t, other); });
    once("pow", [&](const Tensor& t) { return pow(t, other); });
    once("exponent", [&](const Tensor& t) { return pow(other, t); });
    once("logaddexp", [&](const Tensor& t) { return logaddexp(t, other); });
    const Tensor constant = x.detach();
    CHECK(launches([&] { constant.var(); }) == 1);
    CHECK(launches([&] { constant.std(1); }) == 1);
    CHECK(launches([&] { constant.var(IntArrayRef{0}, false); }) == 1);
  }
  const Tensor x = randn({2, 3}, Device("cuda")).requires_grad_(), t = rand({2, 3}, x.device());
  Tensor y;
  CHECK(launches([&] { y = F::binary_cross_entropy_with_logits(x, t); }) ==
        2);  // another launch computes the mean
  y = F::binary_cross_entropy_with_logits(x, t, {}, Reduction::none);
  CHECK(launches([&] { autograd::grad({y}, {x}, {t}); }) == 1);
  y = F::smooth_l1_loss(x, t, Reduction::none);
  CHECK(launches([&] { autograd::grad({y}, {x}, {t}); }) == 1);
}

TEST_CASE("gpu: gradients of functions that are rare in networks are one launch each, too") {
  if (!has_gpu()) return;
  namespace F = nn::functional;
  for (const DType dtype : {kFloat32, kBFloat16}) {
    CAPTURE(std::string(name(dtype)));
    const Tensor g = ones({2, 4}, TensorOptions(dtype).device("cuda"));
    // Operands are in (0.3, 0.7), where all functions are defined, including the gradient of acosh.
    const Tensor x = (g * 0.3 + rand({2, 4}, g.options()) * 0.4).requires_grad_();
    const Tensor other = x.detach() + 1;
    const auto once = [&](const char* what, const auto& f) {
      CAPTURE(what);
      const Tensor y = f(x);
      CHECK(launches([&] { autograd::grad({y}, {x}, {g}); }) == 1);
    };
#define AMBIT_ONCE(f) once(#f, [](const Tensor& t) { return f(t); });
    AMBIT_ONCE(abs)
    AMBIT_ONCE(square)
    AMBIT_ONCE(reciprocal)
    AMBIT_ONCE(exp)
    AMBIT_ONCE(exp2)
    AMBIT_ONCE(expm1)
    AMBIT_ONCE(log)
    AMBIT_ONCE(log1p)
    AMBIT_ONCE(log2)
    AMBIT_ONCE(log10)
    AMBIT_ONCE(sqrt)
    AMBIT_ONCE(rsqrt)
    AMBIT_ONCE(sin)
    AMBIT_ONCE(cos)
    AMBIT_ONCE(tan)
    AMBIT_ONCE(asin)
    AMBIT_ONCE(acos)
    AMBIT_ONCE(atan)
    AMBIT_ONCE(sinh)
    AMBIT_ONCE(cosh)
    AMBIT_ONCE(asinh)
    AMBIT_ONCE(acosh)
    AMBIT_ONCE(atanh)
    AMBIT_ONCE(erf)
    AMBIT_ONCE(erfc)
    AMBIT_ONCE(erfinv)
    AMBIT_ONCE(lgamma)
    AMBIT_ONCE(i0)
    AMBIT_ONCE(F::softsign)
    AMBIT_ONCE(F::softshrink)
    AMBIT_ONCE(F::hardshrink)
#undef AMBIT_ONCE
    once("square by a power", [](const Tensor& t) { return t.pow(2); });
    once("cube", [](const Tensor& t) { return t.pow(3); });
    once("power", [](const Tensor& t) { return t.pow(-1.3); });
    once("divisor", [](const Tensor& t) { return 2 / t; });
    once("divisor of a tensor", [&](const Tensor& t) { return other / t; });
    once("dividend", [&](const Tensor& t) { return t / other; });
    once("hypot", [&](const Tensor& t) { return hypot(t, other); });
    once("atan2", [&](const Tensor& t) { return atan2(t, other); });
    once("atan2, x", [&](const Tensor& t) { return atan2(other, t); });
    // glu's gradient is a composite of two functions, one for each half.
    const Tensor halves = F::glu(x, 1), of_halves = ones_like(halves);
    CHECK(launches([&] { autograd::grad({halves}, {x}, {of_halves}); }) == 2);
  }
}

TEST_CASE("gpu: gradients of losses are one launch, plus one for the mean") {
  if (!has_gpu()) return;
  namespace F = nn::functional;
  const Tensor x = rand({2, 3}, Device("cuda")).requires_grad_(), t = rand({2, 3}, x.device());
  const auto check = [&](const char* what, const auto& f) {
    CAPTURE(what);
    Tensor loss = f(Reduction::none);
    CHECK(launches([&] { autograd::grad({loss}, {x}, {t}); }) == 1);
    loss = f(Reduction::mean);
    CHECK(launches([&] { autograd::grad({loss}, {x}, {t[0][0]}); }) == 2);
  };
  check("l1", [&](Reduction r) { return F::l1_loss(x, t, r); });
  check("mse", [&](Reduction r) { return mse_loss(x, t, r); });
  check("smooth_l1", [&](Reduction r) { return F::smooth_l1_loss(x, t, r); });
  check("kl_div", [&](Reduction r) { return F::kl_div(x, t, r); });
  check("kl_div of logarithms", [&](Reduction r) { return F::kl_div(x, t, r, true); });
  check("binary_cross_entropy", [&](Reduction r) { return F::binary_cross_entropy(x, t, {}, r); });
  // tanhshrink cancels, so it is computed in float32, and the same launch converts x.
  const Tensor y = F::tanhshrink(x);
  CHECK(launches([&] { autograd::grad({y}, {x}, {t}); }) == 1);
}

TEST_CASE("gpu: gradients of scans and moments launch one kernel per pass") {
  if (!has_gpu()) return;
  const Tensor x = randn({3, 40}, Device("cuda")).requires_grad_(), g = ones({3}, x.device());
  const auto of_gradient = [&](const Tensor& y, const Tensor& dy) {
    return launches([&] { autograd::grad({y}, {x}, {dy}); });
  };
  CHECK(of_gradient(x.cumsum(1), x.detach()) == 1);
  // Two kernels compute the products from both sides, one multiplies them, one multiplies by g, and
  // 16 search for zeros next to overflowed products.
  CHECK(of_gradient(x.prod(1), g) == 20);
  CHECK(of_gradient(x.prod(), g[0]) == 20);
  CHECK(of_gradient(x.var(1), g) == 4);  // mean, x - mean, g / n, and their product
  CHECK(of_gradient(x.std(1), g) == 6);  // in addition the quotient by std, and 0 for std 0
}

TEST_CASE("gpu: ops on float16 and bfloat16 are one launch, without float32 tensors") {
  if (!has_gpu()) return;
  for (const DType dtype : dtypes::kReducedFloating) {
    const Tensor x = ones({2, 3, 4, 4}, TensorOptions(dtype).device("cuda"));
    CHECK(launches([&] { x.exp(); }) == 1);
    CHECK(launches([&] { x + x; }) == 1);
    CHECK(launches([&] { 1 - x; }) == 1);
    CHECK(launches([&] { x > 0.5; }) == 1);
    CHECK(launches([&] { x.clamp(0, 1); }) == 1);
    CHECK(launches([&] { x.fill_(2); }) == 1);
    CHECK(launches([&] { x.mean(); }) == 1);
    CHECK(launches([&] { x.softmax(3); }) == 1);
    CHECK(launches([&] { avg_pool2d(x, 2); }) == 1);
    CHECK(launches([&] { max_pool2d(x, 2); }) == 1);
    CHECK(((1 - x * 2).clamp(-4) - x).mean().item<float>() == -5);
  }
}

TEST_CASE(
    "gpu: layers and optimizers of float16 or bfloat16 with float32 statistics are one launch") {
  if (!has_gpu()) return;
  for (const DType dtype : dtypes::kReducedFloating) {
    const auto make = [&](IntArrayRef sizes) {
      return ones(sizes, TensorOptions(dtype).device("cuda"));
    };
    const Tensor x = make({2, 3, 4, 4}), w = make({4});
    CHECK(launches([&] { layer_norm(x, {4}, w, w); }) == 1);
    CHECK(launches([&] { group_norm(x, 3); }) == 1);
    CHECK(launches([&] { scaled_dot_product_attention(x, x, x); }) == 1);
    const Tensor logits = make({2, 10}), target = zeros({2}, TensorOptions(kInt64).device("cuda"));
    Tensor loss = empty({2}, Device("cuda")), weight_sum = empty({}, Device("cuda"));
    CHECK(launches([&] { kernels::nll_loss(loss, weight_sum, logits, target, {}, -1); }) == 1);
    CHECK(launches([&] { kernels::cross_entropy(loss, weight_sum, logits, target, {}, -1); }) == 1);
    Tensor dx = make({2, 10});
    CHECK(launches([&] { kernels::cross_entropy_grad(dx, loss, logits, target, {}, -1); }) == 1);
    const Tensor bytes = ones({5, 10}, TensorOptions(kInt8).device("cuda"));
    const Tensor scale = ones({5}, Device("cuda"));
    CHECK(launches([&] { linear_int8(logits, bytes, scale); }) == 1);
    Tensor h = make({2, 10}), c = make({2, 10}), gates = make({2, 40});
    const Tensor three = make({2, 30}), four = make({2, 40});
    CHECK(launches([&] { kernels::lstm_cell(h, c, gates, four, four, logits); }) == 1);
    CHECK(launches([&] { kernels::gru_cell(h, gates, three, three, logits); }) == 1);
    CHECK(launches([&] { kernels::sgd_step({h}, {c}, {dx}, {.momentum = 0.9}); }) == 1);
    CHECK(launches([&] { kernels::adam_step({h}, {c}, {logits}, {nullptr, 0}, {dx}, {}); }) == 1);
    Tensor found = zeros({}, Device("cuda"));
    CHECK(launches([&] { kernels::unscale({dx, h, c}, found, 0.5); }) == 1);
  }
}
