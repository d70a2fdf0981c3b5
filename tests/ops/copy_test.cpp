// Copies between dtypes, layouts and devices.
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/random.h>
#include <ambit/ops/shape.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

TEST_CASE("to() returns the same tensor if nothing changes, unless a copy is requested") {
  for_each_device([](Device d) {
    const Tensor x = tensor({1., 2.}, d);
    CHECK(x.to(d).is_same(x));
    CHECK(x.to(kFloat32).is_same(x));
    CHECK(x.to(d, kFloat32).is_same(x));
    CHECK(x.to(TensorOptions()).is_same(x));
    CHECK_FALSE(x.to(d, false, true).is_same(x));
    CHECK(x.to(kFloat64).dtype() == kFloat64);
    CHECK(x.to(TensorOptions(kInt32)).device() == d);
    CHECK(x.type_as(tensor({1})).device() == kCPU);
  });
}

TEST_CASE("every dtype converts to every other, on and between all devices") {
  for_each_device([](Device from) {
    for_each_device([from](Device to) {
      for (const DType a : dtypes::kEvery) {
        for (const DType b : dtypes::kEvery) {
          const Tensor x = tensor({0, 1, 2}, TensorOptions(a).device(from));
          const Tensor y = x.to(to, b);
          INFO(name(x.dtype()), " on ", from.str(), " to ", name(y.dtype()), " on ", to.str());
          CHECK(y.device() == to);
          const double two = x.dtype() == kBool || y.dtype() == kBool ? 1 : 2;
          check_values(y, {3}, {0, 1, two});
        }
      }
    });
  });
}

// x.to(dtype) of these numbers, one by one and in rows of any length, by PyTorch 1.13 on x86-64
TEST_CASE("floats outside of an integer's range convert to the same integer on every device") {
  const double kInf = std::numeric_limits<double>::infinity();
  const std::vector<double> floats{NAN,     kInf,    -kInf,   1e20,   -1e20,   3e9,
                                   -3e9,    0x1p31,  -0x1p31, 0x1p63, 1e10,    300.75,
                                   -300.75, 255.875, -1.5,    -0.875, -0x1p63, 127.0};
  const double kMin32 = -0x1p31, kMin64 = -0x1p63;
  const struct {
    DType dtype;
    std::vector<double> integers;
  } expected[] = {
      {kBool, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
      {kUInt8, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 44, 212, 255, 255, 0, 0, 127}},
      {kInt8, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 44, -44, -1, -1, 0, 0, 127}},
      {kInt16, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 300, -300, 255, -1, 0, 0, 127}},
      {kInt32,
       {kMin32, kMin32, kMin32, kMin32, kMin32, kMin32, kMin32, kMin32, kMin32, kMin32, kMin32, 300,
        -300, 255, -1, 0, kMin32, 127}},
      {kInt64,
       {kMin64, kMin64, kMin64, kMin64, kMin64, 3e9, -3e9, 0x1p31, -0x1p31, kMin64, 1e10, 300, -300,
        255, -1, 0, kMin64, 127}},
  };
  const auto n = static_cast<int64_t>(floats.size());
  std::vector<double> data = floats;
  const Tensor host = from_blob(data.data(), {n}, kFloat64);
  for_each_device([&](Device device) {
    for (const DType from : dtypes::kFloating) {
      for (const auto& [dtype, integers] : expected) {
        INFO(std::string(name(from)), " to ", std::string(name(dtype)));
        const Tensor x = host.to(device, from);
        check_values(x.to(dtype), {n}, integers, 0);
        const Tensor rows = x.repeat({37}).view({37, n}).to(dtype);
        check_values(rows.select(0, 5), {n}, integers, 0);
        check_values(rows.select(0, 36), {n}, integers, 0);
        for (int64_t i = 0; i < n; ++i) {  // each element alone
          check_values(x.narrow(0, i, 1).to(dtype), {1}, {integers[static_cast<size_t>(i)]}, 0);
          Tensor filled = empty({2}, TensorOptions(device).dtype(dtype));
          kernels::fill(filled, floats[static_cast<size_t>(i)]);
          check_values(filled.select(0, 1), {}, {integers[static_cast<size_t>(i)]}, 0);
        }
      }
    }
  });
}

TEST_CASE("copy_ crosses devices with any layout, broadcasting and conversion") {
  for_each_device([](Device from) {
    for_each_device([from](Device to) {
      INFO(from.str(), " to ", to.str());
      const Tensor y = zeros({4, 3}, TensorOptions(kFloat64).device(to));
      const Tensor row = arange(3, from);
      CHECK(y.copy_(row).is_same(y));
      check_values(y, {4, 3}, {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2});
      // a strided slice of a strided view
      const Tensor x = arange(12, TensorOptions(kFloat32).device(from)).view({3, 4});
      y.slice(0, 0, 4, 2).copy_(x.t().slice(0, 1, 4, 2));
      check_values(y, {4, 3}, {1, 5, 9, 0, 1, 2, 3, 7, 11, 0, 1, 2});
      y.copy_(tensor(7., from));
      check_values(y.select(1, 2), {4}, {7, 7, 7, 7});
      zeros({0}, to).copy_(zeros({0}, from));
    });
  });
}

