// Options of layers: errors at construction, and functions with options.
#include <ambit/nn/nn.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/random.h>
#include <doctest/doctest.h>

#include <cmath>

#include "tests/devices.h"

using namespace ambit;
namespace F = ambit::nn::functional;

TEST_CASE("invalid options are refused when the layer is constructed") {
  using C = nn::Conv2dOptions;
  CHECK_THROWS_AS(nn::Conv2d(0, 6, 5), Error);
  CHECK_THROWS_AS(nn::Conv2d(3, 0, 5), Error);
  CHECK_THROWS_AS(nn::Conv2d(3, 6, 0), Error);
  CHECK_THROWS_AS(nn::Conv2d(3, 6, 5, 0), Error);
  CHECK_THROWS_AS(nn::Conv2d(3, 6, 5, 1, -1), Error);
  CHECK_THROWS_AS(nn::Conv2d(C(3, 6, 5).dilation({1, 0})), Error);
  CHECK_THROWS_AS(nn::Conv2d(C(4, 6, 5).groups(0)), Error);
  CHECK_THROWS_WITH(nn::Conv2d(C(4, 6, 5).groups(4)),
                    "Conv2d: expected groups to divide both channels, got 4 groups for 4 and 6 "
                    "channels");
  CHECK_THROWS_AS(C(3, 6, {1, 2, 3}), Error);
  CHECK_THROWS_AS(nn::Linear(-1, 2), Error);
  CHECK_THROWS_AS(nn::MaxPool2d(0), Error);
  CHECK_THROWS_AS(nn::MaxPool2d(2, 0), Error);
  CHECK_THROWS_AS(nn::MaxPool2d(2, 2, 2), Error);
  CHECK_THROWS_AS(nn::MaxPool2d(nn::MaxPool2dOptions(2).dilation(0)), Error);
  CHECK_THROWS_AS(nn::AvgPool2d(2, 2, -1), Error);
  CHECK_THROWS_AS(nn::AdaptiveAvgPool2d(-2), Error);
  CHECK_THROWS_AS(nn::BatchNorm2d(0), Error);
  CHECK_THROWS_AS(nn::Embedding(3, -1), Error);
  CHECK_THROWS_AS(nn::Embedding(nn::EmbeddingOptions(3, 2).padding_idx(3)), Error);
  CHECK_THROWS_AS(nn::Embedding(nn::EmbeddingOptions(3, 2).padding_idx(-4)), Error);
  CHECK_THROWS_AS(nn::CrossEntropyLoss(nn::CrossEntropyLossOptions().label_smoothing(2)), Error);
  CHECK_THROWS_AS(nn::CrossEntropyLoss(nn::CrossEntropyLossOptions().weight(ones({2, 2}))),
                  ShapeError);
  CHECK_THROWS_AS(nn::NLLLoss(nn::NLLLossOptions().weight(ones({}))), ShapeError);
  CHECK_THROWS_WITH_AS(nn::Hardtanh(nn::HardtanhOptions().min_val(1).max_val(1)),
                       "Hardtanh: expected min_val < max_val, got 1 and 1", Error);
  CHECK_THROWS_AS(nn::Hardtanh(nn::HardtanhOptions().min_val(2)), Error);
  CHECK_THROWS_AS(nn::Hardtanh(nn::HardtanhOptions().max_val(NAN)), Error);
}

TEST_CASE("Dropout refuses probabilities outside 0 to 1") {
  for (const double p : {-0.1, 1.1, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    CHECK_THROWS_AS(nn::Dropout{p}, Error);
    CHECK_THROWS_AS(F::dropout(ones({2}), p), Error);
    CHECK_THROWS_AS(F::dropout(ones({2}), p, true, /*inplace=*/true), Error);
  }
  CHECK_NOTHROW(nn::Dropout(0.0));
  CHECK_NOTHROW(nn::Dropout(1.0));
}

TEST_CASE("a Linear without inputs or outputs is allowed, as in PyTorch") {
  CHECK(nn::Linear(0, 2)(ones({3, 0})).equal(zeros({3, 2})));
  CHECK(nn::Linear(2, 0)(ones({3, 2})).sizes() == IntArrayRef({3, 0}));
}

TEST_CASE("functions of nn::functional accept options or plain arguments") {
  for_each_device([](Device d) {
    const Tensor x = randn({2, 4, 6, 6}, d), w = randn({4, 2, 3, 3}, d), b = randn({4}, d);
    CHECK(F::max_pool2d(x, 2).equal(F::max_pool2d(x, F::MaxPool2dFuncOptions(2).stride(2))));
    CHECK(F::max_pool2d(x, {3, 2}, 1, {1, 0})
              .equal(nn::MaxPool2d(nn::MaxPool2dOptions({3, 2}).stride(1).padding({1, 0}))(x)));
    CHECK(std::get<0>(F::max_pool2d_with_indices(x, F::MaxPool2dFuncOptions(2)))
              .equal(F::max_pool2d(x, 2)));
    CHECK(F::avg_pool2d(x, 3, 2, 1).equal(nn::AvgPool2d(3, 2, 1)(x)));
    CHECK(F::avg_pool2d(x, F::AvgPool2dFuncOptions(2)).equal(F::avg_pool2d(x, {2, 2})));
    CHECK(F::adaptive_avg_pool2d(x, {1, 1}).equal(F::adaptive_avg_pool2d(x, 1)));
    CHECK(F::adaptive_avg_pool2d(x, F::AdaptiveAvgPool2dFuncOptions(1)).sizes() ==
          IntArrayRef({2, 4, 1, 1}));
    CHECK(F::conv2d(x, w, F::Conv2dFuncOptions().bias(b).stride(2).padding(1).groups(2))
              .equal(F::conv2d(x, w, b, 2, {1, 1}, 1, 2)));
    CHECK(F::relu(x).equal(F::relu(x.clone(), F::ReLUFuncOptions().inplace(true))));
    CHECK(F::softmax(x, 1).equal(F::softmax(x, F::SoftmaxFuncOptions(1))));
    CHECK(F::log_softmax(x, 1).equal(F::log_softmax(x, F::LogSoftmaxFuncOptions(1))));
    CHECK(F::dropout(x, 0.5, /*training=*/false).equal(x));
    CHECK(F::dropout(x, F::DropoutFuncOptions().p(1)).equal(zeros_like(x)));
    const Tensor mean = zeros({4}, d), var = ones({4}, d);
    CHECK(F::batch_norm(x, mean, var, F::BatchNormFuncOptions().weight(b).eps(0))
              .equal(batch_norm(x, b, {}, mean, var, {.training = false, .eps = 0})));
  });
}

TEST_CASE("losses and embedding of nn::functional accept options or plain arguments") {
  for_each_device([](Device d) {
    const Tensor x = randn({3, 4}, d), target = tensor({0, 3, 1}, d), b = rand({4}, d);
    CHECK(F::cross_entropy(x, target, F::CrossEntropyFuncOptions().reduction(kSum).weight(b))
              .equal(F::cross_entropy(x, target, b, kSum)));
    CHECK(F::nll_loss(x, target, F::NLLLossFuncOptions().ignore_index(3))
              .equal(F::nll_loss(x, target, {}, kMean, 3)));
    CHECK(F::mse_loss(x, x * 2, F::MSELossFuncOptions(kSum)).equal(F::mse_loss(x, x * 2, kSum)));
    const Tensor table = randn({4, 2}, d).requires_grad_();
    F::embedding(target, table, -1).sum().backward();
    CHECK(table.grad()[3].equal(zeros({2}, d)));
    CHECK(table.grad()[1].equal(ones({2}, d)));
  });
}
