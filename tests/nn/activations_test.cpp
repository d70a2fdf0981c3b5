// Activations of nn::functional and their modules, compared with PyTorch 1.13.
#include <ambit/nn/nn.h>

#include <cmath>
#include <limits>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
namespace F = nn::functional;

namespace {

struct Activation {
  const char* name;
  std::function<Tensor(const Tensor&)> call;
  // For x = [-25, -2.5, -0.5, 0, 0.25, 1, 3.5, 25] in float64: y, and x.grad after
  // y.sum().backward().
  std::vector<double> values, gradients;
};

#define ROW(call, ...)                                          \
  {                                                             \
#call, [](const Tensor& x) { return F::call; }, __VA_ARGS__ \
  }
const std::vector<Activation>& activations() {
  static const std::vector<Activation> all{
      ROW(elu(x, 1.3), {-1.29999999998, -1.19328950179, -0.511510142374, 0, 0.25, 1, 3.5, 25},
          {1.80543270245e-11, 0.106710498211, 0.788489857626, 1.3, 1, 1, 1, 1}),
      ROW(selu(x),
          {-1.75809934082, -1.61378575887, -0.691758187803, 0, 0.262675246839, 1.05070098736,
           3.67745345574, 26.2675246839},
          {2.44163849547e-11, 0.144313581974, 1.06634115304, 1.75809934085, 1.05070098736,
           1.05070098736, 1.05070098736, 1.05070098736}),
      ROW(celu(x, 2), {-1.99999254669, -1.42699040628, -0.442398433857, 0, 0.25, 1, 3.5, 25},
          {3.72665317208e-06, 0.28650479686, 0.778800783071, 1, 1, 1, 1, 1}),
      ROW(leaky_relu(x, 0.2), {-5, -0.5, -0.1, 0, 0.25, 1, 3.5, 25},
          {0.2, 0.2, 0.2, 0.2, 1, 1, 1, 1}),
      ROW(rrelu(x), {-5.72916666667, -0.572916666667, -0.114583333333, 0, 0.25, 1, 3.5, 25},
          {0.229166666667, 0.229166666667, 0.229166666667, 0.229166666667, 1, 1, 1, 1}),
      ROW(relu6(x), {0, 0, 0, 0, 0.25, 1, 3.5, 6}, {0, 0, 0, 0, 1, 1, 1, 0}),
      ROW(hardtanh(x, -0.75, 2), {-0.75, -0.75, -0.5, 0, 0.25, 1, 2, 2}, {0, 0, 1, 1, 1, 1, 0, 0}),
      ROW(silu(x),
          {-3.47198596619e-10, -0.189645450053, -0.188770334399, 0, 0.140544125221, 0.73105857863,
           3.39740719237, 24.9999999997},
          {-3.3331065275e-10, -0.0994011113415, 0.260038812697, 0.5, 0.62371002157, 0.927670511871,
           1.07027335283, 1.00000000033}),
      ROW(mish(x),
          {-3.47198596622e-10, -0.196816203907, -0.220743774652, 0, 0.169572409664, 0.865098388267,
           3.49399071512, 25},
          {-3.33310652754e-10, -0.10974357275, 0.289510677914, 0.6, 0.754172667721, 1.0490362201,
           1.009939325, 1}),
      ROW(softplus(x, 2, 10),
          {9.64374923982e-23, 0.00335767424456, 0.156630843759, 0.34657359028, 0.48703849209,
           1.06346400552, 3.50045573323, 25},
          {1.92874984796e-22, 0.00669285092428, 0.26894142137, 0.5, 0.622459331202, 0.880797077978,
           0.999088948806, 1}),
      ROW(logsigmoid(x),
          {-25, -2.57888973429, -0.97407698418, -0.69314718056, -0.575939419879, -0.313261687518,
           -0.0297504182726, -1.38879438649e-11},
          {0.999999999986, 0.924141819979, 0.622459331202, 0.5, 0.437823499114, 0.26894142137,
           0.0293122307514, 1.38879438648e-11}),
      ROW(softsign(x),
          {-0.961538461538, -0.714285714286, -0.333333333333, 0, 0.2, 0.5, 0.777777777778,
           0.961538461538},
          {0.00147928994083, 0.0816326530612, 0.444444444444, 1, 0.64, 0.25, 0.0493827160494,
           0.00147928994083}),
      ROW(tanhshrink(x),
          {-24, -1.51338570185, -0.03788284274, 0, 0.00508133759629, 0.238405844044, 2.50182210239,
           24},
          {1, 0.973407773317, 0.213552267034, 0, 0.0599851511936, 0.580025658386, 0.99635911528,
           1}),
      ROW(hardshrink(x, 0.6), {-25, -2.5, 0, 0, 0, 1, 3.5, 25}, {1, 1, 0, 0, 0, 1, 1, 1}),
      ROW(softshrink(x, 0.6), {-24.4, -1.9, 0, 0, 0, 0.4, 2.9, 24.4}, {1, 1, 0, 0, 0, 1, 1, 1}),
      ROW(threshold(x, 0.2, 7), {7, 7, 7, 7, 0.25, 1, 3.5, 25}, {0, 0, 0, 0, 1, 1, 1, 1}),
      ROW(glu(x), {-14.0544125221, -1.82764644658, -0.485343884624, 0},
          {0.562176500886, 0.73105857863, 0.970687769249, 0.999999999986, -6.15335206844,
           -0.491529833104, -0.0142265119399, 0}),
      ROW(softmin(x, 0),
          {0.999999999778, 1.69189792224e-10, 2.28973484514e-11, 1.38879438619e-11,
           1.08159415549e-11, 5.10908902693e-12, 4.19379565745e-13, 1.92874984754e-22},
          {0, 0, 0, 0, 0, 0, 0, 0}),
      ROW(prelu(x, tensor({0.3}, x.options())), {-7.5, -0.75, -0.15, 0, 0.25, 1, 3.5, 25},
          {0.3, 0.3, 0.3, 0.3, 1, 1, 1, 1}),
  };
  return all;
}
#undef ROW

// Operands are away from the kinks at 0, +-0.6, 1 and 6, and have both signs.
Tensor smooth() { return tensor({-2.4, -0.3, 0.31, 1.7, 3.1, -1.1}, TensorOptions(kFloat64)); }

}  // namespace

