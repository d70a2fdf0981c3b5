// GradScaler, whose order of operations is that of PyTorch's torch.cuda.amp.GradScaler.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/devices.h"

using namespace ambit;
using optim::GradScalerOptions;
using optim::SGD;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// A parameter [2] whose gradient is `g` times the scale, in each element.
struct One {
  Tensor p;
  SGD sgd;
  explicit One(Device device = {})
      : p(zeros({2}, TensorOptions(kFloat32).device(device)).requires_grad_()), sgd({p}, 1.0) {}
  void backward(GradScaler& scaler, double g) {
    sgd.zero_grad();
    scaler.scale((p * g).sum()).backward();
  }
  float value() const { return p[0].item<float>(); }
  float grad() const { return p.grad()[0].item<float>(); }
};

template <class F>
void check_error(F&& call, const std::string& text) {
  std::string what;
  try {
    call();
  } catch (const Error& e) {
    what = e.what();
  }
  CHECK_MESSAGE(what.find(text) != std::string::npos, "got \"", what, "\", expected ", text);
}

}  // namespace

TEST_CASE("a step divides the gradients by the scale") {
  for_each_device([](Device device) {
    One one(device);
    GradScaler scaler(GradScalerOptions().init_scale(8));
    one.backward(scaler, 0.5);
    CHECK(one.grad() == 4);
    CHECK(scaler.step(one.sgd));
    CHECK(one.grad() == 0.5);
    CHECK(one.value() == -0.5);
    scaler.update();
    CHECK(scaler.get_scale() == 8);
  });
}

TEST_CASE("infinite or NaN gradients skip the step and lower the scale") {
  for_each_device([](Device device) {
    for (const double bad : {kInf, -kInf, std::nan("")}) {
      One one(device);
      GradScaler scaler(GradScalerOptions().init_scale(8).backoff_factor(0.25));
      one.backward(scaler, 1);
      one.p.mutable_grad()[1] = bad;
      CHECK_FALSE(scaler.step(one.sgd));
      CHECK(one.value() == 0);
      scaler.update();
      CHECK(scaler.get_scale() == 2);
      one.backward(scaler, 1);
      CHECK(scaler.step(one.sgd));
      CHECK(one.value() == -1);
    }
  });
}

TEST_CASE("gradients of several dtypes, of any strides and without elements are divided") {
  for_each_device([](Device device) {
    const auto parameter = [&](IntArrayRef sizes, DType dtype) {
      return ones(sizes, TensorOptions(dtype).device(device)).requires_grad_();
    };
    const std::vector<Tensor> all{parameter({2, 3}, kFloat32), parameter({3}, kFloat64),
                                  parameter({0}, kFloat32), parameter({3}, kBFloat16),
                                  parameter({3}, kFloat32)};
    SGD sgd(all, 1.0);
    for (const double bad : {1.0, kInf}) {
      GradScaler scaler(GradScalerOptions().init_scale(8));
      static_cast<void>(scaler.scale(ones({})));
      for (Tensor p : all) p.mutable_grad() = full_like(p, 4);
      Tensor strided = full({3, 2}, 4, TensorOptions(kFloat32).device(device)).t();
      all[0].mutable_grad() = strided;
      all[3].grad()[1].fill_(bad);
      const uint32_t version = strided._version();
      scaler.unscale_(sgd);
      for (const size_t i : {0, 1, 2, 4}) CHECK(all[i].grad().eq(0.5).all().item<bool>());
      CHECK(all[0].grad().is_same(strided));
      CHECK(strided._version() > version);
      CHECK(all[3].grad()[0].item<float>() == 0.5);
      CHECK(scaler.step(sgd) == std::isfinite(bad));
    }
  });
}

