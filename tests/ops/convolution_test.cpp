// Convolutions in one to three dims, plain and transposed: values and gradients, paddings by name,
// bad calls. conv_test.cpp tests conv2d.
#include <ambit/ambit.h>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

struct Case {
  const char* name;
  Tensor (*convolve)(const Tensor& x, const Tensor& w, const Tensor& b);
  Dims x, w;
  int64_t biases;
  Dims y;
  std::vector<double> expected;
};

// As the lines of Python say, with x = wave(..), w = wave(.., k=0.3), b = wave(.., k=0.2); then
//   t = (y * wave(*y.shape, k=0.9)).sum(); t.backward()
//   g = lambda v: (v.grad * wave(*v.shape, k=0.4)).sum(); t, g(x), g(w), g(b)
const std::vector<Case> kCases{
    {"F.conv1d(x, w, b, 2, 3, 2, 2)",
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return conv1d(x, w, b, 2, 3, 2, 2); },
     {2, 4, 9},
     {6, 2, 3},
     6,
     {2, 6, 6},
     {7.27681214443, 4.79528619841, 12.4035520385, -0.972595871957}},
    {"F.conv1d(x, w, b)",
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return conv1d(x, w, b); },
     {3, 7},
     {2, 3, 4},
     2,
     {2, 4},
     {7.05284600012, -2.09996556556, 8.32886901911, -0.847374759928}},
    {"F.conv3d(x, w, b)",
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return conv3d(x, w, b); },
     {2, 2, 4, 3, 5},
     {3, 2, 2, 3, 2},
     3,
     {2, 3, 3, 1, 4},
     {5.01517616059, -0.928018216311, 3.06875099499, -1.49826765826}},
    {"F.conv3d(x, w, b, (2, 1, 3), (1, 2, 0), (3, 1, 2), 2)",
     [](const Tensor& x, const Tensor& w, const Tensor& b) {
       return conv3d(x, w, b, {2, 1, 3}, {1, 2, 0}, {3, 1, 2}, 2);
     },
     {2, 4, 7, 5, 6},
     {6, 2, 2, 3, 2},
     6,
     {2, 6, 3, 7, 2},
     {-0.0560155524145, -30.7358265309, -0.429885895376, 0.205651788824}},
    {"F.conv3d(x, w, None, 1, 1)",
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return conv3d(x, w, b, 1, 1); },
     {2, 4, 3, 5},
     {3, 2, 2, 3, 2},
     0,
     {3, 5, 3, 6},
     {54.66854103, -4.87164041489, 16.5420189073}},
    {"F.conv_transpose1d(x, w, b, 3, 1, 2, 2, 2)",
     [](const Tensor& x, const Tensor& w, const Tensor& b) {
       return conv_transpose1d(x, w, b, 3, 1, 2, 2, 2);
     },
     {2, 4, 5},
     {4, 3, 3},
     6,
     {2, 6, 17},
     {0.437231529354, 0.249238351571, 0.572449495224, 0.39238680398}},
    {"F.conv_transpose2d(x, w, b, (2, 1), (1, 0), (1, 2), 2, (1, 3))",
     [](const Tensor& x, const Tensor& w, const Tensor& b) {
       return conv_transpose2d(x, w, b, {2, 1}, {1, 0}, {1, 2}, 2, {1, 3});
     },
     {2, 4, 3, 4},
     {4, 3, 3, 2},
     6,
     {2, 6, 6, 9},
     {-7.93744601481, 0.971986140298, 0.153588805272, 0.511623330819}},
    {"F.conv_transpose3d(x, w, b, (2, 1, 3), (1, 2, 0), (1, 0, 2), 2, (1, 2, 1))",
     [](const Tensor& x, const Tensor& w, const Tensor& b) {
       return conv_transpose3d(x, w, b, {2, 1, 3}, {1, 2, 0}, {1, 0, 2}, 2, {1, 2, 1});
     },
     {2, 4, 3, 4, 2},
     {4, 3, 2, 3, 2},
     6,
     {2, 6, 5, 4, 7},
     {3.85455277212, -1.17968766654, -2.76886829444, 1.41515737362}},
    {"F.conv_transpose3d(x, w, b)",
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return conv_transpose3d(x, w, b); },
     {2, 3, 4, 2},
     {2, 3, 2, 3, 2},
     3,
     {3, 4, 6, 3},
     {-2.41139513416, 3.13060727505, -5.43216190231, -0.88851243745}},
    {"F.conv1d(x, w, b, padding='same', dilation=3)",
     [](const Tensor& x, const Tensor& w, const Tensor& b) {
       return conv1d(x, w, b, 1, "same", 3);
     },
     {2, 3, 9},
     {4, 3, 4},
     4,
     {2, 4, 9},
     {-1.20843693728, 1.77241693274, -0.617107106061, -1.46874232874}},
    {"F.conv2d(x, w, b, 1, 'same', (1, 2))",
     [](const Tensor& x, const Tensor& w, const Tensor& b) {
       return conv2d(x, w, b, 1, "same", {1, 2});
     },
     {2, 2, 5, 6},
     {3, 2, 3, 4},
     3,
     {2, 3, 5, 6},
     {2.96910439851, 4.5897888197, 0.890445564755, -0.449615978669}},
    {"F.conv3d(x, w, b, padding='same')",
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return conv3d(x, w, b, 1, "same"); },
     {2, 4, 3, 5},
     {3, 2, 2, 3, 4},
     3,
     {3, 4, 3, 5},
     {-0.431127155815, 2.82169010142, -9.36483370275, 0.0339859365604}},
    {"F.conv2d(x, w, b, (2, 1), 'valid')",
     [](const Tensor& x, const Tensor& w, const Tensor& b) {
       return conv2d(x, w, b, {2, 1}, std::string("valid"));
     },
     {2, 2, 5, 6},
     {3, 2, 3, 4},
     3,
     {2, 3, 2, 3},
     {18.921064952, 9.4892624376, -0.102277949974, -0.248083239084}},
    {"torch.convolution(x, w, b, (2, 1, 1), (1, 1, 0), (1, 1, 1), True, (1, 0, 0), 1)",
     [](const Tensor& x, const Tensor& w, const Tensor& b) {
       return convolution(x, w, b, {2, 1, 1}, {1, 1, 0}, 1, true, {1, 0, 0}, 1);
     },
     {2, 3, 3, 2, 4},
     {3, 2, 2, 3, 2},
     2,
     {2, 2, 5, 2, 5},
     {-7.78063200678, -0.0273073538025, -30.6629519505, 0.396887038129}},
    {"torch.convolution(x, w, b, (2,), (1,), (1,), False, (0,), 1)",
     [](const Tensor& x, const Tensor& w, const Tensor& b) {
       return convolution(x, w, b, 2, 1, 1, false, 0, 1);
     },
     {2, 3, 8},
     {2, 3, 3},
     2,
     {2, 2, 4},
     {-6.4342052406, 0.582913402808, -4.59361650216, -1.19999787439}},
};

}  // namespace

