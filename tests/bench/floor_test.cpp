// The bench's floor, which calls oneDNN directly, has the same results as ambit from the same
// weights.
#include <ambit/autograd.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/loss.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/optim/sgd.h>
#include <ambit/random.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "bench/floor/lessons.h"
#include "bench/floor/ops.h"
#include "bench/rows/networks.h"

using namespace ambit;
using bench::Specification;
using bench::floor::Lesson;

namespace {

constexpr double kUnit = 0x1p-24;  // relative error of rounding to float32

bench::Operand operand(const Tensor& x) {
  bench::Operand made{"", x.sizes().vec()};
  if (x.dtype() == kInt64) {
    made.labels = x.data_ptr<int64_t>();
  } else {
    made.values = x.data_ptr<float>();
  }
  return made;
}

Specification specification(const std::vector<Tensor>& operands, const std::vector<Tensor>& more) {
  Specification made;
  for (const Tensor& x : operands) made.operands.push_back(operand(x));
  for (const Tensor& x : more) made.operands.push_back(operand(x));
  return made;
}

bool close(double a, double b, double relative) {
  return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b));
}

// The longest sum in a forward pass has 1024 products, the input of tudui's first linear layer.
// The mean of the losses has at most the error of a logit.
constexpr double kForward = 1024 * kUnit;

// The longest sum in a backward pass, the gradient of a weight of tudui's first layer, has one
// product per position of 5 images. The bound of a single sum is used: errors of the layers in
// between add up, but the actual error of each sum is far below its bound.
constexpr double kBackward = 5 * 32 * 32 * kUnit;

double largest(const float* values, size_t size) {
  double m = 0;
  for (size_t i = 0; i < size; ++i) m = std::max(m, std::abs(static_cast<double>(values[i])));
  return m;
}

template <class Network>
void check_training(Lesson lesson, const optim::SGDOptions& options) {
  constexpr int kSteps = 3;
  manual_seed(1);
  Network network;
  const Tensor images = rand({5, 3, 32, 32}), labels = randint(0, 10, {5});
  const std::vector<Tensor> parameters = network->parameters();
  std::vector<Tensor> before;
  for (const Tensor& p : parameters) before.push_back(p.detach().clone());

  bench::floor::Training floor(lesson, specification({images, labels}, parameters));
  optim::SGD optimizer(parameters, options);
  for (int step = 0; step < kSteps; ++step) {
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(network(images), labels);
    loss.backward();
    optimizer.step();
    floor.run();
    CHECK(close(floor.result(), loss.item<double>(), kForward));
  }

  REQUIRE(floor.network().parameters().size() == parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    CAPTURE(i);
    const std::vector<float> values = floor.network().parameters()[i].read();
    const size_t size = static_cast<size_t>(parameters[i].numel());
    REQUIRE(values.size() == size);
    const float* expected = parameters[i].data_ptr<float>();
    std::vector<float> difference(size);
    std::transform(values.begin(), values.end(), expected, difference.begin(), std::minus<>());
    const Tensor update = parameters[i].detach() - before[i];
    // Updates have the error of the gradients, and each is rounded into its parameter on both
    // sides.
    const double rounding = 2 * kSteps * kUnit * largest(expected, size);
    CHECK(largest(difference.data(), size) <=
          kBackward * largest(update.data_ptr<float>(), size) + rounding);
  }
}

template <class Network>
void check_inference(Lesson lesson) {
  manual_seed(2);
  Network network;
  const Tensor images = rand({5, 3, 32, 32});
  bench::floor::Inference floor(lesson, specification({images}, network->parameters()));
  floor.run();
  const NoGradGuard no_grad;
  const Tensor logits = network(images);
  CHECK(std::abs(floor.result() - logits.sum().item<double>()) <=
        kForward * logits.abs().sum().item<double>());
}

}  // namespace

TEST_CASE("the floor trains the lessons' networks as ambit does") {
  SUBCASE("net") {
    check_training<bench::Net>(Lesson::net, optim::SGDOptions(0.001).momentum(0.9));
  }
  SUBCASE("tudui") { check_training<bench::Tudui>(Lesson::tudui, optim::SGDOptions(0.01)); }
}

TEST_CASE("the floor's inference equals ambit's") {
  SUBCASE("net") { check_inference<bench::Net>(Lesson::net); }
  SUBCASE("tudui") { check_inference<bench::Tudui>(Lesson::tudui); }
}

TEST_CASE("the floor's convolution equals ambit's, with gradients or without") {
  manual_seed(3);
  const Tensor x = rand({2, 3, 9, 9}), w = rand({6, 3, 5, 5}), b = rand({6}).requires_grad_();
  const Tensor y = conv2d(x, w, b, {.padding = {2, 2}}), gradient = rand(y.sizes());
  y.backward(gradient);
  Specification s = specification({x, w, b, gradient}, {});
  s.parameters = {2};
  // The sum of a result adds 2*6*9*9 positive numbers, each a sum of 3*5*5+1.
  constexpr double kAdded = (2 * 6 * 9 * 9 + 3 * 5 * 5 + 1) * kUnit;

  bench::floor::Convolution forward(s);
  forward.run();
  CHECK(close(forward.result(), y.sum().item<double>(), kAdded));

  for (const bool first : {true, false}) {
    s.operands[0].requires_grad = !first;
    s.operands[1].requires_grad = s.operands[2].requires_grad = true;
    bench::floor::Convolution both(s);
    both.run();
    CHECK(close(both.result(), b.grad().sum().item<double>(), kAdded));
  }
}

TEST_CASE("the floor's product equals ambit's") {
  manual_seed(4);
  const Tensor a = rand({48, 48}), b = rand({48, 48});
  bench::floor::Product product(specification({a, b}, {}));
  product.run();
  // 48*48 positive numbers, each a sum of 48.
  CHECK(close(product.result(), a.matmul(b).sum().item<double>(), (48 * 48 + 48) * kUnit));
}
