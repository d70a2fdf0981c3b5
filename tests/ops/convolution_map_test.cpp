// convolution_map and functions that call it: it equals a convolution followed by an activation, on
// every device, in training too; it propagates NaN; bad calls.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/detail/activation.h>
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "composite.h"
#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

// Cases for each implementation: few and many channels, 1-D and 3-D, split along images and along
// rows, depthwise, and a single image.
struct Case {
  Dims x, w;
  ConvParams p;
};
const std::vector<Case> kCases = {
    {{2, 3, 7, 6}, {4, 3, 3, 2}, {.stride = {2, 1}, .padding = {1, 0}}},
    {{2, 16, 20, 20}, {32, 16, 3, 3}, {.padding = {1, 1}}},
    {{1, 32, 60, 30}, {32, 32, 3, 3}, {.padding = {1, 1}}},
    {{12, 16, 12, 12}, {16, 16, 3, 3}, {}},
    {{2, 8, 9, 8}, {8, 1, 3, 3}, {.padding = {1, 1}, .groups = 8}},
    {{2, 4, 3, 3}, {6, 4, 3, 3}, {}},  // a single pixel
    {{3, 6, 40}, {4, 3, 3}, {.padding = {2}, .dilation = {2}, .groups = 2}},
    {{2, 3, 5, 6, 7}, {4, 3, 3, 2, 3}, {.padding = {1, 0, 2}}},
    {{0, 3, 8, 8}, {6, 3, 3, 3}, {}},
    {{1, 2, 0, 3}, {4, 2, 2, 2}, {.padding = {2, 2}}},  // only padding
};

struct Layer {
  Tensor x, w, b;
};
Layer layer(const Case& c, Device device, DType dtype = kFloat32) {
  manual_seed(static_cast<uint64_t>(c.x[1] + 100 * c.w[0]));
  const auto made = [&](IntArrayRef sizes) { return randn(sizes).to(device, dtype); };
  return {made(c.x), made(c.w), made({c.w[0]})};
}

Tensor convolved(const Tensor& x, const Tensor& w, const Tensor& b, const ConvParams& p) {
  return convolution(x, w, b, p.stride, p.padding, p.dilation, false, 0, p.groups);
}

// Sums of 288 products have the standard deviation 17; libraries may add in another order.
void check_same(const Tensor& fused, const Tensor& composed) {
  CHECK(fused.sizes() == composed.sizes());
  CHECK(fused.allclose(composed, 1e-5, 1e-4));
}

}  // namespace

TEST_CASE("convolution_map is a convolution followed by an activation") {
  for_each_device([](Device d) {
    for (const Case& c : kCases) {
      CAPTURE(str(c.x));
      const Layer o = layer(c, d);
      for (const UnaryOp op : kActivations) {
        CAPTURE(std::string(name(op)));
        check_same(convolution_map(o.x, o.w, o.b, c.p, op),
                   activated(convolved(o.x, o.w, o.b, c.p), op));
        check_same(convolution_map(o.x, o.w, {}, c.p, op),
                   activated(convolved(o.x, o.w, {}, c.p), op));
      }
    }
    const Case& c = kCases[0];
    const Layer o = layer(c, d);
    const Tensor y = convolution_map(o.x, o.w, o.b, c.p, UnaryOp::gelu);
    check_same(convolution_map(o.x[0], o.w, o.b, c.p, UnaryOp::gelu), y[0]);
    check_same(convolution_map(o.x.transpose(2, 3).contiguous().transpose(2, 3), o.w, o.b, c.p,
                               UnaryOp::gelu),
               y);
  });
}

TEST_CASE("a convolution_map reads the result of another, and is read by a third") {
  for_each_device([](Device d) {
    const Case c{{4, 16, 24, 24}, {16, 16, 3, 3}, {.padding = {1, 1}}};
    const Layer o = layer(c, d);
    const Tensor w = o.w * 0.1;
    Tensor fused = o.x, composed = o.x;
    for (int i = 0; i < 3; ++i) {
      fused = convolution_map(fused, w, o.b, c.p, UnaryOp::relu);
      composed = relu(conv2d(composed, w, o.b, c.p));
    }
    check_same(fused, composed);
    check_same(max_pool2d(fused, 2), max_pool2d(composed, 2));
  });
}