TEST_CASE("convolutions in one to three dims have PyTorch's values and gradients") {
  for_each_device([](Device d) {
    for (const Case& c : kCases) {
      CAPTURE(std::string(c.name));
      const Tensor x = wave(d, c.x).requires_grad_(), w = wave(d, c.w, 0.3).requires_grad_();
      const Tensor b = c.biases > 0 ? wave(d, {c.biases}, 0.2).requires_grad_() : Tensor();
      const Tensor y = c.convolve(x, w, b);
      REQUIRE(y.sizes() == IntArrayRef(c.y));
      const Tensor total = (y * wave(d, c.y, 0.9)).sum();
      total.backward();
      std::vector<Tensor> got{total.detach()};
      for (const Tensor& t : {x, w, b}) {
        if (t.defined()) got.push_back((t.grad() * wave(d, t.sizes(), 0.4)).sum());
      }
      // The bound is for sums of up to a thousand numbers of magnitude 10.
      check_values(stack(got), {static_cast<int64_t>(got.size())}, c.expected, 1e-11);
    }
  });
}

TEST_CASE("convolutions in one and three dims have correct first and second gradients") {
  const auto check = [](TensorFnRef f, IntArrayRef x, IntArrayRef w, int64_t biases) {
    const std::vector<Tensor> in{wave(kCPU, x), wave(kCPU, w, 0.3), wave(kCPU, {biases}, 0.2)};
    gradcheck(f, in);
    gradgradcheck(f, in);
  };
  using In = const std::vector<Tensor>&;
  check(
      [](In in) {
        return conv3d(in[0], in[1], in[2], {2, 1, 1}, {1, 0, 1}, {1, 1, 2}, 2);
      },
      {1, 2, 3, 2, 3}, {2, 1, 2, 2, 2}, 2);
  check(
      [](In in) {
        return conv_transpose3d(in[0], in[1], in[2], {2, 1, 1}, {1, 0, 1}, {1, 0, 0});
      },
      {1, 2, 2, 2, 3}, {2, 1, 2, 1, 2}, 1);
  check([](In in) { return conv1d(in[0], in[1], in[2], 1, "same", 3); }, {2, 5}, {2, 2, 2}, 2);
}