TEST_CASE("non-blocking copies are correct, whichever thread waits for them") {
  for_each_device([](Device d) {
    const Tensor x = arange(1000, kFloat32);
    const Tensor there = x.to(d, /*non_blocking=*/true);
    const Tensor back = there.to(kCPU, /*non_blocking=*/true);
    CHECK(there.to(kCPU, /*non_blocking=*/true).equal(x));
    synchronize(d);
    CHECK(back.equal(x));
    // The transfer reads a contiguous copy of x, which must live until the transfer is complete.
    const Tensor strided = x.view({10, 100}).t().to(d, kFloat64, true);
    synchronize(d);
    CHECK(strided.cpu().equal(x.view({10, 100}).t()));
  });
}

TEST_CASE("contiguous returns itself or a packed copy, clone always a copy") {
  for_each_device([](Device d) {
    const Tensor x = arange(6, d).view({2, 3});
    CHECK(x.contiguous().is_same(x));
    const Tensor y = x.t().contiguous();
    CHECK(y.is_contiguous());
    check_values(y, {3, 2}, {0, 3, 1, 4, 2, 5});
    const Tensor z = x.clone();
    z.fill_(0);
    check_values(x, {2, 3}, {0, 1, 2, 3, 4, 5});
    CHECK(x.expand({2, 2, 3}).clone().is_contiguous());
  });
}

TEST_CASE("item() reads one element from any device") {
  for_each_device([](Device d) {
    CHECK(tensor(2.5, d).item<double>() == 2.5);
    CHECK(tensor({{7}}, d).item<int>() == 7);
    CHECK(tensor(true, d).item<bool>());
    CHECK(arange(6, d).view({2, 3})[1][2].item<int64_t>() == 5);
    CHECK(tensor(1, TensorOptions(kUInt8).device(d)).item().dtype() == kInt64);
    CHECK(tensor(true, d).item().dtype() == kBool);
    CHECK(tensor(1.5, d).item().dtype() == kFloat64);
    CHECK_THROWS_WITH_AS(ones({2}, d).item(),
                         "item: expected a tensor with one element, got shape [2]", ShapeError);
  });
  CHECK_THROWS_AS(ones({}, kMeta).item(), NotImplementedError);
}

TEST_CASE("meta accepts shapes from any device and has no data") {
  const Tensor m = ones({2, 3}).to("meta");
  CHECK(m.sizes() == IntArrayRef{2, 3});
  m.copy_(zeros({3}));
  CHECK_THROWS_AS(m.to(kCPU), NotImplementedError);
  const Tensor x = ones({2, 3});
  CHECK_THROWS_AS(x.copy_(m), NotImplementedError);
  check_values(x, {2, 3}, {1, 1, 1, 1, 1, 1});
}

TEST_CASE("copy_ refuses shapes that do not broadcast and memory that overlaps") {
  const Tensor x = arange(6, kFloat32);
  CHECK_THROWS_WITH_AS(x.copy_(ones({4})),
                       "copy_: expected a shape that broadcasts to [6], got [4]", ShapeError);
  CHECK_THROWS_AS(x.slice(0, 1).copy_(x.slice(0, 0, 5)), Error);
  const auto version = x.version();
  x.copy_(x);
  CHECK(x.version() == version);
  x.copy_(ones({1}));
  CHECK(x.version() == version + 1);
}

TEST_CASE("gradients return to the device and dtype they came from") {
  for_each_device([](Device d) {
    const Tensor x = tensor({1., 2.}, requires_grad());
    (x.to(d, kFloat64) * 3).sum().backward();
    CHECK(x.grad().device() == kCPU);
    CHECK(x.grad().dtype() == kFloat32);
    check_values(x.grad(), {2}, {3, 3});

    const Tensor src = tensor({1., 2.}, requires_grad());
    const Tensor leaf = zeros({3, 2}, TensorOptions(kFloat64).device(d).requires_grad(true));
    const Tensor y = leaf * 1;
    y.copy_(src);
    y.sum().backward();
    check_values(src.grad(), {2}, {3, 3});
    CHECK(src.grad().device() == kCPU);
    check_values(leaf.grad(), {3, 2}, {0, 0, 0, 0, 0, 0});  // zeros, as PyTorch, not undefined
  });
}

TEST_CASE("interleaved views without a common element may be copied to each other") {
  for_each_device([](Device d) {
    const Tensor x = arange(6, kFloat32).to(d).view({3, 2}).clone();
    x.select(1, 0).add_(x.select(1, 1));
    check_values(x, {3, 2}, {1, 1, 5, 3, 9, 5});
    const Tensor y = arange(6, kFloat32).to(d);
    y.slice(0, 0, 6, 2).copy_(y.slice(0, 1, 6, 2));
    check_values(y, {6}, {1, 1, 3, 3, 5, 5});
    const Tensor z = arange(16, kFloat32).to(d).view({4, 4}).clone();
    z.slice(1, 0, 2).copy_(z.slice(1, 2, 4));
    check_values(z.slice(1, 0, 2), {4, 2}, {2, 3, 6, 7, 10, 11, 14, 15});
    CHECK_THROWS_AS(z.slice(1, 0, 2).copy_(z.slice(1, 1, 3)), Error);
    CHECK_THROWS_AS(z.copy_(z.t()), Error);
    CHECK_THROWS_AS(z.slice(0, 0, 3).add_(z.slice(0, 1, 4)), Error);
    CHECK_THROWS_AS(z.div_(z[0][0]), Error);
  });
}
