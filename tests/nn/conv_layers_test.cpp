// Conv1d to Conv3d and ConvTranspose1d to ConvTranspose3d: all options, compared with PyTorch 1.13.
#include <ambit/nn/nn.h>

#include <sstream>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
namespace F = nn::functional;

namespace {

// m.weight.copy_(wave(.., k=.3)); m.bias.copy_(wave(.., k=.2)); x = wave(..); y = m(x, ..)
// t = (y * wave(*y.shape, k=.9)).sum(); t.backward(); g = lambda v: (v.grad * wave(.., k=.4)).sum()
// Expected are t, g(x), g(m.weight), g(m.bias), and how PyTorch prints the module.
template <class Module, class... Args>
void check(Module m, IntArrayRef x_sizes, IntArrayRef y_sizes, const std::vector<double>& expected,
           const std::string& printed, const Args&... args) {
  CAPTURE(printed);
  std::ostringstream os;
  os << *m;
  CHECK(os.str() == printed);
  for_each_device([&](Device d) {
    m->to(d, kFloat64);
    m->zero_grad();
    {
      const NoGradGuard no_grad;
      m->weight.copy_(wave(d, m->weight.sizes(), 0.3));
      if (m->bias.defined()) m->bias.copy_(wave(d, m->bias.sizes(), 0.2));
    }
    const Tensor x = wave(d, x_sizes).requires_grad_();
    const Tensor y = m->forward(x, args...);
    REQUIRE(y.sizes() == y_sizes);
    const Tensor total = (y * wave(d, y.sizes(), 0.9)).sum();
    total.backward();
    std::vector<Tensor> got{total.detach()};
    for (const Tensor& t : {x, m->weight, m->bias}) {
      if (t.defined()) got.push_back((t.grad() * wave(d, t.sizes(), 0.4)).sum());
    }
    // The bound is for sums of up to a thousand numbers of magnitude 10.
    check_values(stack(got), {static_cast<int64_t>(got.size())}, expected, 1e-11);
  });
}

}  // namespace

TEST_CASE("convolution modules have PyTorch's values and gradients, with all paddings") {
  check(nn::Conv1d(nn::Conv1dOptions(2, 3, 4).padding(kSame).dilation(3)), {2, 2, 9}, {2, 3, 9},
        {-1.71475662274, 4.41062706723, 0.0857578656156, 0.0272170051284},
        "Conv1d(2, 3, kernel_size=(4,), stride=(1,), padding=same, dilation=(3,))");
  check(nn::Conv2d(nn::Conv2dOptions(2, 4, {3, 2})
                       .stride({2, 1})
                       .padding({2, 1})
                       .groups(2)
                       .padding_mode(kReflect)),
        {2, 2, 5, 6}, {2, 4, 4, 7},
        {-3.98685882979, -3.53371826435, -1.64020225597, -0.0402608786104},
        "Conv2d(2, 4, kernel_size=(3, 2), stride=(2, 1), padding=(2, 1), groups=2, "
        "padding_mode=reflect)");
  check(nn::Conv2d(
            nn::Conv2dOptions(2, 3, 3).padding(kSame).dilation({1, 2}).padding_mode(kCircular).bias(
                false)),
        {1, 2, 5, 6}, {1, 3, 5, 6}, {3.57010903055, 0.0159718383902, 6.21356877141},
        "Conv2d(2, 3, kernel_size=(3, 3), stride=(1, 1), padding=same, dilation=(1, 2), "
        "bias=False, padding_mode=circular)");
  check(nn::Conv2d(nn::Conv2dOptions(2, 3, {3, 4}).padding(kSame).padding_mode(kReplicate)),
        {1, 2, 5, 6}, {1, 3, 5, 6}, {-10.8462497152, 8.19441781947, 39.4310634791, -0.655443701337},
        "Conv2d(2, 3, kernel_size=(3, 4), stride=(1, 1), padding=same, padding_mode=replicate)");
  check(nn::Conv2d(nn::Conv2dOptions(2, 3, {3, 4}).padding(kValid)), {1, 2, 5, 6}, {1, 3, 3, 3},
        {5.25895152729, -11.9901004315, -14.4390550191, -0.520220320754},
        "Conv2d(2, 3, kernel_size=(3, 4), stride=(1, 1), padding=valid)");
  check(nn::Conv3d(nn::Conv3dOptions(2, 4, {2, 3, 2})
                       .stride({1, 2, 1})
                       .padding({1, 0, 2})
                       .dilation({2, 1, 1})
                       .groups(2)
                       .bias(false)),
        {1, 2, 4, 5, 3}, {1, 4, 4, 2, 6}, {1.75520069843, 0.559175884527, -4.26892444096},
        "Conv3d(2, 4, kernel_size=(2, 3, 2), stride=(1, 2, 1), padding=(1, 0, 2), "
        "dilation=(2, 1, 1), groups=2, bias=False)");
  check(nn::Conv3d(nn::Conv3dOptions(2, 2, {2, 3, 2}).padding({1, 2, 0}).padding_mode(kReplicate)),
        {1, 2, 4, 5, 3}, {1, 2, 5, 7, 2},
        {42.4618509292, 15.5473648446, 9.75291856357, -0.0147725408392},
        "Conv3d(2, 2, kernel_size=(2, 3, 2), stride=(1, 1, 1), padding=(1, 2, 0), "
        "padding_mode=replicate)");
  check(nn::Conv3d(nn::Conv3dOptions(2, 2, 2).padding({2, 1, 1}).padding_mode(kCircular)),
        {1, 2, 4, 5, 3}, {1, 2, 7, 6, 4},
        {27.2181640878, -0.468275386061, 5.5270910544, 0.0277578214336},
        "Conv3d(2, 2, kernel_size=(2, 2, 2), stride=(1, 1, 1), padding=(2, 1, 1), "
        "padding_mode=circular)");
}

