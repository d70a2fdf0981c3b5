// Sizes at the limits of int64 and memory: a typed error at once, no overflow, no hang.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/devices.h"

using namespace ambit;

namespace {

constexpr int64_t kHuge = int64_t{1} << 62;

// A tensor of kHuge elements, expanded from one.
Tensor repeated() { return ones({1}).expand({kHuge}); }

}  // namespace

TEST_CASE("parts that exceed memory are refused before the first is allocated") {
  const Tensor t = repeated();
  CHECK_THROWS_AS(t.unbind(0), OutOfMemoryError);
  CHECK_THROWS_AS(t.split(1, 0), OutOfMemoryError);
  CHECK_THROWS_AS(t.split(1000, 0), OutOfMemoryError);
  CHECK_THROWS_AS(t.chunk(kHuge, 0), OutOfMemoryError);
  CHECK_THROWS_AS(t.chunk(int64_t{1} << 50, 0), OutOfMemoryError);
  CHECK(t.chunk(3, 0).size() == 3);
  CHECK(t.split(kHuge - 1, 0)[1].numel() == 1);
  CHECK(t.split(kHuge, 0).size() == 1);
  CHECK(t.split(INT64_MAX, 0).size() == 1);
}

TEST_CASE("reductions of expanded tensors count elements beyond memory") {
  static constexpr int64_t kMost = INT64_MAX;
  for_each_device([](Device device) {
    const Tensor t = full({1}, 3.0f, device).expand({kMost});
    const double n = 0x1p63;  // kMost as a float
    CHECK(t.sum().item<double>() == 3 * n);
    CHECK(nansum(t).item<double>() == 3 * n);
    CHECK(norm(t, 1).item<double>() == 3 * n);
    // The root of n and the product are rounded: 2^-24 each, together relative 1.2e-7.
    CHECK(norm(t).item<double>() == doctest::Approx(3 * std::sqrt(n)).epsilon(1.2e-7));
    CHECK(t.mean().item<double>() == 3);
    CHECK(t.var().item<double>() == 0);
    CHECK(ambit::std(t, false).item<double>() == 0);
    CHECK(t.max().item<double>() == 3);
    CHECK(std::get<1>(t.min(0)).item<int64_t>() == 0);
    CHECK(t.argmax(0).item<int64_t>() == 0);
    CHECK(ones({1}, TensorOptions(kInt64).device(device)).expand({kMost}).sum().item<int64_t>() ==
          kMost);
    CHECK(ones({2, 1}, device).expand({2, kMost / 2}).prod(1).cpu().equal(ones({2})));
  });
}

TEST_CASE("sizes whose product overflows are refused, also if one of them is 0") {
  const int64_t big = int64_t{1} << 40;
  for (const Dims& sizes : {Dims{0, big, big}, Dims{big, 0, big}, Dims{big, big, 0}}) {
    CHECK_THROWS_AS(zeros(sizes), ShapeError);
    CHECK_THROWS_AS(zeros({0}).view(sizes), ShapeError);
    CHECK_THROWS_AS(zeros({0}).reshape(sizes), ShapeError);
    CHECK_THROWS_AS(zeros({0}).as_strided(sizes, {1, 1, 1}), ShapeError);
  }
  CHECK_THROWS_AS(zeros({0, big, 1}).expand({0, big, big}), ShapeError);
  CHECK(zeros({0, big, 4}).flatten(1, 2).sizes() == IntArrayRef{0, big * 4});
  CHECK(zeros({0, big}).flatten().sizes() == IntArrayRef{0});
}

TEST_CASE("empty tensors with unusual strides have views without overflow") {
  const Tensor t = zeros({0}).as_strided({0, 4}, {1, INT64_MAX / 2});
  CHECK(t.slice(1, 1, 4, 2).sizes() == IntArrayRef{0, 2});
  CHECK(t.select(1, 3).sizes() == IntArrayRef{0});
  CHECK(t.narrow(1, 3, 1).sizes() == IntArrayRef{0, 1});
  CHECK(t.unsqueeze(1).sizes() == IntArrayRef{0, 1, 4});
  CHECK((t.slice(1, 1, 4) + 1).sizes() == IntArrayRef{0, 3});
}

