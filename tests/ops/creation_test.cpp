// Creation of tensors: shapes, dtypes and values of every factory, and overloads for braces.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/random.h>

#include <limits>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

TEST_CASE("tensor() has one dim for each level of braces, and none for a single number") {
  CHECK(tensor(1.5).sizes() == IntArrayRef{});
  CHECK(tensor({1.5}).sizes() == IntArrayRef{1});
  CHECK(tensor({1, 2}).sizes() == IntArrayRef{2});
  CHECK(tensor({{1, 2}, {3, 4}}).sizes() == IntArrayRef{2, 2});
  CHECK(tensor({{1}}).sizes() == IntArrayRef{1, 1});
  CHECK(tensor({{{1, 2, 3}}, {{4, 5, 6}}}).sizes() == IntArrayRef{2, 1, 3});
  CHECK(tensor({}).sizes() == IntArrayRef{0});
  CHECK(tensor({{}, {}}).sizes() == IntArrayRef{2, 0});
  CHECK(tensor(std::vector<double>{1, 2, 3}).sizes() == IntArrayRef{3});
  check_values(tensor({{1, 2}, {3, 4}}), {2, 2}, {1, 2, 3, 4});
  check_values(tensor(std::vector<int>{7, 8}), {2}, {7, 8});
}

// The results are those of libtorch's torch::tensor().
TEST_CASE("tensor() keeps the dtypes of C++ types without literals") {
  CHECK(tensor(std::vector<uint8_t>{1, 200}).dtype() == kUInt8);
  CHECK(tensor(std::vector<uint8_t>{}).dtype() == kUInt8);
  CHECK(tensor(static_cast<int8_t>(-3)).dtype() == kInt8);
  CHECK(tensor({static_cast<int16_t>(1), static_cast<int16_t>(2)}).dtype() == kInt16);
  CHECK(tensor({{Half(1.5f)}}).dtype() == kFloat16);
  CHECK(tensor(std::vector<BFloat16>{BFloat16(2.f)}).dtype() == kBFloat16);
  CHECK(tensor(std::vector<float>{1}).dtype() == kFloat32);
  CHECK(tensor(static_cast<int8_t>(3), kFloat32).dtype() == kFloat32);
  check_values(tensor(std::vector<uint8_t>{1, 200}), {2}, {1, 200});
  // Several types are promoted.
  CHECK(tensor({Scalar(1), Scalar(true)}).dtype() == kInt64);
  CHECK(tensor({TensorData(static_cast<int8_t>(1)), TensorData(static_cast<uint8_t>(2))}).dtype() ==
        kInt16);
  CHECK(tensor({TensorData(Half(1.f)), TensorData(2.5)}).dtype() == kFloat32);
}

TEST_CASE("tensor() is bool, int64 or the default float by the type of the numbers") {
  CHECK(tensor({true, false}).dtype() == kBool);
  CHECK(tensor({true, false}).equal(tensor({1, 0}).to(kBool)));
  CHECK(tensor({1, 2}).dtype() == kInt64);
  CHECK(tensor({1.f, 2.f}).dtype() == kFloat32);
  CHECK(tensor({1, 2.5}).dtype() == kFloat32);
  CHECK(tensor({true, true}).dtype() == kBool);
  CHECK(tensor({}).dtype() == kFloat32);
  CHECK(tensor(std::vector<int>{}).dtype() == kInt64);
  CHECK(tensor({1, 2}, kFloat64).dtype() == kFloat64);
  CHECK(tensor({1.9, -1.9}, kInt32).equal(tensor({1, -1}, kInt32)));
  set_default_dtype(kFloat64);
  CHECK(tensor({1.5}).dtype() == kFloat64);
  CHECK(ones({2}).dtype() == kFloat64);
  set_default_dtype(kFloat32);
}

TEST_CASE("tensor() refuses rows of different lengths and numbers out of range") {
  CHECK_THROWS_WITH_AS(tensor({{1, 2}, {3}}), "tensor: expected rows of one shape, got [2] and [1]",
                       ShapeError);
  CHECK_THROWS_AS(tensor({{1}, 2}), ShapeError);
  CHECK_THROWS_WITH_AS(tensor({300}, kUInt8), "tensor: expected a number that fits uint8, got 300",
                       DTypeError);
}

