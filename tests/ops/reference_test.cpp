// The reference backend's elementwise, reducing, indexing and matrix kernels compared with PyTorch
// 1.13, mostly for special values. Each block quotes the Python code of its values (t =
// torch.tensor, F = torch.nn.functional). Every other backend is compared with the reference.
// reference_layers_test.cpp tests its layers.
#include <ambit/backend/kernels.h>
#include <ambit/error.h>

#include "tests/nn/reference_tensors.h"

using namespace ambit;
using namespace reference_tensors;

namespace {

template <class T>
Tensor unary(UnaryOp op, const Values<T>& x) {
  Tensor y = blank<T>({static_cast<int64_t>(x.size())});
  kernels::unary(y, make<T>(x), op);
  return y;
}
template <class T>
Tensor binary(BinaryOp op, const Values<T>& a, const Values<T>& b) {
  Tensor y = blank<T>({static_cast<int64_t>(a.size())});
  kernels::binary(y, make<T>(a), make<T>(b), op);
  return y;
}

}  // namespace

TEST_CASE("reference copies convert as in PyTorch") {
  // t([-1., 300., -1.5]).to(torch.uint8), .to(torch.int8); NaN to int64; floats to bool
  Tensor bytes = blank<uint8_t>({3}), chars = blank<int8_t>({3}), longs = blank<int64_t>({2}),
         bools = blank<bool>({4});
  kernels::copy(bytes, make<float>({-1.f, 300.f, -1.5f}));
  check_values<uint8_t>(bytes, {255, 44, 255});
  kernels::copy(chars, make<float>({-1.f, 300.f, -1.5f}));
  check_values<int8_t>(chars, {-1, 44, -1});
  kernels::copy(longs, make<double>({kNaN, 1e30}));
  check_values<int64_t>(longs, {INT64_MIN, INT64_MIN});
  kernels::copy(bools, make<float>({0.f, -0.f, kNaNf, 0.5f}));
  check_values<bool>(bools, {0, 0, 1, 1});
}

TEST_CASE("reference fills convert the number") {
  Tensor bytes = blank<uint8_t>({2}), floats = blank<float>({2}), bools = blank<bool>({1});
  kernels::fill(bytes, Scalar(300));
  check_values<uint8_t>(bytes, {44, 44});
  kernels::fill(floats, Scalar(0.1));
  check_values<float>(floats, {0.1f, 0.1f});
  kernels::fill(bools, Scalar(0.5));
  check_values<bool>(bools, {1});
}

TEST_CASE("reference kernels use the strides of operands") {
  const Tensor x = make<int64_t>({0, 1, 2, 3, 4, 5}, {2, 3});
  Tensor y = blank<int64_t>({3, 2});
  const Tensor transposed(
      intrusive_ptr<TensorImpl>(new TensorImpl(x.storage(), {3, 2}, {1, 3}, 0, kInt64)));
  const Tensor repeated(
      intrusive_ptr<TensorImpl>(new TensorImpl(x.storage(), {3, 2}, {0, 0}, 4, kInt64)));
  kernels::binary(y, transposed, repeated, BinaryOp::add);
  check_values<int64_t>(y, {4, 7, 5, 8, 6, 9});
}

