// Gradients at bounds, among equal elements and at the origin. All values are PyTorch 2.15's: the
// gradients of y.sum() by its inputs, float64.
#include <ambit/autograd.h>
#include <ambit/nn/functional/activation.h>
#include <ambit/nn/functional/loss.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/products.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/scan.h>

#include <array>
#include <cmath>
#include <vector>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

using Numbers = std::vector<double>;

Tensor input(const Numbers& numbers, Device device, DType dtype = kFloat64) {
  return tensor(numbers).to(device, dtype).requires_grad_();
}

std::vector<Tensor> gradients(const Tensor& out, const std::vector<Tensor>& of) {
  return autograd::grad({out.sum()}, of);
}

// x, min, max, and the gradients of torch.clamp(x, min, max) with respect to each.
struct Clamped {
  double x, min, max;
  std::array<double, 3> grads;
};
const std::vector<Clamped> kClamped{
    {0, 0, 0, {1, 0, 0}},      {0, 0, 1, {0.5, 0.5, 0}}, {0, 0, NAN, {1, 0, 0}},
    {0, 1, 0, {0, 0, 1}},      {0, 1, 1, {0, 1, 0}},     {0, 1, 2, {0, 1, 0}},
    {0, 1, NAN, {0, 0, 0}},    {0, 2, 1, {0, 0, 1}},     {0, NAN, 0, {1, 0, 0}},
    {0, NAN, NAN, {1, 0, 0}},  {1, 0, 0, {0, 0, 1}},     {1, 0, 1, {0.5, 0, 0.5}},
    {1, 0, 2, {1, 0, 0}},      {1, 0, NAN, {1, 0, 0}},   {1, 1, 0, {0, 0, 1}},
    {1, 2, 0, {0, 0, 1}},      {1, 2, 1, {0, 0, 1}},     {1, NAN, 0, {0, 0, 0}},
    {2, 0, 1, {0, 0, 1}},      {NAN, 0, 1, {1, 0, 0}},   {NAN, 1, 1, {1, 0, 0}},
    {NAN, 2, 1, {1, 0, 1}},    {NAN, 0, NAN, {1, 0, 0}}, {NAN, NAN, 0, {1, 0, 0}},
    {NAN, NAN, NAN, {1, 0, 0}}};

}  // namespace

TEST_CASE("a clamp by two tensors splits its gradient where x equals one of them") {
  for_each_device([](Device d) {
    Numbers values[3], grads[3];
    for (const Clamped& c : kClamped) {
      const double operands[] = {c.x, c.min, c.max};
      for (size_t i = 0; i < 3; ++i) {
        values[i].push_back(operands[i]);
        grads[i].push_back(c.grads[i]);
      }
    }
    const auto n = static_cast<int64_t>(kClamped.size());
    const Tensor x = input(values[0], d), min = input(values[1], d), max = input(values[2], d);
    const Tensor in_place = x * 1;
    in_place.clamp_(min, max);
    for (const Tensor& y : {clamp(x, min, max), in_place}) {
      const std::vector<Tensor> g = gradients(y, {x, min, max});
      for (size_t i = 0; i < 3; ++i) check_values(g[i], {n}, grads[i], 0);
    }
    // As above with create_graph, for second gradients.
    const std::vector<Tensor> g =
        autograd::grad({clamp(x, min, max).sum()}, {x, min, max}, {}, true, /*create_graph=*/true);
    for (size_t i = 0; i < 3; ++i) check_values(g[i], {n}, grads[i], 0);
  });
}

TEST_CASE("a clamp by one tensor has the gradients of maximum and minimum") {
  for_each_device([](Device d) {
    const Tensor x = input({-1, 0, -2, NAN, 0, NAN}, d), b = input({-1, -1, -1, -1, NAN, NAN}, d);
    auto g = gradients(clamp_min(x, b), {x, b});
    check_values(g[0], {6}, {0.5, 1, 0, 1, 1, 1}, 0);
    check_values(g[1], {6}, {0.5, 0, 1, 1, 1, 1}, 0);
    g = gradients(clamp_max(x, b), {x, b});
    check_values(g[0], {6}, {0.5, 0, 1, 1, 1, 1}, 0);
    check_values(g[1], {6}, {0.5, 1, 0, 1, 1, 1}, 0);
    // One bound does not require grad.
    check_values(gradients(clamp_max(x, b.detach()), {x})[0], {6}, {0.5, 0, 1, 1, 1, 1}, 0);
  });
}