TEST_CASE("factories fill on every device, in every dtype") {
  for_each_device([](Device d) {
    for (const DType dtype : dtypes::kEvery) {
      INFO(name(dtype));
      const TensorOptions options = TensorOptions(dtype).device(d);
      check_values(zeros({2}, options), {2}, {0, 0});
      check_values(ones({2, 1}, options), {2, 1}, {1, 1});
      check_values(full({3}, true, options), {3}, {1, 1, 1});
      CHECK(empty({2, 3}, options).dtype() == dtype);
      CHECK(empty({2, 3}, options).device() == d);
    }
    check_values(full({2}, 2.5, d), {2}, {2.5, 2.5});
    check_values(zeros({0, 3}, d), {0, 3}, {});
    check_values(scalar_tensor(7, d), {}, {7});
    check_values(eye(2, 3, d), {2, 3}, {1, 0, 0, 0, 1, 0});
    check_values(eye(3, 2, d), {3, 2}, {1, 0, 0, 1, 0, 0});
    check_values(eye(0, d), {0, 0}, {});
  });
}

TEST_CASE("without a dtype full() uses that of the number, scalar_tensor() the default") {
  CHECK(full({1}, true).dtype() == kBool);
  CHECK(full({1}, 3).dtype() == kInt64);
  CHECK(full({1}, 3.0).dtype() == kFloat32);
  CHECK(full({1}, 3.0, kInt8).dtype() == kInt8);
  // PyTorch 2.15: torch.scalar_tensor(3) is float32
  for (const Scalar& number : {Scalar(3), Scalar(true), Scalar(0.5)}) {
    CHECK(scalar_tensor(number).dtype() == kFloat32);
    CHECK(scalar_tensor(number, kInt8).dtype() == kInt8);
  }
}

TEST_CASE("filling checks the range of the number, and negative ones wrap in uint8 as in PyTorch") {
  // torch.full((1,), -1, dtype=torch.uint8) gives 255; 300, 1e30 and NaN overflow.
  CHECK(full({1}, -1, kUInt8).item<int>() == 255);
  CHECK_THROWS_AS(full({1}, 300, kUInt8), DTypeError);
  CHECK_THROWS_AS(full({1}, 1e30, kInt64), DTypeError);
  CHECK_THROWS_AS(full({1}, NAN, kInt32), DTypeError);
  CHECK_THROWS_AS(full({1}, 1e300, kFloat32), DTypeError);
  CHECK(full({1}, INFINITY, kFloat32).item<double>() == INFINITY);
  CHECK(full({1}, std::numeric_limits<int64_t>::min()).item<int64_t>() ==
        std::numeric_limits<int64_t>::min());
  CHECK_THROWS_AS(zeros({1}, kInt8).fill_(200), DTypeError);
}

TEST_CASE("_like() functions use the argument's dtype and device unless options are given") {
  for_each_device([](Device d) {
    const Tensor x = zeros({2, 3}, TensorOptions(kInt32).device(d));
    for (const Tensor& y : {empty_like(x), zeros_like(x), ones_like(x), full_like(x, 4)}) {
      CHECK(y.sizes() == x.sizes());
      CHECK(y.dtype() == kInt32);
      CHECK(y.device() == d);
    }
    CHECK(full_like(x, 4)[1][2].item<int>() == 4);
    CHECK(ones_like(x, kFloat64).dtype() == kFloat64);
    CHECK(ones_like(x, kFloat64).device() == d);
    CHECK(ones_like(x, kCPU).device() == kCPU);
  });
}