TEST_CASE("activations have PyTorch's values and gradients") {
  for_each_device([](Device d) {
    for (const Activation& a : activations()) {
      INFO(a.name);
      const Tensor x =
          tensor({-25., -2.5, -0.5, 0., 0.25, 1., 3.5, 25.}, TensorOptions(kFloat64).device(d))
              .requires_grad_();
      const Tensor y = a.call(x);
      check_values(y.detach(), {static_cast<int64_t>(a.values.size())}, a.values);
      y.sum().backward();
      check_values(x.grad(), {8}, a.gradients);
    }
  });
}

TEST_CASE("activations have correct second gradients") {
  for (const Activation& a : activations()) {
    INFO(a.name);
    const auto f = [&](const std::vector<Tensor>& in) { return a.call(in[0]); };
    gradcheck(f, {smooth()});
    gradgradcheck(f, {smooth()});
  }
  for (const auto& f : {+[](const Tensor& x) { return F::hardsigmoid(x * 2); },
                        +[](const Tensor& x) { return F::hardswish(x * 2); },
                        +[](const Tensor& x) { return F::softplus(x * 20); }}) {
    const auto of_list = [&](const std::vector<Tensor>& in) { return f(in[0]); };
    gradcheck(of_list, {smooth()});
    gradgradcheck(of_list, {smooth()});
  }
  const Tensor weight = tensor({0.3, -0.2, 0.7}, TensorOptions(kFloat64));
  const auto prelu = [](const std::vector<Tensor>& in) { return F::prelu(in[0], in[1]); };
  gradcheck(prelu, {wave(kCPU, {2, 3, 2}) + 0.01, weight});
}

// The gradients by x and w at x = 0 are w and x, and are derived as such. PyTorch 2.15 has 0.
TEST_CASE("prelu's second gradients at 0 are the derivatives of the first") {
  const TensorOptions float64(kFloat64);
  const Tensor x = tensor({-1., 0., 1.}, float64).requires_grad_();
  const Tensor w = tensor({0.5}, float64).requires_grad_();
  const std::vector<Tensor> g = autograd::grad({F::prelu(x, w).sum()}, {x, w}, {}, true, true);
  check_values(g[0], {3}, {0.5, 0.5, 1});
  check_values(g[1], {1}, {-1});
  check_values(autograd::grad({g[0].sum()}, {w}, {}, true)[0], {1}, {2});
  check_values(autograd::grad({g[1].sum()}, {x}, {}, true)[0], {3}, {1, 1, 0});
}