TEST_CASE("float32 convolutions in one and three dims agree with the reference") {
  manual_seed(5);
  const struct {
    Dims x, w;
    ConvParams p;
  } cases[] = {
      {{2, 16, 900}, {32, 16, 5}, {.stride = {2}, .padding = {2}}},
      {{1, 16, 1200}, {16, 16, 9}, {.padding = {8}, .dilation = {2}}},  // split along the line
      {{1, 16, 20, 12, 11}, {32, 16, 3, 3, 3}, {.padding = {1}}},       // split along the depth
      {{9, 16, 6, 7, 8},
       {16, 8, 2, 3, 3},
       {.stride = {2, 1, 2}, .padding = {1, 0, 2}, .groups = 2}},
      {{2, 3, 9, 10, 12}, {5, 3, 3, 3, 3}, {.stride = {1, 2, 3}, .dilation = {2, 1, 1}}},
      {{1, 4, 40, 12, 12}, {16, 4, 3, 1, 1}, {.stride = {3, 1, 1}, .padding = {7, 0, 0}}},
      // The padding exceeds a stride above 1: oneDNN 2.6 writes out of bounds.
      {{1, 18, 4, 3, 58}, {31, 18, 4, 2, 3}, {.stride = {2, 1, 3}, .padding = {3, 0, 2}}},
  };
  for (const auto& c : cases) {
    INFO("input ", str(c.x), " weight ", str(c.w));
    const Tensor x = randn(c.x), w = randn(c.w), b = randn({c.w[0]});
    const Device reference("reference");
    const auto there = [&](const Tensor& t) { return t.to(reference); };
    const auto convolve = [&](const Tensor& in, const Tensor& weight, const Tensor& bias) {
      return convolution(in, weight, bias, c.p.stride, c.p.padding, c.p.dilation, false, 0,
                         c.p.groups);
    };
    const Tensor y = convolve(x, w, b), dy = randn(y.sizes());
    // Sums of thousands of products of normally distributed numbers, each rounded to 2^-24 of the
    // sum.
    const auto close = [](const Tensor& got, const Tensor& expected, double size) {
      CHECK(got.cpu().allclose(expected.cpu(), 1e-4, size * 1e-6));
    };
    close(y, convolve(there(x), there(w), there(b)), 300);
    close(convolution_input_grad(dy, w, x.sizes(), c.p),
          convolution_input_grad(there(dy), there(w), x.sizes(), c.p), 300);
    close(convolution_weight_grad(dy, x, w.sizes(), c.p),
          convolution_weight_grad(there(dy), there(x), w.sizes(), c.p), 1000);
  }
}

TEST_CASE("arguments of convolutions are one number or one for each dim") {
  const Tensor x = wave(kCPU, {1, 2, 4, 5, 6}), w = wave(kCPU, {2, 2, 2, 2, 2});
  const Tensor image = x.select(2, 0), filter = w[0];
  CHECK(conv3d(x, w, {}, 2).equal(conv3d(x, w, {}, {2, 2, 2})));
  CHECK(conv3d(x, w, {}, {.stride = {2}, .padding = {1}}).equal(conv3d(x, w, {}, 2, {1, 1, 1})));
  CHECK(conv2d(image, filter, {}, {2, 1})
            .equal(conv2d(image, filter, {}, ConvParams{.stride = {2, 1}})));
  CHECK(conv2d(image, filter, {}, {}).equal(conv2d(image, filter)));  // default parameters
  CHECK_THROWS_WITH_AS(conv3d(x, w, {}, {2, 1}),
                       "conv3d: expected stride of one or 3 numbers, got [2, 1]", ShapeError);
  CHECK_THROWS_WITH_AS(conv1d(image[0], filter[0], {}, 1, 0, {1, 2}),
                       "conv1d: expected dilation of one number, got [1, 2]", ShapeError);
  CHECK_THROWS_AS(conv3d(x, w, {}, std::vector<int64_t>{1, 1, 1, 1}), Error);
  CHECK_THROWS_WITH_AS(conv2d(image, filter, {}, 1, "full"),
                       "conv2d: expected padding same or valid, got full", Error);
  CHECK_THROWS_WITH_AS(conv2d(image, filter, {}, {1, 2}, "same"),
                       "conv2d: expected stride 1 with padding same, got [1, 2]", ShapeError);
  CHECK_THROWS_WITH_AS(
      conv3d(x, ones({2, 2, 5, 2, 2}, kFloat64)),
      "conv3d: expected padded input depth of at least 5 (weight [2, 2, 5, 2, 2]), got 4",
      ShapeError);
  CHECK_THROWS_WITH_AS(conv3d(x, w[0]), "conv3d: expected weight of 5 dims, got shape [2, 2, 2, 2]",
                       ShapeError);
}