TEST_CASE("reference unary ops of NaN, zeros and halves equal PyTorch's") {
  // torch.sign(t([nan, -0., -2.])); torch.relu(t([nan, -0., -2., 3.]))
  check_values<float>(unary<float>(UnaryOp::sign, {kNaNf, -0.f, -2.f}), {0.f, 0.f, -1.f});
  check_values<float>(unary<float>(UnaryOp::relu, {kNaNf, -0.f, -2.f, 3.f}),
                      {kNaNf, -0.f, 0.f, 3.f});
  // torch.round(t([.5, 1.5, 2.5, -.5, -1.5]))
  check_values<float>(unary<float>(UnaryOp::round, {.5f, 1.5f, 2.5f, -.5f, -1.5f}),
                      {0.f, 2.f, 2.f, -0.f, -2.f});
  // F.gelu(t([-2., -.5, 0., 1.5]).double()); F.gelu(t([-inf, inf, nan]))
  check_values<double>(unary<double>(UnaryOp::gelu, {-2, -.5, 0, 1.5}),
                       {-0.04550026389635842, -0.15426876936299344, 0.0, 1.399789198096713},
                       kRounding64);
  check_values<double>(unary<double>(UnaryOp::gelu, {-kInf, kInf, kNaN}), {kNaN, kInf, kNaN});
  // F.gelu(t([-2., -.5, 0., 1.5]).double(), approximate="tanh"), and of t([-inf, inf, nan])
  check_values<double>(unary<double>(UnaryOp::gelu_tanh, {-2, -.5, 0, 1.5}),
                       {-0.04540230591222494, -0.15428599017485606, 0.0, 1.3995715769802328},
                       kRounding64);
  check_values<double>(unary<double>(UnaryOp::gelu_tanh, {-kInf, kInf, kNaN}), {kNaN, kInf, kNaN});
  // torch.sigmoid(t([-100., 100., -745.]).double()); 1/(1+exp(745)) is 0
  check_values<double>(unary<double>(UnaryOp::sigmoid, {-100, 100, -745}),
                       {3.720075976020836e-44, 1.0, 0.0}, kRounding64);
}

TEST_CASE("reference integers overflow modulo their range") {
  // t([-128], dtype=torch.int8).abs(), t([1], dtype=torch.uint8).neg(), t([20], int8).square()
  check_values<int8_t>(unary<int8_t>(UnaryOp::abs, {-128, -3}), {-128, 3});
  check_values<uint8_t>(unary<uint8_t>(UnaryOp::neg, {1, 0}), {255, 0});
  check_values<int8_t>(unary<int8_t>(UnaryOp::square, {20}), {-112});
  // t([200], uint8) + t([100], uint8); t([100], int8) * t([100], int8); t([1 << 62]) * t([2])
  check_values<uint8_t>(binary<uint8_t>(BinaryOp::add, {200}, {100}), {44});
  check_values<int8_t>(binary<int8_t>(BinaryOp::mul, {100}, {100}), {16});
  check_values<int64_t>(binary<int64_t>(BinaryOp::mul, {int64_t{1} << 62}, {2}), {INT64_MIN});
  // torch.pow(t([2, -1, 1, -1, 0, 3, 3]), t([-1, -3, -5, -2, 0, 40, 41]))
  check_values<int64_t>(
      binary<int64_t>(BinaryOp::pow, {2, -1, 1, -1, 0, 3, 3}, {-1, -3, -5, -2, 0, 40, 41}),
      {0, -1, 1, 1, 1, -6289078614652622815, -420491770248316829});
  // t([True, False]) + t([True, False]), t([True, True]) * t([False, True])
  check_values<bool>(binary<bool>(BinaryOp::add, {1, 0}, {1, 0}), {1, 0});
  check_values<bool>(binary<bool>(BinaryOp::mul, {1, 1}, {0, 1}), {0, 1});
}

TEST_CASE("reference divisions have the rounding and sign of PyTorch's") {
  // a, b = t([5., -5., 5., -5.]), t([3., 3., -3., -3.]); a.remainder(b), a.fmod(b),
  // torch.div(a, b, rounding_mode='floor'), torch.div(a, b, rounding_mode='trunc'); the same with
  // int32
  const Values<float> a = {5, -5, 5, -5}, b = {3, 3, -3, -3};
  check_values<float>(binary<float>(BinaryOp::remainder, a, b), {2, 1, -1, -2});
  check_values<float>(binary<float>(BinaryOp::fmod, a, b), {2, -2, 2, -2});
  check_values<float>(binary<float>(BinaryOp::floor_divide, a, b), {1, -2, -2, 1});
  check_values<float>(binary<float>(BinaryOp::trunc_divide, a, b), {1, -1, -1, 1});
  const Values<int32_t> i = {5, -5, 5, -5}, j = {3, 3, -3, -3};
  check_values<int32_t>(binary<int32_t>(BinaryOp::remainder, i, j), {2, 1, -1, -2});
  check_values<int32_t>(binary<int32_t>(BinaryOp::fmod, i, j), {2, -2, 2, -2});
  check_values<int32_t>(binary<int32_t>(BinaryOp::floor_divide, i, j), {1, -2, -2, 1});
  check_values<int32_t>(binary<int32_t>(BinaryOp::trunc_divide, i, j), {1, -1, -1, 1});
  // torch.div(t([1., -1., 0., 1.]), t([0., inf, -1., .1]), rounding_mode='floor')
  check_values<double>(binary<double>(BinaryOp::floor_divide, {1, -1, 0, 1}, {0, kInf, -1, .1}),
                       {kInf, -1, -0., 9});
  // torch.remainder(t([1., inf, -1., 3.]), t([0., 2., inf, nan]))
  check_values<double>(binary<double>(BinaryOp::remainder, {1, kInf, -1, 3}, {0, 2, kInf, kNaN}),
                       {kNaN, kNaN, kInf, kNaN});
}