TEST_CASE("convolution_map propagates NaN and keeps the sign of zeros") {
  for_each_device([](Device d) {
    for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
      for (const bool tf32 : {false, true}) {
        allow_tf32(tf32);
        for (const Case& c : kCases) {
          if (c.x[0] == 0 || c.x[2] == 0) continue;
          CAPTURE(str(c.x));
          CAPTURE(std::string(name(dtype)));
          const Layer o = layer(c, d, dtype);
          o.b[1].fill_(NAN);
          for (const UnaryOp op : kActivations) {
            CAPTURE(std::string(name(op)));
            const Tensor is_nan = isnan(convolution_map(o.x, o.w, o.b, c.p, op));
            CHECK(is_nan.select(1, 1).all().item<bool>());
            CHECK(is_nan.sum().item<int64_t>() == is_nan.numel() / is_nan.size(1));
          }
        }
        allow_tf32(false);
      }
      // A result of -0 gets the same sign as by conv2d() followed by relu().
      const auto of = [&](double n) {
        return full({1, 1, 1, 1}, n, TensorOptions(dtype).device(d));
      };
      const Tensor zero = conv2d(of(-0.), of(1), Tensor());
      const Tensor y = convolution_map(of(-0.), of(1), {}, {}, UnaryOp::relu);
      CHECK(signbit(y).equal(signbit(relu(zero))));
    }
  });
}

TEST_CASE("convolution_map of float16 and bfloat16 equals float32's within two roundings") {
  for_each_device([](Device d) {
    for (const DType dtype : {kFloat16, kBFloat16}) {
      for (const Case& c : kCases) {
        CAPTURE(str(c.x));
        const Layer o = layer(c, d, dtype);
        const auto wide = [](const Tensor& t) { return t.to(kFloat32); };
        for (const UnaryOp op : kActivations) {
          const Tensor y = convolution_map(o.x, o.w, o.b, c.p, op);
          CHECK(y.dtype() == dtype);
          const Tensor exact = convolution_map(wide(o.x), wide(o.w), wide(o.b), c.p, op);
          // Two roundings of half a unit in the last place: of sums up to 17 * 5, multiplied by a
          // slope of at most 1.13, and of the result.
          const double place = dtype == kFloat16 ? 0x1p-11 : 0x1p-8;
          CHECK(wide(y).allclose(exact, 2.2 * place, 8 * place));
        }
      }
    }
  });
}

TEST_CASE("the composite of convolution_map agrees with the kernels") {
  using namespace composite_test;
  manual_seed(5);
  const Case& c = kCases[0];
  const Tensor y = unwritten(c.p.out_sizes("convolution", c.x, c.w));
  for (const UnaryOp op : kActivations) {
    check_composite(kernels::convolution_map, {y}, {normal(c.x), normal(c.w), normal({c.w[0]})},
                    [&](auto&& f, Tensors& out, const Tensors& in) {
                      f(out[0], in[0], in[1], in[2], c.p, op);
                    });
  }
}

TEST_CASE("convolution_map has correct first and second gradients") {
  for_each_device([](Device d) {
    const ConvParams p{.stride = {2, 1}, .padding = {1, 0}};
    const Tensor x = wave(d, {2, 2, 4, 3}), w = wave(d, {3, 2, 2, 2}, 0.3), b = wave(d, {3}, 1.1);
    for (const UnaryOp op : kActivations) {
      CAPTURE(std::string(name(op)));
      const TensorFn f = [&](const std::vector<Tensor>& in) {
        return convolution_map(in[0], in[1], in.size() > 2 ? in[2] : Tensor(), p, op);
      };
      gradcheck(f, {x, w, b});
      gradgradcheck(f, {x, w, b});
      gradcheck(f, {x[0], w});
    }
    const TensorFn added = [&](const std::vector<Tensor>& in) {
      return cudnn_convolution_add_relu(in[0], in[1], in[2], 0.5, in[3], 1, 0, 1, 1);
    };
    gradcheck(added, {x, w, wave(d, {2, 3, 3, 2}, 0.7), b});
  });
}

TEST_CASE("convolution_map with relu saves its result for the gradient, and detects writes to it") {
  for_each_device([](Device d) {
    const Case& c = kCases[0];
    const Layer o = layer(c, d);
    o.w.requires_grad_();
    convolution_map(o.x, o.w, o.b, c.p, UnaryOp::relu).sum().backward();
    const Tensor grad = o.w.grad().clone();
    o.w.mutable_grad().zero_();
    relu(conv2d(o.x, o.w, o.b, c.p)).sum().backward();
    check_same(grad, o.w.grad());
    const Tensor changed = convolution_map(o.x, o.w, o.b, c.p, UnaryOp::relu);
    {
      const NoGradGuard no_grad;
      changed.add_(1);
    }
    CHECK_THROWS_AS(changed.sum().backward(), AutogradError);
  });
}

TEST_CASE("libtorch's names for a relu after a convolution") {
  for_each_device([](Device d) {
    for (const Case& c : kCases) {
      CAPTURE(str(c.x));
      const Layer o = layer(c, d);
      const Tensor y = convolved(o.x, o.w, o.b, c.p);
      check_same(
          cudnn_convolution_relu(o.x, o.w, o.b, c.p.stride, c.p.padding, c.p.dilation, c.p.groups),
          relu(y));
      manual_seed(9);
      const Tensor z = randn(y.sizes()).to(d);
      const auto added = [&](const std::optional<Scalar>& alpha) {
        return cudnn_convolution_add_relu(o.x, o.w, z, alpha, o.b, c.p.stride, c.p.padding,
                                          c.p.dilation, c.p.groups);
      };
      check_same(added(std::nullopt), relu(y + z));
      check_same(added(-0.5), relu(y - z * 0.5));
    }
  });
}

