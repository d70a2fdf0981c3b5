// Printing. Every expected text is repr() of the same tensor in PyTorch 1.13:
//   python3 -c 'import torch; print(repr(torch.tensor([[6, 8], [10, 12]])))'
// except for the digit after the name of a grad_fn, which ambit leaves out.
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/shape.h>

#include <doctest/doctest.h>

#include <cmath>
#include <sstream>

#include "tests/devices.h"

using namespace ambit;

TEST_CASE("a sum is printed word for word as in the tutorial") {
  for_each_device([](Device device) {
    const Tensor sum = tensor({{1, 2}, {3, 4}}).to(device) + tensor({{5, 6}, {7, 8}}).to(device);
    std::ostringstream out;
    out << sum;
    const std::string suffix = device.is_cpu() ? ")" : ", device='" + device.str() + "')";
    CHECK(out.str() == "tensor([[ 6,  8],\n        [10, 12]]" + suffix);
  });
}

TEST_CASE("an undefined tensor is printed as undefined") { CHECK(str(Tensor()) == "undefined"); }

TEST_CASE("integers and bool are printed with the same width, in lines of 80 columns") {
  CHECK(str(tensor({{6, 8}, {10, 12}})) ==
        R"(tensor([[ 6,  8],
        [10, 12]]))");
  CHECK(str(tensor({1, -20, 300})) == "tensor([  1, -20, 300])");
  CHECK(str(tensor(7)) == "tensor(7)");
  CHECK(str(tensor({-9223372036854775807, 1})) ==
        "tensor([-9223372036854775807,                    1])");
  CHECK(str(tensor({1, -2}, kInt8)) == "tensor([ 1, -2], dtype=torch.int8)");
  CHECK(str(tensor({{1, 200}}, kUInt8)) == "tensor([[  1, 200]], dtype=torch.uint8)");
  CHECK(str(tensor({1, 2}, kInt32)) == "tensor([1, 2], dtype=torch.int32)");
  CHECK(str(tensor(3, kInt16)) == "tensor(3, dtype=torch.int16)");
  CHECK(str(tensor(true)) == "tensor(True)");
  CHECK(str(tensor({{true, false}, {false, true}})) ==
        R"(tensor([[ True, False],
        [False,  True]]))");
  CHECK(str(arange(40)) ==
        R"(tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,
        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
        36, 37, 38, 39]))");
  CHECK(str(arange(-15, 15).view({1, 30})) ==
        R"(tensor([[-15, -14, -13, -12, -11, -10,  -9,  -8,  -7,  -6,  -5,  -4,  -3,  -2,
          -1,   0,   1,   2,   3,   4,   5,   6,   7,   8,   9,  10,  11,  12,
          13,  14]]))");
  CHECK(str(arange(24).view({2, 3, 4})) ==
        R"(tensor([[[ 0,  1,  2,  3],
         [ 4,  5,  6,  7],
         [ 8,  9, 10, 11]],

        [[12, 13, 14, 15],
         [16, 17, 18, 19],
         [20, 21, 22, 23]]]))");
  CHECK(str(arange(16).view({2, 2, 2, 2})) ==
        R"(tensor([[[[ 0,  1],
          [ 2,  3]],

         [[ 4,  5],
          [ 6,  7]]],


        [[[ 8,  9],
          [10, 11]],

         [[12, 13],
          [14, 15]]]]))");
  CHECK(str(arange(6).view({2, 3}).t()) ==
        R"(tensor([[0, 3],
        [1, 4],
        [2, 5]]))");
  CHECK(str(ones({26}, kInt32)) ==
        R"(tensor([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1], dtype=torch.int32))");
  CHECK(str(ones({2, 40}, kBool)) ==
        R"(tensor([[True, True, True, True, True, True, True, True, True, True, True, True,
         True, True, True, True, True, True, True, True, True, True, True, True,
         True, True, True, True, True, True, True, True, True, True, True, True,
         True, True, True, True],
        [True, True, True, True, True, True, True, True, True, True, True, True,
         True, True, True, True, True, True, True, True, True, True, True, True,
         True, True, True, True, True, True, True, True, True, True, True, True,
         True, True, True, True]]))");
}