TEST_CASE("fmax and fmin split the gradient among equal elements; of two NaN self gets it") {
  for_each_device([](Device d) {
    const double inf = INFINITY;
    const Tensor a = input({1, 2, 1, NAN, 1, NAN, inf, 0}, d);
    const Tensor b = input({1, 1, 2, 1, NAN, NAN, inf, -0.}, d);
    auto g = gradients(fmax(a, b), {a, b});
    check_values(g[0], {8}, {0.5, 1, 0, 0, 1, 1, 0.5, 0.5}, 0);
    check_values(g[1], {8}, {0.5, 0, 1, 1, 0, 0, 0.5, 0.5}, 0);
    g = gradients(fmin(a, b), {a, b});
    check_values(g[0], {8}, {0.5, 0, 1, 0, 1, 1, 0.5, 0.5}, 0);
    check_values(g[1], {8}, {0.5, 1, 0, 1, 0, 0, 0.5, 0.5}, 0);
  });
}

TEST_CASE("a clamp by numbers has no gradient at its bounds, in any dtype") {
  for_each_device([](Device d) {
    for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
      const Tensor x = input({-1, 0, 1, -2, 2, 0.5, NAN, -INFINITY, INFINITY}, d, dtype);
      check_values(gradients(clamp(x, -1, 1), {x})[0], {9}, {0, 1, 0, 0, 0, 1, 0, 0, 0}, 0);
      check_values(gradients(clamp_min(x, -1), {x})[0], {9}, {0, 1, 1, 0, 1, 1, 0, 0, 1}, 0);
      check_values(gradients(clamp_max(x, 1), {x})[0], {9}, {1, 1, 0, 1, 0, 1, 0, 1, 0}, 0);
      check_values(gradients(clamp(x, 0.1, 0.1), {x})[0], {9}, Numbers(9, 0), 0);
      check_values(gradients(clamp(x, NAN, 1), {x})[0], {9}, Numbers(9, 0), 0);
      check_values(clamp(x, NAN, 1), {9}, Numbers(9, NAN), 0);
      check_values(clamp(x, 0, NAN), {9}, Numbers(9, NAN), 0);
      check_values(clamp_min(x, NAN), {9}, Numbers(9, NAN), 0);
      check_values(clamp_max(x, NAN), {9}, Numbers(9, NAN), 0);
    }
  });
}

TEST_CASE("atan2 has no gradient at the origin") {
  for_each_device([](Device d) {
    for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
      const Tensor y = input({0, -0., 0, 2, 0, NAN}, d, dtype);
      const Tensor x = input({0, 0, -0., 0, 2, 0}, d, dtype);
      for (const bool create_graph : {false, true}) {
        const auto g = autograd::grad({atan2(y, x).sum()}, {y, x}, {}, true, create_graph);
        check_values(g[0], {6}, {0, 0, 0, 0, 0.5, NAN}, 0);
        check_values(g[1], {6}, {0, 0, 0, -0.5, 0, NAN}, 0);
        if (!create_graph) continue;
        // Of x / (x^2 + y^2), the gradient by y. At the origin PyTorch 2.15 returns NaN.
        const auto second = autograd::grad({g[0].narrow(0, 0, 5).sum()}, {y, x}, {}, true);
        check_values(second[0].narrow(0, 0, 5), {5}, Numbers(5, 0), 0);
        check_values(second[1].narrow(0, 0, 5), {5}, {0, 0, 0, 0.25, -0.25}, 0);
      }
    }
  });
}