// PyTorch 2.15 in float64, for x = [-inf, -1000, -30, -3, -0., 0, 3, 10, 20, 20.5, 1000, inf,
// nan]: y, and x.grad after y.sum().backward().
TEST_CASE("activations and losses at infinities, NaN, zeros and kinks have PyTorch's values") {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = NAN;
  for_each_device([&](Device d) {
    const Tensor at =
        tensor({-kInf, -1000., -30., -3., -0., 0., 3., 10., 20., 20.5, 1000., kInf, kNaN},
               TensorOptions(kFloat64).device(d));
    const Tensor none = zeros_like(at);
    const auto expect = [&](const auto& f, const std::vector<double>& values,
                            const std::vector<double>& gradients) {
      const Tensor x = at.clone().requires_grad_();
      const Tensor y = f(x);
      check_values(y.detach(), {13}, values);
      CHECK(signbit(y.detach().narrow(0, 4, 1)).item<bool>() == std::signbit(values[4]));
      y.sum().backward();
      check_values(x.grad(), {13}, gradients, 1e-8);  // PyTorch rounds 1/6 to float32
    };
    expect([&](const Tensor& x) { return F::elu(x, 0.5); },
           {-0.5, -0.5, -0.5, -0.475106465816, -0., 0, 3, 10, 20, 20.5, 1000, kInf, kNaN},
           {0, 0, 4.67881148442e-14, 0.0248935341839, 0.5, 0.5, 1, 1, 1, 1, 1, 1, 1});
    expect(
        [&](const Tensor& x) { return F::selu(x); },
        {-1.75809934085, -1.75809934085, -1.75809934085, -1.67056872877, -0., 0, 3.15210296207,
         10.5070098736, 21.0140197471, 21.5393702408, 1050.70098736, kInf, kNaN},
        {0, 0, 1.64516307734e-13, 0.0875306120803, 1.75809934085, 1.75809934085, 1.05070098736,
         1.05070098736, 1.05070098736, 1.05070098736, 1.05070098736, 1.05070098736, 1.05070098736});
    expect([&](const Tensor& x) { return F::celu(x, 2); },
           {-2, -2, -1.9999993882, -1.5537396797, -0., 0, 3, 10, 20, 20.5, 1000, kInf, kNaN},
           {0, 7.12457640674e-218, 3.05902320502e-07, 0.223130160148, 1, 1, 1, 1, 1, 1, 1, 1, 1});
    expect([&](const Tensor& x) { return F::leaky_relu(x, 0.25); },
           {-kInf, -250, -7.5, -0.75, -0., 0, 3, 10, 20, 20.5, 1000, kInf, kNaN},
           {0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 1, 1, 1, 1, 1, 1, 0.25});
    expect([&](const Tensor& x) { return F::silu(x); },
           {kNaN, -0., -2.80728689065e-12, -0.142277619533, -0., 0, 2.85772238047, 9.99954602131,
            19.9999999588, 20.4999999744, 1000, kInf, kNaN},
           {kNaN, -0., -2.71371066096e-12, -0.0881041060152, 0.5, 0.5, 1.08810410602, 1.00040856021,
            1.00000003916, 1.00000002438, 1, kNaN, kNaN});
    expect([&](const Tensor& x) { return F::mish(x); },
           {kNaN, -0., -2.80728689065e-12, -0.145647461276, -0., 0, 2.98653500497, 9.99999995878,
            20, 20.5, 1000, kInf, kNaN},
           {kNaN, 0, -2.71371066096e-12, -0.0933931145323, 0.6, 0.6, 1.02110691093, 1.00000007831,
            1, 1, 1, kNaN, kNaN});
    expect([&](const Tensor& x) { return F::softplus(x); },
           {0, 0, 9.35762296884e-14, 0.0485873515737, 0.69314718056, 0.69314718056, 3.04858735157,
            10.0000453989, 20.0000000021, 20.5, 1000, kInf, kNaN},
           {0, 0, 9.35762296884e-14, 0.0474258731776, 0.5, 0.5, 0.952574126822, 0.999954602131,
            0.999999997939, 1, 1, 1, kNaN});
    expect([&](const Tensor& x) { return F::softplus(x, 2); },
           {0, 0, 4.37825538135e-27, 0.00123784256887, 0.34657359028, 0.34657359028, 3.00123784257,
            10.000000001, 20, 20.5, 1000, kInf, kNaN},
           {0, 0, 8.7565107627e-27, 0.00247262315663, 0.5, 0.5, 0.997527376843, 0.999999997939, 1,
            1, 1, 1, kNaN});
    expect([&](const Tensor& x) { return F::logsigmoid(x); },
           {-kInf, -1000, -30, -3.04858735157, -0.69314718056, -0.69314718056, -0.0485873515737,
            -4.53988992169e-05, -2.06115362031e-09, -1.25015286561e-09, 0, 0, kNaN},
           {1, 1, 1, 0.952574126822, 0.5, 0.5, 0.0474258731776, 4.53978687024e-05,
            2.06115361819e-09, 1.25015286482e-09, 0, 0, kNaN});
    expect([&](const Tensor& x) { return F::hardsigmoid(x); },
           {0, 0, 0, 0, 0.5, 0.5, 1, 1, 1, 1, 1, 1, kNaN},
           {0, 0, 0, 0, 0.166666671634, 0.166666671634, 0, 0, 0, 0, 0, 0, 0});
    expect([&](const Tensor& x) { return F::hardswish(x); },
           {kNaN, -0., -0., -0., -0., 0, 3, 10, 20, 20.5, 1000, kInf, kNaN},
           {0, 0, 0, 0, 0.5, 0.5, 1, 1, 1, 1, 1, 1, 1});
    expect([&](const Tensor& x) { return F::smooth_l1_loss(x, none, Reduction::none, 3); },
           {kInf, 998.5, 28.5, 1.5, 0, 0, 1.5, 8.5, 18.5, 19, 998.5, kInf, kNaN},
           {-1, -1, -1, -1, -0., 0, 1, 1, 1, 1, 1, 1, kNaN});
    expect([&](const Tensor& x) { return F::huber_loss(x, none, Reduction::none, 3); },
           {kInf, 2995.5, 85.5, 4.5, 0, 0, 4.5, 25.5, 55.5, 57, 2995.5, kInf, kNaN},
           {-3, -3, -3, -3, -0., 0, 3, 3, 3, 3, 3, 3, kNaN});
    expect(
        [&](const Tensor& x) {
          return F::binary_cross_entropy_with_logits(x, none, {}, Reduction::none);
        },
        {kNaN, 0, 9.23705556488e-14, 0.0485873515737, 0.69314718056, 0.69314718056, 3.04858735157,
         10.0000453989, 20.0000000021, 20.5000000013, 1000, kInf, kNaN},
        {0, 0, 9.35762296884e-14, 0.0474258731776, 0.5, 0.5, 0.952574126822, 0.999954602131,
         0.999999997939, 0.99999999875, 1, 1, kNaN});
    expect(
        [&](const Tensor& x) {
          return F::binary_cross_entropy_with_logits(x, none + 1, {}, Reduction::none);
        },
        {kNaN, 1000, 30, 3.04858735157, 0.69314718056, 0.69314718056, 0.0485873515737,
         4.53988992169e-05, 2.06115362031e-09, 1.25015286561e-09, 0, kNaN, kNaN},
        {-1, -1, -1, -0.952574126822, -0.5, -0.5, -0.0474258731776, -4.53978687024e-05,
         -2.06115369217e-09, -1.25015287011e-09, 0, 0, kNaN});
    expect(
        [&](const Tensor& x) {
          return F::binary_cross_entropy_with_logits(x, none + 0.25, {}, Reduction::none);
        },
        {kNaN, 250, 7.5, 0.798587351574, 0.69314718056, 0.69314718056, 2.29858735157, 7.5000453989,
         15.0000000021, 15.3750000013, 750, kInf, kNaN},
        {-0.25, -0.25, -0.25, -0.202574126822, 0.25, 0.25, 0.702574126822, 0.749954602131,
         0.749999997939, 0.74999999875, 0.75, 0.75, kNaN});
  });
}

