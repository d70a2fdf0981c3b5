// accessor<T, N>() and packed_accessor32/64<T, N>().
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include "tests/devices.h"

using namespace ambit;

TEST_CASE("an accessor reads and writes the elements of strided tensors") {
  const Tensor x = arange(6, kFloat).view({2, 3}), t = x.t();
  auto a = t.accessor<float, 2>();
  CHECK(a.size(0) == 3);
  CHECK(a.stride(0) == 1);
  CHECK(a.sizes() == IntArrayRef{3, 2});
  CHECK(a[2][1] == 5);
  a[2][1] = 7;
  CHECK(x[1][2].item<float>() == 7);
  auto row = a[1];
  CHECK(row.data() == x.data_ptr<float>() + 1);
  CHECK(row.sizes() == IntArrayRef{2});
  const Tensor bits = tensor({true, false});
  CHECK(bits.accessor<bool, 1>()[0]);
  float sum = 0;
  for (int64_t i = 0; i < a.size(0); ++i) {
    for (int64_t j = 0; j < a.size(1); ++j) sum += a[i][j];
  }
  CHECK(sum == 17);
}

TEST_CASE("a packed accessor has its own copy of sizes and strides") {
  const Tensor x = arange(24, kDouble).view({2, 3, 4});
  const auto a = x.permute({2, 0, 1}).contiguous();
  const auto p = a.packed_accessor32<double, 3, RestrictPtrTraits>();
  const auto q = a.packed_accessor64<double, 3>();
  static_assert(sizeof p < sizeof q);
  CHECK(p.size(0) == 4);
  CHECK(p[3][1][2] == 23);
  CHECK(q[3][1][2] == 23);
  CHECK(q.stride(0) == 6);
}

TEST_CASE("accessors refuse another dtype, number of dims or device") {
  const Tensor x = ones({2, 3});
  CHECK_THROWS_AS((x.accessor<double, 2>()), DTypeError);
  CHECK_THROWS_WITH_AS((x.accessor<float, 1>()),
                       "accessor: expected a tensor of 1 dims, got shape [2, 3]", ShapeError);
  CHECK_THROWS_AS((x.packed_accessor32<float, 3>()), ShapeError);
  CHECK_THROWS_AS((x.packed_accessor64<long, 2>()), DTypeError);
  const Tensor undefined;
  CHECK_THROWS_AS((undefined.accessor<float, 1>()), Error);
  // One element, expanded to more elements than an int32 can count.
  const Tensor many = ones({1}).expand({int64_t{1} << 31});
  CHECK_THROWS_AS((many.packed_accessor32<float, 1>()), ShapeError);
  CHECK(many.packed_accessor64<float, 1>()[int64_t{1} << 30] == 1);
  for_each_device([](Device device) {
    if (device.is_cpu()) return;
    const Tensor there = ones({2}).to(device);
    CHECK_THROWS_AS((there.accessor<float, 1>()), BackendError);
    CHECK_THROWS_AS((there.packed_accessor32<float, 1>()), BackendError);
  });
}