TEST_CASE("the scale grows after growth_interval steps without overflow, and not beyond float32") {
  One one;
  GradScaler scaler(GradScalerOptions().init_scale(4).growth_interval(3));
  const auto run = [&](double g) {
    one.backward(scaler, g);
    const bool stepped = scaler.step(one.sgd);
    scaler.update();
    return stepped;
  };
  std::vector<double> scales;
  for (const double g : {1., 1., 1., 1., 1., kInf, 1., 1., 1.}) {
    CHECK(run(g) == std::isfinite(g));
    scales.push_back(scaler.get_scale());
  }
  // torch.cuda.amp.GradScaler(init_scale=4, growth_interval=3), by _amp_update_scale_
  CHECK(scales == std::vector<double>{4, 4, 8, 8, 8, 4, 4, 4, 8});

  const double most = 0x1p127;
  GradScaler large(GradScalerOptions().init_scale(most).growth_interval(1));
  One other;
  other.backward(large, 1e-30);
  large.step(other.sgd);
  large.update();
  CHECK(large.get_scale() == most);
}

TEST_CASE("unscale_ is called once, before the step, so that gradients can be clipped in between") {
  One one;
  GradScaler scaler;
  CHECK(scaler.get_scale() == 65536);
  one.backward(scaler, 3);
  scaler.unscale_(one.sgd);
  CHECK(one.grad() == 3);
  check_error([&] { scaler.unscale_(one.sgd); }, "expected one unscale_()");
  CHECK(one.grad() == 3);
  nn::utils::clip_grad_value_({one.p}, 1);
  CHECK(scaler.step(one.sgd));
  CHECK(one.value() == -1);
  check_error([&] { scaler.step(one.sgd); }, "expected one step()");
  check_error([&] { scaler.unscale_(one.sgd); }, "expected unscale_() before step(), got it after");
  CHECK(one.value() == -1);
  scaler.update();
  one.backward(scaler, 1);
  CHECK(scaler.step(one.sgd));
}

TEST_CASE(
    "an optimizer is distinguished from an earlier one at its address, and found after a move") {
  // PyTorch 2.15 identifies optimizers by id(), which a new one may get again.
  const Tensor p = zeros({2}).requires_grad_();
  GradScaler scaler(GradScalerOptions().init_scale(4));
  std::optional<SGD> sgd;
  for (const float expected : {-1.f, -2.f}) {  // both without update()
    sgd.emplace(std::vector{p}, 1.0);
    sgd->zero_grad();
    scaler.scale(p.sum()).backward();
    scaler.unscale_(*sgd);
    CHECK(p.grad()[0].item<float>() == 1);
    SGD moved = std::move(*sgd);
    check_error([&] { scaler.unscale_(moved); }, "expected one unscale_()");
    CHECK(scaler.step(moved));
    CHECK(p[0].item<float>() == expected);
    check_error([&] { scaler.step(moved); }, "expected one step()");
  }
  const SGD one({p}, 1.0), two({p}, 1.0);
  CHECK(one.id() != two.id());
}

TEST_CASE("an overflow in an optimizer that was destroyed lowers the scale") {
  GradScaler scaler(GradScalerOptions().init_scale(4));
  {
    One bad;
    bad.backward(scaler, kInf);
    CHECK_FALSE(scaler.step(bad.sgd));
  }
  One good;
  good.backward(scaler, 1);
  CHECK(scaler.step(good.sgd));
  scaler.update();
  CHECK(scaler.get_scale() == 2);
}

TEST_CASE("one of several optimizers may skip its step; they share the scale") {
  One good, bad;
  GradScaler scaler(GradScalerOptions().init_scale(4));
  good.backward(scaler, 1);
  bad.backward(scaler, kInf);
  CHECK(scaler.step(good.sgd));
  CHECK_FALSE(scaler.step(bad.sgd));
  CHECK(good.value() == -1);
  CHECK(bad.value() == 0);
  scaler.update();
  CHECK(scaler.get_scale() == 2);
}