TEST_CASE("transposed convolution modules have PyTorch's values and gradients") {
  check(nn::ConvTranspose3d(nn::ConvTranspose3dOptions(4, 2, {2, 3, 2})
                                .stride({2, 1, 3})
                                .padding({1, 0, 1})
                                .output_padding({1, 0, 2})
                                .groups(2)),
        {1, 4, 3, 2, 3}, {1, 2, 5, 4, 8},
        {-0.701758205677, -1.20027214164, -1.55588087676, 0.213396701696},
        "ConvTranspose3d(4, 2, kernel_size=(2, 3, 2), stride=(2, 1, 3), padding=(1, 0, 1), "
        "output_padding=(1, 0, 2), groups=2)");
  check(nn::ConvTranspose1d(nn::ConvTranspose1dOptions(2, 3, 3).stride(3).padding(1)), {2, 2, 4},
        {2, 3, 12}, {-0.938343600199, -0.0832546701852, 0.454882951078, -1.49826765826},
        "ConvTranspose1d(2, 3, kernel_size=(3,), stride=(3,), padding=(1,))", IntArrayRef{12});
  check(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(2, 3, 3).stride(2).padding(1).dilation(2)),
        {1, 2, 4, 3}, {1, 3, 10, 8},
        {-2.81879828768, 2.52338080558, -8.29320975849, 0.158192295211},
        "ConvTranspose2d(2, 3, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), "
        "dilation=(2, 2))",
        IntArrayRef{1, 3, 10, 8});
  check(nn::ConvTranspose3d(nn::ConvTranspose3dOptions(2, 3, 2).stride({2, 3, 1})), {1, 2, 2, 3, 2},
        {1, 3, 5, 10, 3}, {-9.42627183192, 31.2040610107, -57.2011303364, 0.543393161808},
        "ConvTranspose3d(2, 3, kernel_size=(2, 2, 2), stride=(2, 3, 1))", IntArrayRef{5, 10, 3});
}

TEST_CASE("convolution modules accept inputs without images, and name and copy their parameters") {
  const nn::Conv3d m(2, 4, 2);
  const Tensor x = wave(kCPU, {2, 3, 4, 3}).to(kFloat32);
  CHECK(nn::Conv3d(m)->forward(x).equal(nn::Conv3d(m)->forward(x.unsqueeze(0))[0]));
  CHECK(m->named_parameters()["weight"].sizes() == IntArrayRef{4, 2, 2, 2, 2});
  CHECK(m->named_parameters()["bias"].sizes() == IntArrayRef{4});
  const nn::ConvTranspose3d t(nn::ConvTranspose3dOptions(4, 6, {1, 2, 3}).groups(2).bias(false));
  CHECK(t->named_parameters().size() == 1);
  CHECK(t->weight.sizes() == IntArrayRef{4, 3, 1, 2, 3});
  const auto copy = std::dynamic_pointer_cast<nn::ConvTranspose3dImpl>(t->clone());
  REQUIRE(copy);
  CHECK(copy->weight.equal(t->weight));
  CHECK(copy->weight.data_ptr() != t->weight.data_ptr());
  CHECK((*copy->options.kernel_size())[2] == 3);
  CHECK(copy->options.transposed());
  nn::Sequential net(nn::Conv3d(2, 4, 2), t, nn::ReLU());
  CHECK(net->forward(x.unsqueeze(0)).dim() == 5);
}

