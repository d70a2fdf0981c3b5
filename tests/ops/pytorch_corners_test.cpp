// Unexpected behaviour of PyTorch's API that ambit has, too: of 1.13, or of 2.15 where a comment
// says so.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "tests/devices.h"

using namespace ambit;

TEST_CASE("any and all of uint8 are uint8, 0 or 1") {
  for_each_device([](Device device) {
    const Tensor t = tensor({{3, 0}, {2, 255}}).to(device, kUInt8);
    for (const Tensor& truth : {any(t), all(t), any(t, 1), all(t, 0, true), t.any(), t.all(1)}) {
      CHECK(truth.dtype() == kUInt8);
    }
    CHECK(any(t).cpu().equal(tensor(1).to(kUInt8)));
    CHECK(all(t).cpu().equal(tensor(0).to(kUInt8)));
    CHECK(all(t, 1).cpu().equal(tensor({0, 1}).to(kUInt8)));
    CHECK(all(zeros({0}, TensorOptions(kUInt8).device(device))).cpu().equal(tensor(1).to(kUInt8)));
    CHECK(any(t.to(kInt8)).dtype() == kBool);
    CHECK(any(t == 3).dtype() == kBool);
  });
}

TEST_CASE(
    "arange of fractions in an integer dtype has PyTorch's count, and truncates start and step") {
  const auto check = [](double start, double end, double step, DType dtype,
                        const std::vector<int64_t>& right) {
    CAPTURE(start);
    CAPTURE(end);
    CAPTURE(step);
    const Tensor t = arange(start, end, step, dtype);
    CHECK(t.dtype() == dtype);
    CHECK(t.equal(tensor(right).to(dtype)));
  };
  // PyTorch 2.15: torch.arange(start, end, step, dtype=dtype)
  check(0, 1.5, 1, kInt64, {0, 1});
  check(0.7, 5, 1, kInt64, {0, 1, 2, 3, 4});
  check(0, 5, 1.9, kInt64, {0, 1, 2});
  check(0, 5, 1.9, kInt32, {0, 1, 2});
  check(0.5, 3.5, 1, kInt64, {0, 1, 2});
  check(-0.5, 3.5, 1.5, kInt32, {0, 1, 2});
  check(0, 4.9, 2, kInt64, {0, 2, 4});
  check(0, 4.9, 2, kUInt8, {0, 2, 4});
  check(0, 5.1, 1, kInt64, {0, 1, 2, 3, 4, 5});
  check(0, 5.1, 1, kInt32, {0, 1, 2, 3, 4, 5});
  check(5, 0.5, -1.5, kInt64, {5, 4, 3});
  check(5, 0.5, -1.5, kInt32, {5, 4, 3});
  for (const DType dtype : {kInt64, kInt32, kUInt8}) {
    check(0, 2.5, 0.5, dtype, {0, 0, 0, 0, 0});
    check(2.5, 0, -0.5, dtype, {2, 2, 2, 2, 2});
  }
  CHECK(arange(1.5, kInt64).equal(tensor({0, 1})));
  CHECK_THROWS_AS(arange(-1.5, kInt64), Error);
  CHECK_THROWS_AS(arange(0, 1e30, 1, kInt64), Error);
}

TEST_CASE("mse_loss broadcasts and promotes, and so do its gradients") {
  for_each_device([](Device device) {
    Tensor a = tensor({{1.0, 2.0, 3.0}}).to(device, kFloat32).requires_grad_();
    Tensor b = tensor({{0.5}, {2.0}}).to(device, kFloat64).requires_grad_();
    // F.mse_loss(a, b, reduction="none")
    const Tensor each = tensor({{0.25, 2.25, 6.25}, {1.0, 0.0, 1.0}}).to(kFloat64);
    CHECK(mse_loss(a, b, Reduction::none).cpu().equal(each));
    const Tensor loss = mse_loss(a, b, Reduction::sum);
    CHECK(loss.item<double>() == 10.75);
    loss.backward();
    CHECK(a.grad().cpu().equal(tensor({{-1.0, 3.0, 7.0}}).to(kFloat32)));  // 2 sum(a - b)
    CHECK(b.grad().cpu().equal(tensor({{-9.0}, {0.0}}).to(kFloat64)));     // -2 sum(a - b)
  });
  // F.mse_loss(torch.tensor([1.5, 2.]), torch.tensor([1, 4]))
  CHECK(mse_loss(tensor({1.5, 2.0}), tensor({1, 4})).item<double>() == 2.125);
  CHECK(mse_loss(tensor({1, 4}), tensor({1.5, 2.0})).item<double>() == 2.125);
  CHECK_THROWS_AS(mse_loss(ones({3}), ones({2})), ShapeError);
  CHECK_THROWS_AS(mse_loss(ones({3}, kInt64), ones({3}, kInt64)), DTypeError);
}