TEST_CASE("reference integer divisions without a result throw before anything is written") {
  for (const BinaryOp op :
       {BinaryOp::floor_divide, BinaryOp::trunc_divide, BinaryOp::remainder, BinaryOp::fmod}) {
    Tensor y = make<int32_t>({7, 8});
    CHECK_THROWS_AS(kernels::binary(y, y, make<int32_t>({1, 0}), op), Error);
    check_values<int32_t>(y, {7, 8});
  }
  Tensor y = make<int8_t>({5, -128});
  CHECK_THROWS_WITH_AS(kernels::binary(y, y, make<int8_t>({1, -1}), BinaryOp::floor_divide),
                       "floor_divide: expected a quotient that fits int8, got -128 / -1", Error);
  check_values<int8_t>(y, {5, -128});
  // Unlike the quotient, the remainder by -1 always exists (PyTorch's process ends by a signal).
  check_values<int64_t>(binary<int64_t>(BinaryOp::remainder, {INT64_MIN}, {-1}), {0});
  check_values<int64_t>(binary<int64_t>(BinaryOp::fmod, {INT64_MIN}, {-1}), {0});
}

TEST_CASE("reference maximum and minimum propagate NaN of either operand") {
  // torch.maximum(t([nan, 1., 1.]), t([1., nan, 2.]))
  check_values<double>(binary<double>(BinaryOp::maximum, {kNaN, 1, 1}, {1, kNaN, 2}),
                       {kNaN, kNaN, 2});
  check_values<double>(binary<double>(BinaryOp::minimum, {kNaN, 1, 1}, {1, kNaN, 2}),
                       {kNaN, kNaN, 1});
}

TEST_CASE("reference gradients of unary functions equal autograd's") {
  // x = t([nan, 1., -1., 0.], requires_grad=True); torch.relu(x).sum().backward(); x.grad
  check_values<double>(binary<double>(BinaryOp::relu_grad, {1, 1, 1, 1}, {kNaN, 1, -1, 0}),
                       {1, 1, 0, 0});
  // x = t([-2., -.5, 0., 1.5]).double(); F.gelu(x).sum().backward(); x.grad
  check_values<double>(binary<double>(BinaryOp::gelu_grad, {1, 1, 1, 1}, {-2, -.5, 0, 1.5}),
                       {-0.08523180107819692, 0.13250487534383712, 0.5, 1.1274691922299795},
                       kRounding64);
  // The same call with approximate="tanh".
  check_values<double>(binary<double>(BinaryOp::gelu_tanh_grad, {1, 1, 1, 1}, {-2, -.5, 0, 1.5}),
                       {-0.0860992566236183, 0.13263009646535764, 0.5, 1.127710793151433},
                       kRounding64);
}

TEST_CASE("reference comparisons and where accept any dtype") {
  Tensor y = blank<bool>({3});
  kernels::compare(y, make<double>({1, kNaN, 2}), make<double>({1, kNaN, 1}), CompareOp::eq);
  check_values<bool>(y, {1, 0, 0});
  kernels::compare(y, make<double>({1, kNaN, 0}), make<double>({1, 1, 1}), CompareOp::logical_and);
  check_values<bool>(y, {1, 1, 0});
  Tensor z = blank<int16_t>({3});
  kernels::where(z, y, make<int16_t>({1, 2, 3}), make<int16_t>({4, 5, 6}));
  check_values<int16_t>(z, {1, 2, 6});
}