TEST_CASE("whole floats end with a point") {
  CHECK(str(tensor({1., 2., 3.})) == "tensor([1., 2., 3.])");
  CHECK(str(tensor(0.)) == "tensor(0.)");
  CHECK(str(tensor({-0., 0., 12.})) == "tensor([-0.,  0., 12.])");
  CHECK(str(tensor({1., 1000.})) == "tensor([   1., 1000.])");
  CHECK(str(tensor({{100., -7.}, {0., 1.}})) ==
        R"(tensor([[100.,  -7.],
        [  0.,   1.]]))");
  CHECK(str(tensor(100000000.)) == "tensor(100000000.)");
  CHECK(str(zeros({2, 2})) ==
        R"(tensor([[0., 0.],
        [0., 0.]]))");
  CHECK(str(arange(30.)) ==
        R"(tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,
        14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27.,
        28., 29.]))");
}

TEST_CASE("floats have four digits") {
  CHECK(str(tensor(3.14)) == "tensor(3.1400)");
  CHECK(str(tensor({{0.5, -1.25}, {3., 100.125}})) ==
        R"(tensor([[  0.5000,  -1.2500],
        [  3.0000, 100.1250]]))");
  CHECK(str(tensor({0.1, 0.25, 99.99999})) == "tensor([  0.1000,   0.2500, 100.0000])");
  CHECK(str(tensor({-0.0001, 0.0999})) == "tensor([-1.0000e-04,  9.9900e-02])");
  CHECK(str(tensor({0., 0.33333})) == "tensor([0.0000, 0.3333])");
  CHECK(str(arange(25.) / 8) ==
        R"(tensor([0.0000, 0.1250, 0.2500, 0.3750, 0.5000, 0.6250, 0.7500, 0.8750, 1.0000,
        1.1250, 1.2500, 1.3750, 1.5000, 1.6250, 1.7500, 1.8750, 2.0000, 2.1250,
        2.2500, 2.3750, 2.5000, 2.6250, 2.7500, 2.8750, 3.0000]))");
  CHECK(str((arange(24.) / 16 - 0.75).view({2, 12})) ==
        R"(tensor([[-0.7500, -0.6875, -0.6250, -0.5625, -0.5000, -0.4375, -0.3750, -0.3125,
         -0.2500, -0.1875, -0.1250, -0.0625],
        [ 0.0000,  0.0625,  0.1250,  0.1875,  0.2500,  0.3125,  0.3750,  0.4375,
          0.5000,  0.5625,  0.6250,  0.6875]]))");
}

TEST_CASE("numbers of different magnitudes are printed in scientific notation") {
  CHECK(str(tensor({1., 1001.})) == "tensor([1.0000e+00, 1.0010e+03])");
  CHECK(str(tensor({1e-5})) == "tensor([1.0000e-05])");
  CHECK(str(tensor({0.00009, 0.05})) == "tensor([9.0000e-05, 5.0000e-02])");
  CHECK(str(tensor({1e9, 2e9})) == "tensor([1.0000e+09, 2.0000e+09])");
  CHECK(str(tensor({-1e-10, 1e10, 0.})) == "tensor([-1.0000e-10,  1.0000e+10,  0.0000e+00])");
  CHECK(str(tensor({0.5, 1000.})) == "tensor([5.0000e-01, 1.0000e+03])");
  CHECK(str(tensor({1e-30, INFINITY, -INFINITY, NAN})) ==
        "tensor([1.0000e-30,        inf,       -inf,        nan])");
  CHECK(str(tensor(1e20)) == "tensor(1.0000e+20)");
  CHECK(str(pow(10., arange(-6., 7.))) ==
        R"(tensor([1.0000e-06, 1.0000e-05, 1.0000e-04, 1.0000e-03, 1.0000e-02, 1.0000e-01,
        1.0000e+00, 1.0000e+01, 1.0000e+02, 1.0000e+03, 1.0000e+04, 1.0000e+05,
        1.0000e+06]))");
}

TEST_CASE("infinities and NaN do not widen") {
  CHECK(str(tensor(NAN)) == "tensor(nan)");
  CHECK(str(tensor({NAN, INFINITY, -INFINITY})) == "tensor([nan, inf, -inf])");
  CHECK(str(tensor({1., INFINITY})) == "tensor([1., inf])");
  CHECK(str(tensor({NAN, 12345.})) == "tensor([   nan, 12345.])");
  CHECK(str(tensor({{0.5, NAN}, {-INFINITY, 2.}})) ==
        R"(tensor([[0.5000,    nan],
        [  -inf, 2.0000]]))");
  CHECK(str(tensor({-NAN, 1.5})) == "tensor([   nan, 1.5000])");
}