TEST_CASE("a class weight that requires grad is refused where its gradient would be lost") {
  for_each_device([](Device device) {
    Tensor weight = tensor({0.2, 0.3, 0.5}).to(device, kFloat32).requires_grad_();
    const Tensor x = tensor({{0.1, 0.2, 0.3}, {1.0, 0.0, -1.0}}).to(device, kFloat32);
    const Tensor classes = tensor({0, 2}).to(device);
    CHECK_THROWS_AS(nll_loss(x, classes, weight), AutogradError);
    CHECK_THROWS_AS(cross_entropy(x, classes, weight), AutogradError);
    CHECK_THROWS_AS(cross_entropy(x, classes, weight, Reduction::mean, -100, 0.1), AutogradError);
    {
      const NoGradGuard no_grad;
      CHECK_NOTHROW(cross_entropy(x, classes, weight));
    }
    CHECK_NOTHROW(cross_entropy(x, classes, weight.detach()));
    // For probabilities the loss is sum(weight * -p * log_softmax(x)) / N.
    const Tensor p = softmax(x * 2, 1);
    cross_entropy(x, p, weight).backward();
    const Tensor right = (neg(log_softmax(x, 1)) * p).sum(0) / 2;
    CHECK(weight.grad().cpu().allclose(right.cpu()));  // rtol 1e-5: two float32 sums of two
  });
}

TEST_CASE("in-place Dropout does not change its input in evaluation") {
  Tensor leaf = ones({3}).requires_grad_();
  const Tensor data = ones({3});
  nn::Dropout drop(nn::DropoutOptions(0.5).inplace(true));
  drop->eval();
  const uint32_t version = data.version();
  CHECK(drop(data).is_same(data));
  CHECK(data.version() == version);
  CHECK(drop(leaf).is_same(leaf));  // a leaf that requires grad may not be written to
  CHECK(nn::functional::dropout(data, 0.5, /*training=*/false, /*inplace=*/true).is_same(data));
  CHECK_THROWS_AS(nn::functional::dropout(data, 2, false, true), Error);
  drop->train();
  CHECK(drop(data).is_same(data));
  CHECK(data.version() > version);
}

TEST_CASE("a position outside of an OrderedDict is an IndexError") {
  OrderedDict<std::string, int> dict{{"a", 1}, {"b", 2}};
  const auto& constant = dict;
  CHECK(dict[size_t{1}].value() == 2);
  CHECK_THROWS_WITH_AS(dict[size_t{2}], "OrderedDict: expected a position below its size 2, got 2",
                       IndexError);
  CHECK_THROWS_AS(constant[SIZE_MAX], IndexError);
}

TEST_CASE("relu, clamp, maximum and minimum return the first of two zeros") {
  for_each_device([](Device device) {
    for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
      for (const int64_t n : {1, 7, 100}) {  // vectorised loops
        INFO(name(dtype), " of ", n);
        const Tensor minus = full({n}, -0.0, TensorOptions(dtype).device(device)),
                     plus = abs(minus);
        const auto is_minus = [](const Tensor& x) { return all(signbit(x)).item<bool>(); };
        const auto is_plus = [](const Tensor& x) { return !any(signbit(x)).item<bool>(); };
        // torch.signbit(torch.full((n,), -0.).relu()), as the others
        CHECK(is_minus(relu(minus)));
        CHECK(is_plus(relu(plus)));
        CHECK(is_minus(relu(full({2 * n}, -0.0, minus.options()).slice(0, 0, 2 * n, 2))));
        for (const double zero : {-0.0, 0.0}) {
          CHECK(is_minus(clamp(minus, zero, 1)));
          CHECK(is_minus(clamp(minus, -1, zero)));
          CHECK(is_minus(clamp(minus, zero, zero)));
          CHECK(is_plus(clamp(plus, zero, zero)));
        }
        CHECK(is_minus(clamp(minus, plus, plus)));
        CHECK(is_minus(maximum(minus, plus)));
        CHECK(is_plus(maximum(plus, minus)));
        CHECK(is_minus(minimum(minus, plus)));
        CHECK(is_plus(minimum(plus, minus)));
        CHECK(is_minus(nn::functional::hardtanh(minus, -1, 0)));
        CHECK(is_plus(nn::functional::threshold(minus, 0, 0)));
      }
    }
  });
}