TEST_CASE("an in-place activation overwrites its input, and has the gradients of the other form") {
  const Tensor start = smooth();
  const auto check = [&](const std::function<Tensor(const Tensor&, bool)>& f) {
    const Tensor a = start.detach().clone().requires_grad_(),
                 b = start.detach().clone().requires_grad_();
    const Tensor in = b * 1, y = f(in, true);
    CHECK(y.is_same(in));
    CHECK(y.detach().equal(f(start, false)));
    y.sum().backward();
    f(a, false).sum().backward();
    CHECK(
        a.grad().allclose(b.grad(), 1e-14, 1e-14));  // both compute the same sums in another order
    CHECK_THROWS_AS(f(b, true), AutogradError);
  };
  check([](const Tensor& x, bool i) { return F::elu(x, 1.5, i); });
  check([](const Tensor& x, bool i) { return F::selu(x, i); });
  check([](const Tensor& x, bool i) { return F::celu(x, 1.5, i); });
  check([](const Tensor& x, bool i) { return F::leaky_relu(x, 0.1, i); });
  check([](const Tensor& x, bool i) { return F::rrelu(x, 0.1, 0.2, false, i); });
  check([](const Tensor& x, bool i) { return F::relu6(x, i); });
  check([](const Tensor& x, bool i) { return F::hardtanh(x, -2, 2, i); });
  check([](const Tensor& x, bool i) { return F::threshold(x, 0.5, -1, i); });
}

