// Autocast: the limits of a region, the lifetime of cached casts, libtorch's functions, errors.
#include <ambit/ambit.h>
#include <ambit/detail/autocast.h>
#include <doctest/doctest.h>

#include <string>
#include <thread>

using namespace ambit;

namespace {

constexpr DType kLow = kBFloat16;

Tensor matrix() { return linspace(0.1, 0.9, 16).view({4, 4}).clone(); }  // no view

}  // namespace

TEST_CASE("a region applies to one kind of devices and one thread, and ends with its guard") {
  const Tensor a = matrix();
  const Tensor on_reference = a.to(Device("reference"));
  CHECK(mm(a, a).dtype() == kFloat32);
  {
    const AutocastGuard guard(kCPU, kLow);
    CHECK(mm(a, a).dtype() == kLow);
    CHECK(mm(on_reference, on_reference).dtype() == kFloat32);
    DType elsewhere = kLow;
    std::thread([&] { elsewhere = mm(a, a).dtype(); }).join();
    CHECK(elsewhere == kFloat32);
    {
      const AutocastGuard both("reference", kFloat16);
      CHECK(mm(on_reference, on_reference).dtype() == kFloat16);
      CHECK(mm(a, a).dtype() == kLow);
      const AutocastGuard off(kCPU, false);
      CHECK(mm(a, a).dtype() == kFloat32);
      CHECK(mm(on_reference, on_reference).dtype() == kFloat16);
      const AutocastGuard on_again(kCPU, kFloat16);
      CHECK(mm(a, a).dtype() == kFloat16);
    }
    CHECK(mm(a, a).dtype() == kLow);
    CHECK(mm(on_reference, on_reference).dtype() == kFloat32);
  }
  CHECK(mm(a, a).dtype() == kFloat32);
  CHECK_FALSE(autocast::is_active());
  try {
    const AutocastGuard guard(kCPU, kLow);
    static_cast<void>(mm(a, ones({3, 3})));
  } catch (const ShapeError&) {
  }
  CHECK_FALSE(autocast::is_active());
  CHECK_THROWS_AS(AutocastGuard(kCPU, kFloat32), DTypeError);
  CHECK_FALSE(autocast::is_active());
}

TEST_CASE("casts of parameters are cached until the outermost guard ends or they are written") {
  const Tensor w = matrix().requires_grad_();
  const Tensor x = matrix();
  Tensor kept;
  {
    const AutocastGuard guard(kCPU, kLow);
    kept = autocast::to_lower_precision(w);
    CHECK(kept.dtype() == kLow);
    CHECK(autocast::to_lower_precision(w).is_same(kept));
    {
      const AutocastGuard inner(kCPU, kLow);
      CHECK(autocast::to_lower_precision(w).is_same(kept));
      const AutocastGuard half(kCPU, kFloat16);
      CHECK(autocast::to_lower_precision(w).dtype() == kFloat16);
    }
    const Tensor again = autocast::to_lower_precision(w);
    CHECK(again.dtype() == kLow);
    CHECK_FALSE(autocast::to_lower_precision(x).is_same(
        autocast::to_lower_precision(x)));  // not a parameter
    {
      const NoGradGuard no_grad;
      w.add_(1);
    }
    const Tensor anew = autocast::to_lower_precision(w);
    CHECK_FALSE(anew.is_same(again));
    CHECK(equal(anew, w.detach().to(kLow)));
    w.set_data(zeros({4, 4}));
    CHECK(autocast::to_lower_precision(w).sum().item<float>() == 0);
    const AutocastGuard uncached(kCPU, kLow, true, /*cache_enabled=*/false);
    CHECK_FALSE(autocast::to_lower_precision(w).is_same(autocast::to_lower_precision(w)));
  }
  CHECK(kept.use_count() == 1);  // the cache has no reference
  const size_t holders = w.use_count();
  {
    const AutocastGuard guard(kCPU, kLow);
    static_cast<void>(mm(w, w));
    CHECK(w.use_count() > holders);
    autocast::clear_cache();
    CHECK(w.use_count() == holders);
  }
}

TEST_CASE("a cast that was made without gradients is not reused for one with gradients") {
  const Tensor w = matrix().requires_grad_();
  const AutocastGuard guard(kCPU, kLow);
  {
    const NoGradGuard no_grad;
    CHECK_FALSE(mm(w, w).requires_grad());
  }
  mm(w, w).sum().backward();
  CHECK(w.grad().defined());
}

TEST_CASE("backward within a region runs in the dtype of the forward, also twice") {
  const Tensor x = matrix().requires_grad_();
  const auto gradient = [&](bool inside) {
    x.mutable_grad().reset();
    const AutocastGuard guard(kCPU, kLow);
    const Tensor y = layer_norm(exp(mm(x, x)), {4}).square().sum();
    const AutocastGuard maybe_off(kCPU, inside);
    const Tensor g = autograd::grad({y}, {x}, {}, {}, /*create_graph=*/true)[0];
    CHECK(g.dtype() == kFloat32);
    g.sum().backward();
    return x.grad().clone();
  };
  CHECK(equal(gradient(true), gradient(false)));
}

TEST_CASE("libtorch's autocast functions") {
  CHECK_FALSE(autocast::is_cpu_enabled());
  CHECK(autocast::get_autocast_cpu_dtype() == kBFloat16);
  CHECK(autocast::get_autocast_gpu_dtype() == kFloat16);
  autocast::set_cpu_enabled(true);
  autocast::set_autocast_cpu_dtype(kFloat16);
  CHECK(autocast::increment_nesting() == 1);
  const Tensor a = matrix();
  CHECK(mm(a, a).dtype() == kFloat16);
  CHECK(autocast::cached_cast(kBFloat16, a, kCPU).dtype() == kBFloat16);
  CHECK(autocast::cached_cast(kBFloat16, ones({2}, kInt64), kCPU).dtype() == kInt64);
  CHECK(autocast::prioritize(kFloat16, a.to(kBFloat16), kCPU) == kFloat32);
  CHECK(autocast::decrement_nesting() == 0);
  autocast::clear_cache();
  autocast::set_autocast_cpu_dtype(kBFloat16);
  autocast::set_cpu_enabled(false);
  CHECK(mm(a, a).dtype() == kFloat32);
  autocast::set_enabled(true);  // allowed without a cuda device
  CHECK(autocast::is_enabled());
  autocast::set_enabled(false);
  CHECK_FALSE(autocast::is_enabled());
}

TEST_CASE("errors name the parameter of a cast") {
  nn::Sequential net(nn::Linear(4, 3));
  const AutocastGuard guard(kCPU, kLow);
  std::string text;
  try {
    net->forward(ones({2, 5}));
  } catch (const ShapeError& e) {
    text = e.what();
  }
  CHECK(text.find("expected input of shape [..., 4]") != std::string::npos);
  CHECK(text.find("0.weight") != std::string::npos);
}