TEST_CASE("reference reductions have identities, promote, and propagate NaN") {
  const Tensor none = blank<float>({0});
  Tensor f = blank<float>({1}), truth = blank<bool>({1}), wide = blank<int64_t>({1});
  kernels::reduce(f, none, ReduceOp::sum);
  check_values<float>(f, {0});
  kernels::reduce(f, none, ReduceOp::prod);
  check_values<float>(f, {1});
  kernels::reduce(truth, none, ReduceOp::all);
  check_values<bool>(truth, {1});
  kernels::reduce(truth, make<float>({kNaNf, 0}), ReduceOp::any);  // t([nan, 0.]).any()
  check_values<bool>(truth, {1});
  kernels::reduce(wide, make<uint8_t>({200, 100}), ReduceOp::sum);  // t([200, 100], uint8).sum()
  check_values<int64_t>(wide, {300});
  kernels::reduce(wide, make<bool>({1, 1, 1}), ReduceOp::sum);
  check_values<int64_t>(wide, {3});
  kernels::reduce(f, make<float>({1, kNaNf, 3}), ReduceOp::max);  // t([1., nan, 3.]).max()
  check_values<float>(f, {kNaNf});
  Tensor y = blank<double>({1, 3, 1});
  kernels::reduce(y, make<double>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {2, 3, 2}),
                  ReduceOp::sum);
  check_values<double>(y, {14, 22, 30});
}

TEST_CASE("reference sums of float32 are accumulated in float64") {
  // In float32 2^24 + 1 is 2^24 again.
  Tensor y = blank<float>({1});
  kernels::reduce(y, make<float>({16777216.f, 1, 1}), ReduceOp::sum);
  check_values<float>(y, {16777218.f});
}

TEST_CASE("reference arg_reduce selects the first of equal elements, and the first NaN") {
  Tensor value = blank<float>({2, 1}), index = blank<int64_t>({2, 1}), none;
  // torch.max(t([[1., nan, 3., nan], [1., 3., 3., 2.]]), 1)
  const Tensor x = make<float>({1, kNaNf, 3, kNaNf, 1, 3, 3, 2}, {2, 4});
  kernels::arg_reduce(value, index, x, 1, true);
  check_values<float>(value, {kNaNf, 3});
  check_values<int64_t>(index, {1, 1});
  kernels::arg_reduce(none, index, x, 1, false);
  check_values<int64_t>(index, {1, 0});
  Tensor i = blank<int64_t>({});
  kernels::arg_reduce(none, i, make<float>({5}, {}), 0, true);
  check_values<int64_t>(i, {0});
}

TEST_CASE("reference cumsum adds along its dim modulo the range") {
  Tensor y = blank<int8_t>({2, 2});
  // t([[100, 1], [100, 2]], dtype=torch.int8).cumsum(0, dtype=torch.int8)
  kernels::scan(y, make<int8_t>({100, 1, 100, 2}, {2, 2}), {}, ScanOp::sum);
  check_values<int8_t>(y, {100, 1, -56, 3});
}

TEST_CASE("reference scans start at either end, with or without the current element") {
  Tensor y = blank<int64_t>({4});
  const Tensor x = make<int64_t>({2, 3, 5, 7}, {4});
  kernels::scan(y, x, {.reverse = true}, ScanOp::prod);
  check_values<int64_t>(y, {210, 105, 35, 7});
  kernels::scan(y, x, {.exclusive = true}, ScanOp::prod);
  check_values<int64_t>(y, {1, 2, 6, 30});
  kernels::scan(y, x, {.reverse = true, .exclusive = true}, ScanOp::sum);
  check_values<int64_t>(y, {15, 12, 7, 0});
}