TEST_CASE("arange() has PyTorch's values") {
  for_each_device([](Device d) {
    check_values(arange(4, d), {4}, {0, 1, 2, 3});
    check_values(arange(5, 0, -2, d), {3}, {5, 3, 1});
    check_values(arange(0, 1, 0.3, TensorOptions(kFloat64).device(d)), {4}, {0, 0.3, 0.6, 0.9});
    check_values(arange(2, 2, 1, d), {0}, {});
    check_values(arange(3, TensorOptions(kUInt8).device(d)), {3}, {0, 1, 2});
  });
  CHECK(arange(3).dtype() == kInt64);
  CHECK(arange(3.0).dtype() == kFloat32);
  // Beyond 2^53 only integer arithmetic keeps the last digits.
  const int64_t top = std::numeric_limits<int64_t>::max();
  CHECK(arange(top - 2, top).equal(tensor({top - 2, top - 1})));
  const int64_t low = std::numeric_limits<int64_t>::min();
  CHECK(arange(low, top, int64_t{1} << 62).equal(tensor({low, low / 2, int64_t{0}, -(low / 2)})));
  CHECK_THROWS_AS(arange(0, 5, -1), Error);
  CHECK_THROWS_AS(arange(0, 5, 0), Error);
  CHECK_THROWS_AS(arange(0.0, 1e30), Error);
  CHECK_THROWS_AS(arange(300, kUInt8), DTypeError);
}

TEST_CASE("linspace includes both ends exactly") {
  for_each_device([](Device d) {
    check_values(linspace(0, 1, 5, d), {5}, {0, 0.25, 0.5, 0.75, 1});
    check_values(linspace(3, -1, 2, d), {2}, {3, -1});
    check_values(linspace(2, 9, 1, d), {1}, {2});
    check_values(linspace(2, 9, 0, d), {0}, {});
    // torch.linspace(0, 10, 5, dtype=torch.int64)
    check_values(linspace(0, 10, 5, TensorOptions(kInt64).device(d)), {5}, {0, 2, 5, 7, 10});
  });
  CHECK(linspace(0.1, 0.7, 7, kFloat64)[6].item<double>() == 0.7);
  CHECK_THROWS_AS(linspace(0, 1, -1), ShapeError);
  CHECK_THROWS_AS(linspace(0, 1, 3, kBool), DTypeError);
}

TEST_CASE("requires_grad in the options applies to the tensor, only for floats") {
  CHECK(ones({2}, requires_grad()).requires_grad());
  CHECK(tensor({1.5}, requires_grad()).requires_grad());
  CHECK(rand({2}, requires_grad()).requires_grad());
  CHECK_FALSE(ones({2}).requires_grad());
  CHECK_THROWS_AS(ones({2}, dtype(kInt64).requires_grad(true)), Error);
}

TEST_CASE("from_blob uses the caller's memory and calls the deleter at the end") {
  float data[] = {1, 2, 3, 4, 5, 6};
  int freed = 0;
  {
    const Tensor x = from_blob(data, {2, 3}, TensorOptions(), [&](void* p) { freed += p == data; });
    check_values(x, {2, 3}, {1, 2, 3, 4, 5, 6});
    const Tensor row = x[1];
    row.fill_(9);
    CHECK(data[5] == 9);
    CHECK(x.data_ptr<float>() == data);
  }
  CHECK(freed == 1);
  CHECK_THROWS_AS(from_blob(data, {2}, kMeta), Error);
  CHECK_THROWS_AS(from_blob(nullptr, {2}), Error);
  CHECK(from_blob(nullptr, {0}).numel() == 0);
}

TEST_CASE("empty_strided has the given strides, and refuses those that exceed memory") {
  const Tensor x = empty_strided({2, 3}, {1, 2});
  CHECK(x.strides() == IntArrayRef{1, 2});
  CHECK_FALSE(x.is_contiguous());
  x.copy_(arange(6).view({2, 3}));
  check_values(x, {2, 3}, {0, 1, 2, 3, 4, 5});
  CHECK(empty_strided({0, 3}, {7, 9}).numel() == 0);
  CHECK(empty_strided({2, 3}, {0, 1}).storage()->size_bytes() == 3 * sizeof(float));
  CHECK_THROWS_AS(empty_strided({2}, {1, 1}), ShapeError);
  CHECK_THROWS_AS(empty_strided({2}, {-1}), ShapeError);
  CHECK_THROWS_AS(empty_strided({3}, {std::numeric_limits<int64_t>::max()}), ShapeError);
}