TEST_CASE("a dtype other than the default is printed") {
  CHECK(str(tensor({0.1, 0.2}, kFloat64)) == "tensor([0.1000, 0.2000], dtype=torch.float64)");
  CHECK(str(tensor(1., kFloat64)) == "tensor(1., dtype=torch.float64)");
  CHECK(str(arange(0., 10., 1., kFloat64) / 4) ==
        R"(tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000, 1.2500, 1.5000, 1.7500, 2.0000,
        2.2500], dtype=torch.float64))");
  CHECK(str(arange(0, 9, 1, kFloat64).view({1, 9}) + 0.5) ==
        R"(tensor([[0.5000, 1.5000, 2.5000, 3.5000, 4.5000, 5.5000, 6.5000, 7.5000, 8.5000]],
       dtype=torch.float64))");
}

TEST_CASE("tensors without elements show their size") {
  CHECK(str(empty({0})) == "tensor([])");
  CHECK(str(empty({0, 3})) == "tensor([], size=(0, 3))");
  CHECK(str(empty({2, 0, 1}, kInt64)) == "tensor([], size=(2, 0, 1), dtype=torch.int64)");
  CHECK(str(empty({0}, kBool)) == "tensor([], dtype=torch.bool)");
  CHECK(str(empty({0}, kFloat64)) == "tensor([], dtype=torch.float64)");
}

TEST_CASE("more than 1000 elements are summarised") {
  CHECK(str(arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
  CHECK(str(arange(1100.) / 4) ==
        R"(tensor([0.0000e+00, 2.5000e-01, 5.0000e-01,  ..., 2.7425e+02, 2.7450e+02,
        2.7475e+02]))");
  CHECK(str(arange(10000).view({100, 100})) ==
        R"(tensor([[   0,    1,    2,  ...,   97,   98,   99],
        [ 100,  101,  102,  ...,  197,  198,  199],
        [ 200,  201,  202,  ...,  297,  298,  299],
        ...,
        [9700, 9701, 9702,  ..., 9797, 9798, 9799],
        [9800, 9801, 9802,  ..., 9897, 9898, 9899],
        [9900, 9901, 9902,  ..., 9997, 9998, 9999]]))");
  CHECK(str(arange(1200).view({6, 200})) ==
        R"(tensor([[   0,    1,    2,  ...,  197,  198,  199],
        [ 200,  201,  202,  ...,  397,  398,  399],
        [ 400,  401,  402,  ...,  597,  598,  599],
        [ 600,  601,  602,  ...,  797,  798,  799],
        [ 800,  801,  802,  ...,  997,  998,  999],
        [1000, 1001, 1002,  ..., 1197, 1198, 1199]]))");
  CHECK(str(arange(2002).view({1001, 2})) ==
        R"(tensor([[   0,    1],
        [   2,    3],
        [   4,    5],
        ...,
        [1996, 1997],
        [1998, 1999],
        [2000, 2001]]))");
  CHECK(str(arange(1120.).view({7, 2, 80}) + 0.5) ==
        R"(tensor([[[5.0000e-01, 1.5000e+00, 2.5000e+00,  ..., 7.7500e+01,
          7.8500e+01, 7.9500e+01],
         [8.0500e+01, 8.1500e+01, 8.2500e+01,  ..., 1.5750e+02,
          1.5850e+02, 1.5950e+02]],

        [[1.6050e+02, 1.6150e+02, 1.6250e+02,  ..., 2.3750e+02,
          2.3850e+02, 2.3950e+02],
         [2.4050e+02, 2.4150e+02, 2.4250e+02,  ..., 3.1750e+02,
          3.1850e+02, 3.1950e+02]],

        [[3.2050e+02, 3.2150e+02, 3.2250e+02,  ..., 3.9750e+02,
          3.9850e+02, 3.9950e+02],
         [4.0050e+02, 4.0150e+02, 4.0250e+02,  ..., 4.7750e+02,
          4.7850e+02, 4.7950e+02]],

        ...,

        [[6.4050e+02, 6.4150e+02, 6.4250e+02,  ..., 7.1750e+02,
          7.1850e+02, 7.1950e+02],
         [7.2050e+02, 7.2150e+02, 7.2250e+02,  ..., 7.9750e+02,
          7.9850e+02, 7.9950e+02]],

        [[8.0050e+02, 8.0150e+02, 8.0250e+02,  ..., 8.7750e+02,
          8.7850e+02, 8.7950e+02],
         [8.8050e+02, 8.8150e+02, 8.8250e+02,  ..., 9.5750e+02,
          9.5850e+02, 9.5950e+02]],

        [[9.6050e+02, 9.6150e+02, 9.6250e+02,  ..., 1.0375e+03,
          1.0385e+03, 1.0395e+03],
         [1.0405e+03, 1.0415e+03, 1.0425e+03,  ..., 1.1175e+03,
          1.1185e+03, 1.1195e+03]]]))");
  CHECK(str(arange(0, -2000, -1).view({40, 50}).t()) ==
        R"(tensor([[    0,   -50,  -100,  ..., -1850, -1900, -1950],
        [   -1,   -51,  -101,  ..., -1851, -1901, -1951],
        [   -2,   -52,  -102,  ..., -1852, -1902, -1952],
        ...,
        [  -47,   -97,  -147,  ..., -1897, -1947, -1997],
        [  -48,   -98,  -148,  ..., -1898, -1948, -1998],
        [  -49,   -99,  -149,  ..., -1899, -1949, -1999]]))");
  CHECK(str(tensor(1.5).expand({100000, 100000})) ==
        R"(tensor([[1.5000, 1.5000, 1.5000,  ..., 1.5000, 1.5000, 1.5000],
        [1.5000, 1.5000, 1.5000,  ..., 1.5000, 1.5000, 1.5000],
        [1.5000, 1.5000, 1.5000,  ..., 1.5000, 1.5000, 1.5000],
        ...,
        [1.5000, 1.5000, 1.5000,  ..., 1.5000, 1.5000, 1.5000],
        [1.5000, 1.5000, 1.5000,  ..., 1.5000, 1.5000, 1.5000],
        [1.5000, 1.5000, 1.5000,  ..., 1.5000, 1.5000, 1.5000]]))");
  CHECK(str(zeros({1500}, kBool)) == "tensor([False, False, False,  ..., False, False, False])");
}