TEST_CASE("calls in the wrong order or without gradients are refused") {
  One one;
  GradScaler scaler;
  check_error([&] { scaler.unscale_(one.sgd); }, "expected scale() of a loss before unscale_()");
  check_error([&] { scaler.step(one.sgd); }, "before step()");
  check_error([&] { scaler.update(); }, "before update()");
  static_cast<void>(scaler.scale(ones({})));
  check_error([&] { scaler.update(); }, "expected unscale_() or step()");
  check_error([&] { scaler.step(one.sgd); }, "expected an optimizer with gradients");
  check_error([&] { scaler.scale(Tensor()); }, "expected a loss");
  using Options = GradScalerOptions;
  check_error([] { GradScaler(Options().growth_factor(1)); }, "growth_factor above 1");
  check_error([] { GradScaler(Options().backoff_factor(1)); }, "backoff_factor in (0, 1)");
  check_error([] { GradScaler(Options().backoff_factor(0)); }, "backoff_factor in (0, 1)");
  check_error([] { GradScaler(Options().growth_interval(0)); }, "growth_interval of at least 1");
  check_error([] { GradScaler(Options().init_scale(kInf)); }, "init_scale positive and finite");
  check_error([&] { scaler.set_growth_factor(0.5); }, "growth_factor above 1");
  CHECK(scaler.get_growth_factor() == 2);
  check_error([&] { scaler.update(-1.0); }, "a new scale positive and finite");
  scaler.update(16.0);
  CHECK(scaler.get_scale() == 16);
}

TEST_CASE("float16 gradients are refused, and none has changed") {
  const Tensor p = zeros({2}).requires_grad_(), half = zeros({2}, kFloat16).requires_grad_();
  SGD sgd({p, half}, 0.1);
  GradScaler scaler;
  scaler.scale(p.sum() + half.sum()).backward();
  CHECK_THROWS_AS(scaler.unscale_(sgd), DTypeError);
  CHECK(p.grad()[0].item<float>() == 65536);
}

TEST_CASE("a disabled scaler does not scale, but steps") {
  One one;
  GradScaler scaler(GradScalerOptions().enabled(false));
  CHECK(scaler.get_scale() == 1);
  one.backward(scaler, 1);
  CHECK(one.grad() == 1);
  scaler.unscale_(one.sgd);
  CHECK(scaler.step(one.sgd));
  scaler.update();
  CHECK(one.value() == -1);
  CHECK(scaler.checkpoint().entries().empty());
  check_error([&] { GradScaler().load_checkpoint(scaler.checkpoint()); }, "got an empty one");
}

TEST_CASE("checkpoints continue with the state, under PyTorch's names") {
  One one;
  GradScaler scaler(GradScalerOptions().init_scale(32).growth_interval(2));
  one.backward(scaler, 1);
  scaler.step(one.sgd);
  scaler.update();
  const Value saved = scaler.checkpoint();
  CHECK(saved["scale"].to_double() == 32);
  CHECK(saved["growth_factor"].to_double() == 2);
  CHECK(saved["backoff_factor"].to_double() == 0.5);
  CHECK(saved["growth_interval"].to_int() == 2);
  CHECK(saved["_growth_tracker"].to_int() == 1);
  GradScaler other;
  other.load_checkpoint(saved);
  CHECK(other.get_scale() == 32);
  one.backward(other, 1);
  other.step(one.sgd);
  other.update();
  CHECK(other.get_scale() == 64);
  const Value broken = Value::dict({{"scale", -1.0},
                                    {"growth_factor", 2.0},
                                    {"backoff_factor", 0.5},
                                    {"growth_interval", 2},
                                    {"_growth_tracker", 0}});
  check_error([&] { other.load_checkpoint(broken); }, "scale positive and finite");
  CHECK(other.get_scale() == 64);
}

TEST_CASE("float16 losses are scaled in float32") {
  GradScaler scaler;
  const Tensor loss = full({}, 8, kFloat16);  // times 65536 exceeds float16
  CHECK(scaler.scale(loss).dtype() == kFloat32);
  CHECK(scaler.scale(loss).item<double>() == 8 * 65536.0);
  CHECK(scaler.scale({loss, ones({}, kFloat64)})[1].dtype() == kFloat64);
}