TEST_CASE("reference gather and scatter use the index along one dim") {
  // torch.arange(6).view(2, 3).gather(1, t([[0, 2], [1, 1]]))
  Tensor y = blank<int64_t>({2, 2});
  const Tensor index = make<int64_t>({0, 2, 1, 1}, {2, 2});
  kernels::gather(y, make<int64_t>({0, 1, 2, 3, 4, 5}, {2, 3}), index, 1);
  check_values<int64_t>(y, {0, 2, 4, 4});
  // torch.zeros(3, 2).scatter_add(0, t([[0, 2], [0, 1], [0, 2]]), t([[1., 2.], [3., 4.],
  // [5., 6.]]))
  Tensor z = make<float>({0, 0, 0, 0, 0, 0}, {3, 2});
  const Tensor rows = make<int64_t>({0, 2, 0, 1, 0, 2}, {3, 2});
  kernels::scatter_add(z, rows, make<float>({1, 2, 3, 4, 5, 6}, {3, 2}), 0);
  check_values<float>(z, {9, 0, 0, 4, 0, 8});
  // torch.zeros(2, 3).scatter(1, t([[2, 0]]), t([[1., 2.]])): fewer rows than self
  Tensor s = make<float>({0, 0, 0, 0, 0, 0}, {2, 3});
  kernels::scatter(s, make<int64_t>({2, 0}, {1, 2}), make<float>({1, 2}, {1, 2}), 1);
  check_values<float>(s, {2, 0, 1, 0, 0, 0});
}

TEST_CASE("reference index_select and index_add read and add whole rows") {
  const Tensor x = make<int64_t>({0, 1, 2, 3, 4, 5}, {2, 3}), index = make<int64_t>({2, 0, 2});
  Tensor y = blank<int64_t>({2, 3});
  kernels::index_select(y, x, index, 1);
  check_values<int64_t>(y, {2, 0, 2, 5, 3, 5});
  Tensor sum = make<int64_t>({10, 10, 10, 10, 10, 10}, {2, 3});
  kernels::index_add(sum, index, x, 1);
  check_values<int64_t>(sum, {11, 10, 12, 14, 10, 18});
}

TEST_CASE("reference index errors have op, index and bounds, and nothing is written") {
  const Tensor x = make<float>({1, 2, 3}), good_then_bad = make<int64_t>({0, 3}),
               negative = make<int64_t>({0, -1});
  Tensor y = make<float>({7, 8});
  CHECK_THROWS_WITH_AS(kernels::gather(y, x, good_then_bad, 0),
                       "gather: expected an index in [0, 3), got 3", IndexError);
  CHECK_THROWS_WITH_AS(kernels::index_select(y, x, negative, 0),
                       "index_select: expected an index in [0, 3), got -1", IndexError);
  check_values<float>(y, {7, 8});
  Tensor z = make<float>({1, 2, 3});
  CHECK_THROWS_AS(kernels::scatter(z, good_then_bad, y, 0), IndexError);
  CHECK_THROWS_AS(kernels::scatter_add(z, negative, y, 0), IndexError);
  CHECK_THROWS_AS(kernels::index_add(z, good_then_bad, y, 0), IndexError);
  check_values<float>(z, {1, 2, 3});
}

TEST_CASE("reference nonzero lists coordinates in row-major order") {
  Tensor y = blank<int64_t>({3, 2});
  kernels::nonzero(y, make<bool>({0, 1, 1, 0, 0, 1}, {2, 3}));
  check_values<int64_t>(y, {0, 1, 0, 2, 1, 2});
}

TEST_CASE("reference matmul overflows modulo the range, and is zero without elements") {
  // t([[200, 100], [1, 2]], dtype=torch.uint8) @ t([[2, 1], [1, 1]], dtype=torch.uint8)
  Tensor y = blank<uint8_t>({1, 2, 2});
  kernels::matmul(y, make<uint8_t>({200, 100, 1, 2}, {1, 2, 2}),
                  make<uint8_t>({2, 1, 1, 1}, {1, 2, 2}));
  check_values<uint8_t>(y, {244, 44, 4, 3});
  kernels::matmul(y, blank<uint8_t>({1, 2, 0}), blank<uint8_t>({1, 0, 2}));
  check_values<uint8_t>(y, {0, 0, 0, 0});
  Tensor z = blank<float>({1, 2});
  kernels::linear(z, make<float>({1, 2}, {1, 2}), make<float>({3, 4, 5, 6}, {2, 2}),
                  make<float>({10, 20}));
  check_values<float>(z, {21, 37});
}