TEST_CASE("forward_map of convolutions is an activation after forward") {
  for_each_device([](Device d) {
    manual_seed(4);
    const auto check = [&](auto&& conv, const Tensor& x) {
      conv->to(d);
      for (const UnaryOp op : kActivations) {
        check_same(conv->forward_map(x.to(d), op), activated(conv(x.to(d)), op));
      }
    };
    const Tensor image = randn({2, 3, 9, 8});
    check(nn::Conv1d(nn::Conv1dOptions(3, 4, 3).padding(1)), randn({2, 3, 9}));
    check(nn::Conv2d(nn::Conv2dOptions(3, 4, 3).stride(2).bias(false)), image);
    check(nn::Conv2d(nn::Conv2dOptions(3, 4, 3).padding(1).padding_mode(kCircular)), image);
    check(nn::Conv2d(nn::Conv2dOptions(3, 4, 4).padding(kSame)), image);
    check(nn::Conv3d(nn::Conv3dOptions(3, 4, 2)), randn({2, 3, 4, 5, 6}));
  });
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      SHAPE(convolution_map, ones({5, 5}), filter(), {}, {}, UnaryOp::relu),
      SHAPE(convolution_map, ones({1, 3, 5, 5}), filter(), {}, {}, UnaryOp::relu),
      SHAPE(convolution_map, image(), filter(), ones({2}), {}, UnaryOp::relu),
      DTYPE(convolution_map, image(), filter().to(kFloat64), {}, {}, UnaryOp::relu),
      DTYPE(convolution_map, image().to(kInt64), filter().to(kInt64), {}, {}, UnaryOp::gelu),
      DEVICE(convolution_map, there(), filter(), {}, {}, UnaryOp::relu),
      VALUE(convolution_map, none(), filter(), {}, {}, UnaryOp::relu),
      VALUE(convolution_map, image(), none(), {}, {}, UnaryOp::relu),
      VALUE(convolution_map, image(), filter(), {}, {}, UnaryOp::exp),
      SHAPE(cudnn_convolution_relu, ones({5, 5}), filter(), {}, 1, 0, 1, 1),
      DTYPE(cudnn_convolution_relu, image(), filter().to(kFloat64), {}, 1, 0, 1, 1),
      DEVICE(cudnn_convolution_relu, there(), filter(), {}, 1, 0, 1, 1),
      VALUE(cudnn_convolution_relu, image(), none(), {}, 1, 0, 1, 1),
      SHAPE(cudnn_convolution_add_relu, image(), filter(), ones({1, 4, 4, 5}), {}, {}, 1, 0, 1, 1),
      DTYPE(cudnn_convolution_add_relu, image(), filter(), ones({1, 4, 4, 4}, kFloat64), {}, {}, 1,
            0, 1, 1),
      DEVICE(cudnn_convolution_add_relu, there(), filter(), ones({1, 4, 4, 4}), {}, {}, 1, 0, 1, 1),
      VALUE(cudnn_convolution_add_relu, image(), filter(), none(), {}, {}, 1, 0, 1, 1),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  const auto image = [] { return f({1, 2, 3, 3}); };
  const auto filter = [] { return f({2, 2, 2, 2}); };
  return {
      CALL(convolution_map, strict, given(image(), filter(), f({2})), t[0], t[1], t[2], {},
           UnaryOp::relu),
      CALL(cudnn_convolution_relu, strict, given(image(), filter(), f({2})), t[0], t[1], t[2], 1, 0,
           1, 1),
      CALL(cudnn_convolution_add_relu, strict, given(image(), filter(), f({1, 2, 2, 2}), f({2})),
           t[0], t[1], t[2], {}, t[3], 1, 0, 1, 1),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
#define IMAGE o.a.unsqueeze(0).unsqueeze(0)
#define FILTER MADE(IMAGE.narrow(2, 0, 2).narrow(3, 0, 2).contiguous())
  return {
      full_only(RESULT(convolution_map,
                       convolution_map(IMAGE, FILTER, {}, {.padding = {1}}, UnaryOp::relu),
                       convolution_map(IMAGE, FILTER, {}, {.stride = {2}}, UnaryOp::gelu),
                       convolution_map(IMAGE, FILTER, {}, {}, UnaryOp::gelu_tanh))),
      full_only(
          RESULT(cudnn_convolution_relu, cudnn_convolution_relu(IMAGE, FILTER, {}, 1, 0, 1, 1))),
      full_only(
          RESULT(cudnn_convolution_add_relu,
                 cudnn_convolution_add_relu(IMAGE, MADE(FILTER.narrow(2, 0, 1).narrow(3, 0, 1)),
                                            IMAGE, {}, {}, 1, 0, 1, 1))),
  };
#undef IMAGE
#undef FILTER
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