// Exact: x / (x^2 + y^2) at x = y. PyTorch 2.15 returns 0 where the squares underflow or overflow.
TEST_CASE("atan2's gradients do not square their operands") {
  for_each_device([](Device d) {
    for (const auto& [dtype, size] : {std::pair{kFloat32, 1e-30}, std::pair{kFloat32, 1e30},
                                      std::pair{kFloat64, 1e-200}, std::pair{kFloat64, 1e200}}) {
      const Tensor y = (tensor({1., -1.}).to(d, dtype) * size).requires_grad_();
      const Tensor x = full({2}, size, TensorOptions(d).dtype(dtype)).requires_grad_();
      for (const bool create_graph : {false, true}) {
        const auto g = autograd::grad({(atan2(y, x) * size).sum()}, {y, x}, {}, true, create_graph);
        check_values(g[0], {2}, {0.5, 0.5}, 1e-6);  // three float32 roundings
        check_values(g[1], {2}, {-0.5, 0.5}, 1e-6);
      }
    }
  });
}

TEST_CASE("first gradients at NaN and second ones at kinks are PyTorch's, with create_graph, too") {
  namespace F = nn::functional;
  struct Bend {
    const char* name;
    Tensor (*f)(const Tensor& x);
    Numbers first, second;  // at -3, -1, 0, 1, 3 and NaN
  };
  // The second gradient of huber_loss at NaN is 1; PyTorch returns 0.
  const double e = std::exp(-1.), e3 = std::exp(-3.),
               selu = 1.75809934084738;  // the last is its slope at 0
  const std::vector<Bend> bends{
      {"elu", [](const Tensor& x) { return F::elu(x); }, {e3, e, 1, 1, 1, 1}, {e3, e, 0, 0, 0, 0}},
      {"celu",
       [](const Tensor& x) { return F::celu(x); },
       {e3, e, 1, 1, 1, 1},
       {e3, e, 0, 0, 0, 0}},
      {"selu",
       [](const Tensor& x) { return F::selu(x); },
       {selu * e3, selu * e, selu, 1.05070098735548, 1.05070098735548, 1.05070098735548},
       {selu * e3, selu * e, 0, 0, 0, 0}},
      {"hardswish",
       [](const Tensor& x) { return F::hardswish(x); },
       {0, 1. / 6, 0.5, 5. / 6, 1, 1},
       {0, 1. / 3, 1. / 3, 1. / 3, 0, 0}},
      {"huber_loss",
       [](const Tensor& x) { return F::huber_loss(x, zeros_like(x), Reduction::none); },
       {-1, -1, 0, 1, 1, NAN},
       {0, 0, 1, 0, 0, 1}},
      {"smooth_l1_loss",
       [](const Tensor& x) { return F::smooth_l1_loss(x, zeros_like(x), Reduction::none); },
       {-1, -1, 0, 1, 1, NAN},
       {0, 0, 1, 0, 0, 0}},
  };
  for_each_device([&](Device d) {
    for (const Bend& bend : bends) {
      INFO(bend.name);
      const Tensor x = input({-3, -1, 0, 1, 3, NAN}, d);
      check_values(gradients(bend.f(x), {x})[0], {6}, bend.first);
      const Tensor g = autograd::grad({bend.f(x).sum()}, {x}, {}, true, /*create_graph=*/true)[0];
      check_values(g, {6}, bend.first);
      check_values(gradients(g, {x})[0], {6}, bend.second);
    }
  });
}

// The limit for two infinities; PyTorch 2.15 returns NaN for these, and 0 for the finite numbers.
TEST_CASE("logcumsumexp is constant in finite elements where it is infinite") {
  for_each_device([](Device d) {
    const Tensor x = input({0, INFINITY, 1}, d);
    check_values(gradients(logcumsumexp(x, 0), {x})[0], {3}, {1, 2, 0});
  });
}

TEST_CASE("the distance of points without coordinates is 0, for any p") {
  for_each_device([](Device d) {
    const Tensor x = zeros({2, 0}, TensorOptions(kFloat64).device(d));
    for (const double p : {0., 1., 2., 3., double{INFINITY}}) {
      check_values(cdist(x, x, p), {2, 2}, {0, 0, 0, 0});
      check_values(pdist(x, p), {1}, {0});
    }
  });
}