TEST_CASE("functional convolutions use their options") {
  const Tensor x1 = wave(kCPU, {2, 4, 7}), x2 = wave(kCPU, {2, 4, 5, 6}),
               x3 = wave(kCPU, {2, 4, 3, 4, 5});
  const Tensor w1 = wave(kCPU, {6, 2, 3}), w2 = wave(kCPU, {6, 2, 3, 2}),
               w3 = wave(kCPU, {6, 2, 2, 3, 2}), b = wave(kCPU, {6});
  CHECK(F::conv1d(x1, w1, F::Conv1dFuncOptions().bias(b).stride(2).padding(1).groups(2))
            .equal(conv1d(x1, w1, b, 2, 1, 1, 2)));
  CHECK(F::conv2d(x2, w2, F::Conv2dFuncOptions().padding({1, 2}).dilation({1, 2}).groups(2))
            .equal(conv2d(x2, w2, {}, 1, {1, 2}, {1, 2}, 2)));
  CHECK(F::conv2d(x2, w2, F::Conv2dFuncOptions().padding(kSame).groups(2))
            .equal(conv2d(x2, w2, {}, 1, "same", 1, 2)));
  CHECK(F::conv3d(x3, w3, F::Conv3dFuncOptions().bias(b).padding(kValid).groups(2))
            .equal(conv3d(x3, w3, b, 1, 0, 1, 2)));
  const Tensor v1 = wave(kCPU, {4, 3, 3}), v2 = wave(kCPU, {4, 3, 2, 3}),
               v3 = wave(kCPU, {4, 3, 2, 1, 3});
  CHECK(F::conv_transpose1d(
            x1, v1, F::ConvTranspose1dFuncOptions().stride(3).output_padding(2).groups(2).bias(b))
            .equal(conv_transpose1d(x1, v1, b, 3, 0, 2, 2)));
  CHECK(F::conv_transpose2d(
            x2, v2, F::ConvTranspose2dFuncOptions().stride({2, 1}).padding({1, 0}).dilation(2))
            .equal(conv_transpose2d(x2, v2, {}, {2, 1}, {1, 0}, 0, 1, 2)));
  CHECK(F::conv_transpose3d(x3, v3, F::ConvTranspose3dFuncOptions().padding({0, 0, 1}))
            .equal(conv_transpose3d(x3, v3, {}, 1, {0, 0, 1})));
}

TEST_CASE("convolution modules refuse invalid options at construction") {
  using C = nn::Conv3dOptions;
  using T = nn::ConvTranspose3dOptions;
  CHECK_THROWS_AS(nn::Conv3d(0, 6, 2), Error);
  CHECK_THROWS_AS(nn::Conv3d(C(2, 6, {2, 0, 2})), Error);
  CHECK_THROWS_AS(nn::Conv3d(C(2, 6, 2).padding({0, -1, 0})), Error);
  CHECK_THROWS_WITH_AS(nn::Conv3d(C(4, 6, 2).groups(4)),
                       "Conv3d: expected groups to divide both channels, got 4 groups for 4 and 6 "
                       "channels",
                       Error);
  CHECK_THROWS_WITH_AS(nn::Conv3d(C(4, 6, 2).stride({1, 2, 1}).padding(kSame)),
                       "Conv3d: expected stride 1 with padding same, got 1, 2, 1", Error);
  CHECK_THROWS_AS(C(4, 6, {1, 2}), Error);
  CHECK_THROWS_AS(nn::ConvTranspose3d(T(4, 6, 2).output_padding(-1)), Error);
  CHECK_THROWS_AS(nn::ConvTranspose3d(T(4, 6, 2).padding_mode(kReflect)), Error);
  nn::ConvTranspose3d m(T(2, 3, 2).stride(2));
  CHECK_THROWS_WITH_AS(m(ones({1, 2, 3, 3, 3}), IntArrayRef{6, 8, 6}),
                       "ConvTranspose3d: expected an output_size from 6 to 7, got 8", ShapeError);
  CHECK_THROWS_AS(m(ones({1, 2, 3, 3, 3}), IntArrayRef{6, 6}), ShapeError);
  // output_padding is less than the stride, as in PyTorch, even if the dilation is larger.
  nn::ConvTranspose2d wide(nn::ConvTranspose2dOptions(1, 1, 3).stride(2).dilation(3));
  CHECK(wide(ones({1, 1, 4, 4}), IntArrayRef{14, 13}).sizes() == IntArrayRef{1, 1, 14, 13});
  CHECK_THROWS_WITH_AS(wide(ones({1, 1, 4, 4}), IntArrayRef{13, 15}),
                       "ConvTranspose2d: expected an output_size from 13 to 14, got 15",
                       ShapeError);
  CHECK_THROWS_AS(m(ones({3, 3}), IntArrayRef{6, 6}), ShapeError);
}