TEST_CASE("cat, eye, one_hot and from_blob at the limits of int64") {
  const Tensor wide = zeros({kHuge, 0});
  CHECK_THROWS_AS(cat({wide, wide}), ShapeError);
  CHECK_THROWS_AS(cat({wide, wide, wide, wide}), ShapeError);
  CHECK(cat({wide, wide}, 1).sizes() == IntArrayRef{kHuge, 0});
  CHECK_THROWS_AS(stack({wide, wide, wide}), ShapeError);
  CHECK(eye(0, INT64_MAX).sizes() == IntArrayRef{0, INT64_MAX});
  CHECK(eye(INT64_MAX, 0).sizes() == IntArrayRef{INT64_MAX, 0});
  CHECK_THROWS_AS(eye(INT64_MAX, 2), ShapeError);
  CHECK_THROWS_AS(one_hot(tensor({INT64_MAX})), ShapeError);
  CHECK_THROWS_AS(one_hot(tensor({INT64_MAX - 1})), Error);
  CHECK(one_hot(zeros({0}, kInt64), kHuge).sizes() == IntArrayRef{0, kHuge});
  CHECK_THROWS_AS(zeros({0, kHuge}).repeat({1, 4}), ShapeError);
  float one = 1;
  CHECK_THROWS_AS(from_blob(&one, {kHuge}), ShapeError);
}

TEST_CASE("pooling of sizes from 2^31 on is refused at once") {
  const Tensor x = ones({1, 1, 4, 4});
  constexpr int64_t kMost = INT32_MAX;
  for (const int64_t n : {kMost + 1, kHuge, INT64_MAX}) {
    CHECK_THROWS_AS(adaptive_avg_pool2d(x, {n, 1}), ShapeError);
    CHECK_THROWS_AS(adaptive_avg_pool2d(x, {2, n}), ShapeError);
    CHECK_THROWS_AS(avg_pool2d(x, {.kernel = {n, n}}), ShapeError);
    CHECK_THROWS_AS(avg_pool2d(x, {.kernel = {n, n}, .padding = {n / 2, n / 2}}), ShapeError);
    CHECK_THROWS_AS(max_pool2d(x, {.kernel = {n, 1}}), ShapeError);
    CHECK_THROWS_AS(max_pool2d(x, {.kernel = {2, 2}, .stride = {n, 1}, .dilation = {n, 1}}),
                    ShapeError);
  }
  const Tensor meta = empty({1, 1, kMost + 1, 1}, kMeta);
  CHECK_THROWS_AS(adaptive_avg_pool2d(meta, {2, 1}), ShapeError);
  CHECK_THROWS_AS(max_pool2d(meta, {.kernel = {2, 1}}), ShapeError);
  CHECK_THROWS_AS(avg_pool2d(meta, {.kernel = {2, 1}}), ShapeError);
  // The tensor has more elements than fit into memory.
  CHECK_THROWS_AS(adaptive_avg_pool2d(x, {kMost, kMost}), Error);
}

TEST_CASE("adaptive pooling to more windows than elements returns means of one or two") {
  for_each_device([](Device device) {
    Tensor x = arange(12, kFloat32).reshape({1, 1, 3, 4}).to(device).requires_grad_();
    const Tensor y = adaptive_avg_pool2d(x, {5, 7});
    // F.adaptive_avg_pool2d(torch.arange(12.).reshape(1, 1, 3, 4), (5, 7))[0, 0, 1:3]
    // (PyTorch 1.13)
    const Tensor right =
        tensor({{2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0}, {4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0}});
    CHECK(y[0][0].slice(0, 1, 3).cpu().allclose(right));
    y.sum().backward();
    CHECK(x.grad().sum().item<float>() == doctest::Approx(35));
    // Many windows need memory only for the output.
    CHECK(adaptive_avg_pool2d(x.detach(), {1, 100'000}).sizes() == IntArrayRef{1, 1, 1, 100'000});
  });
}

TEST_CASE("adaptive pooling to 0 windows has no elements, and a gradient of zeros") {
  for_each_device([](Device device) {
    for (const PerAxis out : {PerAxis{0, 0}, PerAxis{0, 2}, PerAxis{2, 0}, PerAxis{0, 7}}) {
      for (const bool batched : {true, false}) {
        Tensor x = ones(batched ? Dims{2, 3, 4, 4} : Dims{3, 4, 4}, device).requires_grad_();
        const Tensor y = adaptive_avg_pool2d(x, out);
        CHECK(y.sizes() ==
              IntArrayRef(batched ? Dims{2, 3, out[0], out[1]} : Dims{3, out[0], out[1]}));
        y.sum().backward();
        CHECK(x.grad().cpu().equal(zeros(x.sizes())));
      }
    }
    CHECK_THROWS_AS(adaptive_avg_pool2d(ones({2, 3, 0, 4}, device), {0, 0}), ShapeError);
    CHECK_THROWS_AS(adaptive_avg_pool2d(ones({2, 3, 4, 4}, device), {-2, 1}), ShapeError);
  });
}
