// Errors of layers for an invalid input: they name the input and the layer.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <string>

using namespace ambit;

namespace {

template <class E, class F>
std::string said(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "no such error";
}

}  // namespace

TEST_CASE("a layer's error names its input, and its path in the model") {
  nn::Sequential net(nn::Sequential(nn::Linear(3, 4)), nn::Conv2d(nn::Conv2dOptions(3, 6, 5)),
                     nn::BatchNorm2d(3), nn::BatchNorm2d(nn::BatchNorm2dOptions(3).affine(false)),
                     nn::Embedding(5, 2));
  const auto run = [&](size_t i, const Tensor& x) {
    return [&net, i, x] {
      switch (i) {
        case 0:
          return net[0]->as<nn::SequentialImpl>()->forward(x);
        case 1:
          return net[1]->as<nn::Conv2dImpl>()->forward(x);
        case 4:
          return net[4]->as<nn::EmbeddingImpl>()->forward(x);
        default:
          return net[i]->as<nn::BatchNorm2dImpl>()->forward(x);
      }
    };
  };
  const DType wide = kFloat64;
  CHECK(said<ShapeError>(run(0, ones({2, 5}))) ==
        "linear: expected input of shape [..., 3], got [2, 5]; weight is 0.0.weight");
  CHECK(said<DTypeError>(run(0, ones({2, 3}, wide))) ==
        "linear: expected input of dtype float32, as weight has, got float64; weight is "
        "0.0.weight");
  CHECK(said<ShapeError>(run(1, ones({1, 4, 8, 8}))) ==
        "conv2d: expected input with 3 channels (weight [6, 3, 5, 5], 1 groups), got [1, 4, 8, 8]; "
        "weight is 1.weight");
  CHECK(
      said<ShapeError>(run(1, ones({1, 3, 4, 4}))) ==
      "conv2d: expected padded input height of at least 5 (weight [6, 3, 5, 5]), got 4; weight is "
      "1.weight");
  CHECK(said<DTypeError>(run(1, ones({1, 3, 8, 8}, wide))) ==
        "conv2d: expected input of dtype float32, as weight has, got float64; weight is 1.weight");
  CHECK(said<DTypeError>(run(1, ones({1, 3, 8, 8}, kInt64))) ==
        "conv2d: expected a floating-point input, got int64; weight is 1.weight");
  CHECK(said<ShapeError>(run(2, ones({2, 4, 5, 5}))) ==
        "batch_norm: expected input with 3 channels, as weight has, got [2, 4, 5, 5]; weight is "
        "2.weight");
  CHECK(said<DTypeError>(run(2, ones({2, 3, 5, 5}, wide))) ==
        "batch_norm: expected input of dtype float32, as weight has, got float64; weight is "
        "2.weight");
  CHECK(said<ShapeError>(run(2, ones({2, 3}))) ==
        "batch_norm: expected a 4-D input, got shape [2, 3]; weight is 2.weight");
  CHECK(said<ShapeError>(run(3, ones({2, 4, 5, 5}))) ==
        "batch_norm: expected input with 3 channels, as running_mean has, got [2, 4, 5, 5]; "
        "running_mean is 3.running_mean");
  CHECK(said<DTypeError>(run(4, ones({2}))).ends_with("; weight is 4.weight"));
}

TEST_CASE("a function's error names its input, and a parameter that differs from all others") {
  const Tensor x = ones({2, 3, 4, 4});
  CHECK(said<ShapeError>([&] { batch_norm(x, ones({3}), ones({2}), {}, {}, {}); }) ==
        "batch_norm: expected bias of shape [3], got [2]");
  CHECK(said<DTypeError>([&] {
          layer_norm(ones({2, 3}), {3}, ones({3}, kFloat64));
        }) == "layer_norm: expected input of dtype float64, as weight has, got float32");
  CHECK(said<DTypeError>([&] {
          linear(ones({2, 3}), ones({4, 3}), ones({4}, kFloat64));
        }) == "linear: expected bias of dtype float32, got float64");
}