TEST_CASE("sizes beyond any memory are refused before an allocation") {
  CHECK_THROWS_WITH_AS(empty({2, -1}), "empty: expected sizes >= 0, got [2, -1]", ShapeError);
  CHECK_THROWS_AS(zeros({int64_t{1} << 40, int64_t{1} << 40}), ShapeError);
  CHECK_THROWS_AS(zeros({int64_t{1} << 62}, kFloat64), ShapeError);
}

TEST_CASE("factories on meta have shapes and no data") {
  for (const Tensor& x :
       {zeros({2, 3}, kMeta), arange(6, kMeta).view({2, 3}), linspace(0, 1, 6, kMeta).view({2, 3}),
        eye(2, 3, kMeta), rand({2, 3}, kMeta), randint(9, {2, 3}, kMeta)}) {
    CHECK(x.sizes() == IntArrayRef{2, 3});
    CHECK(x.is_meta());
    CHECK(x.data_ptr() == nullptr);
  }
}

TEST_CASE("arange checks the range of its values, not of its end") {
  const Tensor x = arange(250, 256, 1, kUInt8);
  CHECK(x.size(0) == 6);
  CHECK(x[5].item<int>() == 255);
  CHECK(arange(-126, -129, -1, kInt8)[2].item<int>() == -128);
  CHECK_THROWS_AS(arange(250, 257, 1, kUInt8), DTypeError);
}

TEST_CASE("tensors like another tensor have its dtype and device unless options are given") {
  for_each_device([](Device d) {
    const Tensor x = ones({2, 3}, TensorOptions(kFloat64).device(d));
    CHECK(x.new_zeros({4}).equal(zeros({4}, x.options())));
    CHECK(x.new_ones({4}, kInt64).equal(ones({4}, TensorOptions(kInt64).device(d))));
    CHECK(x.new_full({2}, 7).equal(full({2}, 7, x.options())));
    CHECK(x.new_empty({5}).options().dtype() == kFloat64);
    CHECK(x.new_empty({5}, TensorOptions().device("reference")).device() == Device("reference"));
    CHECK(x.new_empty_strided({2, 3}, {1, 2}).strides() == IntArrayRef{1, 2});
    CHECK(x.toType(kInt64).dtype() == kInt64);
    CHECK(x.to(std::string("reference")).device() == Device("reference"));
    CHECK(x.meta().is_meta());
    Tensor y = zeros({1}, x.options());
    y.set_(x);
    CHECK(y.is_set_to(x));
    CHECK_FALSE(y.is_set_to(x[0]));
    CHECK(x.conj().is_set_to(x));
  });
}

TEST_CASE("invalid sequences are refused, and empty ones returned, at once") {
  CHECK(tril_indices(INT64_MAX / 4, 0).sizes() == IntArrayRef{2, 0});
  CHECK(logspace(0, 1, 1'000'000'000'000, 10, kMeta).size(0) == 1'000'000'000'000);
  CHECK(range(INT64_MIN, INT64_MAX, int64_t{1} << 62, kInt64).size(0) >= 4);
  CHECK_THROWS_AS(logspace(0, 2, 3, -2, kUInt8), Error);
}

TEST_CASE("a bool whose byte is not 1 counts once") {
  uint8_t bytes[] = {255, 0, 2, 1};  // a kernel must not read these as bool, which UBSan reports
  const Tensor mask = from_blob(bytes, {4}, TensorOptions(kBool));
  for_each_device([&](Device d) {
    CHECK(nonzero(mask.to(d)).cpu().equal(tensor({{0}, {2}, {3}}, kInt64)));
    CHECK(arange(4).to(d).index({mask.to(d)}).cpu().equal(tensor({0, 2, 3}, kInt64)));
    CHECK(masked_select(arange(4).to(d), mask.to(d)).sizes() == IntArrayRef{3});
  });
}