TEST_CASE("requires_grad and grad_fn are printed") {
  CHECK(str(tensor({1., 2.}).requires_grad_()) == "tensor([1., 2.], requires_grad=True)");
  CHECK(str(arange(13.).requires_grad_()) ==
        R"(tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12.],
       requires_grad=True))");
  CHECK(str((arange(24.) / 16).requires_grad_()) ==
        R"(tensor([0.0000, 0.0625, 0.1250, 0.1875, 0.2500, 0.3125, 0.3750, 0.4375, 0.5000,
        0.5625, 0.6250, 0.6875, 0.7500, 0.8125, 0.8750, 0.9375, 1.0000, 1.0625,
        1.1250, 1.1875, 1.2500, 1.3125, 1.3750, 1.4375], requires_grad=True))");
  CHECK(str(tensor({1., 2.}, kFloat64).requires_grad_() + 1) ==
        "tensor([2., 3.], dtype=torch.float64, grad_fn=<AddBackward0>)");
  CHECK(str(log_softmax(zeros({2}).requires_grad_(), 0)) ==
        "tensor([-0.6931, -0.6931], grad_fn=<LogSoftmaxBackward0>)");
}

TEST_CASE("meta tensors have no values") {
  CHECK(str(empty({2, 3}, "meta")) == "tensor(..., device='meta', size=(2, 3))");
  CHECK(str(empty({2}, TensorOptions(kInt64).device(kMeta))) ==
        "tensor(..., device='meta', size=(2,), dtype=torch.int64)");
  CHECK(str(empty({}, TensorOptions(kBool).device(kMeta))) ==
        "tensor(..., device='meta', size=(), dtype=torch.bool)");
}

TEST_CASE("the dtype is compared with the default dtype") {
  const Tensor single = tensor({0.5}, kFloat32), twofold = tensor({0.5}, kFloat64);
  set_default_dtype(kFloat64);
  CHECK(str(single) == "tensor([0.5000], dtype=torch.float32)");
  CHECK(str(twofold) == "tensor([0.5000])");
  set_default_dtype(kFloat32);
}

TEST_CASE("every device prints the same numbers") {
  for_each_device([](Device device) {
    for (const DType dtype : {kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat32, kFloat64}) {
      const Tensor t = (arange(2000).view({40, 50}) - 1000).to(dtype).t();
      std::string expected = str(t);
      expected.pop_back();
      expected = expected.substr(0, expected.rfind("]]") + 2);
      CHECK(str(t.to(device)).substr(0, expected.size()) == expected);
    }
  });
}