namespace {

Tensor cube() { return ones({1, 2, 4, 4, 4}); }
Tensor block() { return ones({2, 2, 2, 2, 2}); }
Tensor picture() { return ones({1, 2, 6, 6}); }

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      SHAPE(conv3d, ones({4, 4, 4}), block()),
      SHAPE(conv3d, ones({1, 3, 4, 4, 4}), block()),
      SHAPE(conv3d, cube(), picture()),
      SHAPE(conv3d, cube(), block(), ones({3})),
      SHAPE(conv3d, cube(), block(), none(), 0),
      SHAPE(conv3d, cube(), block(), none(), 2, "same"),
      VALUE(conv3d, cube(), block(), none(), 1, "other"),
      DTYPE(conv3d, cube().to(kInt64), block()),
      DTYPE(conv3d, cube(), block().to(kFloat64)),
      DEVICE(conv3d, cube(), block().to("reference")),
      VALUE(conv3d, none(), block()),
      SHAPE(conv_transpose3d, ones({4, 4, 4}), block()),
      SHAPE(conv_transpose3d, ones({1, 3, 4, 4, 4}), block()),
      SHAPE(conv_transpose3d, cube(), block(), ones({3})),
      SHAPE(conv_transpose3d, cube(), block(), none(), 1, 4),
      SHAPE(conv_transpose3d, cube(), block(), none(), 2, 0, 2),
      DTYPE(conv_transpose3d, cube().to(kInt64), block()),
      DEVICE(conv_transpose3d, cube(), block().to("reference")),
      VALUE(conv_transpose3d, none(), block()),
      SHAPE(convolution, picture(), block(), none(), 1, 0, 1, false, 0, 1),
      SHAPE(convolution, cube(), block(), none(), 1, 0, 1, false, 0, 3),
      SHAPE(convolution, cube(), ones({2, 2}), none(), 1, 0, 1, false, 0, 1),
      SHAPE(convolution, cube(), block(), none(), 1, 0, 1, true, 1, 1),
      DTYPE(convolution, cube().to(kInt64), block(), none(), 1, 0, 1, false, 0, 1),
      DEVICE(convolution, cube(), block().to("reference"), none(), 1, 0, 1, false, 0, 1),
      VALUE(convolution, cube(), none(), none(), 1, 0, 1, false, 0, 1),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  const auto one = given(f({1, 2, 4}), f({2, 2, 3}), f({2})),
             two = given(f({1, 2, 4, 4}), f({2, 2, 3, 3}), f({2})),
             three = given(f({1, 2, 4, 4, 4}), f({2, 2, 3, 3, 3}), f({2}));
  return {
      CALL(conv1d, strict, one, t[0], t[1], t[2], 1, 1),
      CALL(conv1d, strict, one, t[0], t[1], t[2], {1}),
      CALL(conv1d, strict, one, t[0], t[1], t[2], 1, "same"),
      CALL(conv2d, strict, two, t[0], t[1], t[2], {1, 1}),
      CALL(conv2d, strict, two, t[0], t[1], t[2], 1, "same"),
      CALL(conv3d, strict, three, t[0], t[1], t[2]),
      CALL(conv3d, strict, three, t[0], t[1], t[2], 1),
      CALL(conv3d, strict, three, t[0], t[1], t[2], {1, 1, 1}),
      CALL(conv3d, strict, three, t[0], t[1], t[2], 1, "same"),
      CALL(conv_transpose3d, strict, three, t[0], t[1], t[2]),
      CALL(convolution, strict, three, t[0], t[1], t[2], 1, 1, 1, false, 0, 1),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

}  // namespace