TEST_CASE("activations with random numbers") {
  manual_seed(3);
  const Tensor x = full({1000}, -1.0);
  const Tensor y = F::rrelu(x, 0.25, 0.5, /*training=*/true);
  CHECK((y <= -0.25).all().item<bool>());
  CHECK((y > -0.5).all().item<bool>());
  // 1000 numbers with standard deviation 0.072: their mean is within 5 standard deviations of
  // 0.0023.
  CHECK(y.mean().item<double>() == doctest::Approx(-0.375).epsilon(0.0115 / 0.375));
  const Tensor logits = zeros({500, 4}).requires_grad_();
  const Tensor hard = F::gumbel_softmax(logits, 0.5, /*hard=*/true);
  CHECK(hard.detach().sum(1).allclose(ones({500})));
  CHECK(((hard.detach() == 0) | (hard.detach() == 1)).sum().item<int64_t>() == 2000);
  (hard * arange(4)).sum().backward();
  CHECK(logits.grad().abs().sum().item<double>() > 0);
  CHECK(F::gumbel_softmax(logits.detach()).sum(-1).allclose(ones({500})));
}

TEST_CASE("activations of integers as in PyTorch: limits are truncated to integers") {
  for_each_device([](Device d) {
    const Tensor x = tensor({-3, 0, 2, 7}, d);
    CHECK(F::hardtanh(x, -1.5, 2.5).equal(tensor({-1, 0, 2, 2}, d)));
    CHECK(F::relu6(x.abs().to(kUInt8)).equal(tensor({3, 0, 2, 6}, d).to(kUInt8)));
    CHECK(F::threshold(x, 0.5, 7.5).equal(tensor({7, 7, 2, 7}, d)));
    CHECK(F::threshold(x.clone(), 2, -1, true).equal(tensor({-1, -1, -1, 7}, d)));
    check_values(F::softsign(x).to(kFloat64), {4}, {-0.75, 0, 2. / 3, 0.875}, 1e-7);
    CHECK(F::tanhshrink(x).allclose(F::tanhshrink(x.to(kFloat32))));
  });
}

TEST_CASE("hardtanh with a NaN bound is NaN") {
  for_each_device([](Device d) {
    // F.hardtanh(torch.tensor([1., 2.]), 0, math.nan), PyTorch 2.15
    CHECK(isnan(F::hardtanh(tensor({1., 2.}, d), 0, NAN)).equal(tensor({true, true}, d)));
    CHECK(isnan(F::hardtanh(tensor({1., 2.}, d), NAN, 0)).equal(tensor({true, true}, d)));
  });
}

TEST_CASE("hardtanh keeps the sign of a zero that equals a limit") {
  for_each_device([](Device d) {
    // torch.signbit(F.relu6(torch.tensor([-0., 0., -1.])))
    const Tensor x = tensor({-0., 0., -1.}, d).requires_grad_();
    const Tensor y = F::relu6(x);
    CHECK(signbit(y).equal(tensor({true, false, false}, d)));
    CHECK(signbit(F::hardtanh(-x, -1, 0)).equal(tensor({false, true, false}, d)));
    y.sum().backward();
    check_values(x.grad(), {3}, {0, 0, 0});
  });
}

TEST_CASE("activations refuse invalid arguments") {
  const Tensor x = ones({2, 3}), n = ones({2, 3}, kInt64);
  for (const Activation& a : activations()) {
    const std::string name = a.name;
    INFO(name);
    CHECK_THROWS_AS(a.call(Tensor()), Error);
    if (name.starts_with("softmin")) continue;
    CHECK_THROWS_AS(a.call(n.to(kBool)), DTypeError);
    const bool takes_integers = name.starts_with("relu6") || name.starts_with("hardtanh") ||
                                name.starts_with("softsign") || name.starts_with("tanhshrink") ||
                                name.starts_with("threshold");
    if (!takes_integers) CHECK_THROWS_AS(a.call(n), DTypeError);
  }
  // PyTorch 2.15: F.hardtanh(torch.tensor([0, 100, 200], dtype=torch.uint8), -1.5, 2.5), (-5, -1)
  const Tensor u = tensor({0, 100, 200}).to(kUInt8);
  CHECK(F::hardtanh(u, -1.5, 2.5).equal(tensor({0, 2, 2}).to(kUInt8)));
  CHECK(F::hardtanh(u, 0, 300).equal(u));
  CHECK_THROWS_AS(F::hardtanh(u, -5, -1), DTypeError);
  CHECK_THROWS_WITH_AS(F::threshold(n.to(kInt8), 0, 300),
                       "threshold: expected a number that int8 can hold, got 300", DTypeError);
  CHECK_THROWS_AS(F::hardtanh(n.to(kInt16), 0, std::nan("")), Error);
  CHECK_THROWS_AS(F::threshold(n, 1e30, 0), DTypeError);
  CHECK_THROWS_AS(F::threshold(n, std::nan(""), 0), DTypeError);
  CHECK_THROWS_AS(F::celu(x, 0), Error);
  CHECK_THROWS_AS(F::hardtanh(x, 1, 1), Error);
  CHECK_THROWS_AS(F::hardshrink(x, -1), Error);
  CHECK_THROWS_AS(F::softshrink(x, -1), Error);
  CHECK(std::isnan(F::softshrink(tensor({std::nan("")})).item<double>()));
  // PyTorch 2.15 returns 0 or -0 for x <= 0, depending on the length.
  CHECK_FALSE(signbit(F::softshrink(tensor({-0.25, -0., 0., 0.25}))).any().item<bool>());
  CHECK_THROWS_AS(F::rrelu(x, 0.5, 0.2), Error);
  CHECK_THROWS_AS(F::glu(x), ShapeError);
  CHECK_THROWS_AS(F::gumbel_softmax(x, 0), Error);
  CHECK_THROWS_AS(F::prelu(x, ones({2})), ShapeError);
  CHECK_THROWS_AS(nn::PReLU(0), Error);
  CHECK_THROWS_AS(nn::Softmax2d()->forward(x), ShapeError);
}

TEST_CASE("modules of activations equal the functions with their options") {
  const Tensor x = smooth();
  const auto same = [&](auto module, const Tensor& expected) {
    CHECK(module->forward(x).detach().equal(expected.detach()));
  };
  same(nn::ELU(nn::ELUOptions().alpha(0.5)), F::elu(x, 0.5));
  same(nn::SELU(), F::selu(x));
  same(nn::CELU(nn::CELUOptions().alpha(0.5)), F::celu(x, 0.5));
  same(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)), F::leaky_relu(x, 0.2));
  nn::RReLU rrelu;
  rrelu->eval();
  same(rrelu, F::rrelu(x));
  same(nn::ReLU6(), F::relu6(x));
  same(nn::Hardtanh(nn::HardtanhOptions().min_val(-2).max_val(0.5)), F::hardtanh(x, -2, 0.5));
  same(nn::SiLU(), F::silu(x));
  same(nn::Mish(), F::mish(x));
  same(nn::Softplus(nn::SoftplusOptions().beta(2).threshold(3)), F::softplus(x, 2, 3));
  same(nn::LogSigmoid(), F::logsigmoid(x));
  same(nn::Softsign(), F::softsign(x));
  same(nn::Tanhshrink(), F::tanhshrink(x));
  same(nn::Hardshrink(0.4), F::hardshrink(x, 0.4));
  same(nn::Softshrink(0.4), F::softshrink(x, 0.4));
  same(nn::Threshold(0.1, 20), F::threshold(x, 0.1, 20));
  same(nn::GLU(), F::glu(x));
  same(nn::Softmin(0), F::softmin(x, 0));
  CHECK(nn::PReLU()->forward(x.to(kFloat32)).detach().equal(F::leaky_relu(x.to(kFloat32), 0.25)));
  CHECK(nn::Softmax2d()->forward(x.view({6, 1, 1})).view({6}).equal(softmax(x, 0)));
  CHECK(F::elu(x, F::ELUFuncOptions().alpha(0.5)).equal(F::elu(x, 0.5)));
  CHECK(F::softplus(x, F::SoftplusFuncOptions().beta(2)).equal(F::softplus(x, 2)));
}
