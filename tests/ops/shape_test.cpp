// Views and joins: geometry, aliasing, when a view needs a copy, and errors.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include <limits>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

Tensor counted(IntArrayRef sizes, Device d = {}) {
  return arange(count("counted", sizes), TensorOptions(kFloat64).device(d)).view(sizes);
}

bool aliases(const Tensor& a, const Tensor& b) { return a.storage().get() == b.storage().get(); }

}  // namespace

TEST_CASE("view infers -1 and aliases, and refuses impossible strides") {
  for_each_device([](Device d) {
    const Tensor x = counted({2, 3, 4}, d);
    CHECK(aliases(x.view({6, -1}), x));
    CHECK(x.view({-1}).sizes() == IntArrayRef{24});
    CHECK(x.view({2, 3, 2, 2}).strides() == IntArrayRef{12, 4, 2, 1});
    CHECK(counted({0, 3}, d).view({-1, 3}).sizes() == IntArrayRef{0, 3});
    const Tensor t = x.permute({0, 2, 1});
    CHECK_THROWS_AS(t.view({24}), ShapeError);
    CHECK_THROWS_AS(t.view({2, 12}), ShapeError);
    // A dim of the transposed tensor may still be split, or kept.
    check_values(t.view({2, 2, 2, 3}).select(0, 0).select(0, 1), {2, 3}, {2, 6, 10, 3, 7, 11});
    CHECK(aliases(t.view({2, 1, 4, 3}), x));
    CHECK(aliases(x.slice(0, 0, 1).view({12}), x));
    CHECK(aliases(x.narrow(1, 0, 2).view({2, 8}), x));
    CHECK_THROWS_AS(x.narrow(1, 0, 2).view({16}), ShapeError);
    CHECK(aliases(x.select(2, 0).view({6}), x));
    check_values(x.select(2, 0).view({6}), {6}, {0, 4, 8, 12, 16, 20});
  });
  const Tensor x = counted({6});
  CHECK_THROWS_AS(x.view({-1, -1}), ShapeError);
  CHECK_THROWS_AS(x.view({4}), ShapeError);
  CHECK_THROWS_AS(x.view({-2, 3}), ShapeError);
  CHECK_THROWS_AS(x.view({0, -1}), ShapeError);
  CHECK_THROWS_AS(counted({0}).view({-1, 0}), ShapeError);
  CHECK_THROWS_AS(x.view({int64_t{1} << 40, int64_t{1} << 40}), ShapeError);
}

TEST_CASE("reshape copies only where a view is impossible") {
  const Tensor x = counted({2, 3});
  CHECK(aliases(x.reshape({3, 2}), x));
  const Tensor y = x.t().reshape({6});
  CHECK_FALSE(aliases(y, x));
  check_values(y, {6}, {0, 3, 1, 4, 2, 5});
  CHECK(aliases(x.flatten(), x));
  CHECK(x.flatten(1, 1).is_same(x));
  CHECK(counted({2, 3, 4, 5}).flatten(1, 2).sizes() == IntArrayRef{2, 12, 5});
  CHECK(tensor(5).flatten().sizes() == IntArrayRef{1});
  CHECK_THROWS_AS(counted({2, 3}).flatten(1, 0), ShapeError);
}

TEST_CASE("transposes and permutes move dims, negative ones count from the end") {
  for_each_device([](Device d) {
    const Tensor x = counted({2, 3}, d);
    check_values(x.t(), {3, 2}, {0, 3, 1, 4, 2, 5});
    check_values(x.transpose(-1, 0), {3, 2}, {0, 3, 1, 4, 2, 5});
    CHECK(counted({2, 3, 4}, d).permute({-1, 0, 1}).sizes() == IntArrayRef{4, 2, 3});
    CHECK(tensor(3., d).transpose(0, -1).dim() == 0);
    CHECK(tensor({1, 2}, d).t().sizes() == IntArrayRef{2});
    x.t().select(0, 1).fill_(9);
    check_values(x, {2, 3}, {0, 9, 2, 3, 9, 5});
  });
  CHECK_THROWS_AS(counted({2, 3}).transpose(0, 2), IndexError);
  CHECK_THROWS_AS(counted({2, 3}).permute({0, 0}), ShapeError);
  CHECK_THROWS_AS(counted({2, 3}).permute({0}), ShapeError);
  CHECK_THROWS_AS(counted({2, 3, 4}).t(), ShapeError);
}

TEST_CASE("squeeze, unsqueeze and expand change dims of size 1") {
  const Tensor x = counted({1, 3, 1});
  CHECK(x.squeeze().sizes() == IntArrayRef{3});
  CHECK(x.squeeze(0).sizes() == IntArrayRef{3, 1});
  CHECK(x.squeeze(1).sizes() == IntArrayRef{1, 3, 1});
  CHECK(x.squeeze(-1).sizes() == IntArrayRef{1, 3});
  CHECK(x.unsqueeze(-1).sizes() == IntArrayRef{1, 3, 1, 1});
  CHECK(x.unsqueeze(0).sizes() == IntArrayRef{1, 1, 3, 1});
  CHECK(tensor(1).unsqueeze(0).sizes() == IntArrayRef{1});
  CHECK(tensor(1).squeeze(0).dim() == 0);
  const Tensor e = x.expand({2, -1, 2});
  CHECK(e.sizes() == IntArrayRef{2, 3, 2});
  CHECK(e.strides() == IntArrayRef{0, 1, 0});
  check_values(e, {2, 3, 2}, {0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2});
  CHECK(x.expand({4, 1, 3, 1}).sizes() == IntArrayRef{4, 1, 3, 1});
  CHECK(tensor(1).expand({2, 2}).sizes() == IntArrayRef{2, 2});
  CHECK_THROWS_AS(x.expand({2, 4, 2}), ShapeError);
  CHECK_THROWS_AS(x.expand({3}), ShapeError);
  CHECK_THROWS_AS(x.expand({-1, 1, 3, 1}), ShapeError);
  CHECK_THROWS_AS(e.fill_(1), Error);
  CHECK_THROWS_AS(e.copy_(counted({2, 3, 2})), Error);
}

TEST_CASE("select, slice and narrow are views; slices clamp their bounds, selects do not") {
  for_each_device([](Device d) {
    const Tensor x = counted({3, 4}, d);
    check_values(x.select(1, -1), {3}, {3, 7, 11});
    check_values(x[1], {4}, {4, 5, 6, 7});
    check_values(x.slice(1, 1, {}, 2), {3, 2}, {1, 3, 5, 7, 9, 11});
    check_values(x.slice(0, -2, 100), {2, 4}, {4, 5, 6, 7, 8, 9, 10, 11});
    CHECK(x.slice(0, 2, 1).sizes() == IntArrayRef{0, 4});
    CHECK(x.slice(0, 5).sizes() == IntArrayRef{0, 4});
    CHECK(x.slice(1, 0, 4, std::numeric_limits<int64_t>::max()).sizes() == IntArrayRef{3, 1});
    check_values(x.narrow(0, -1, 1), {1, 4}, {8, 9, 10, 11});
    x.slice(1, 0, 1).fill_(-1);
    check_values(x.select(1, 0), {3}, {-1, -1, -1});
  });
  const Tensor x = counted({3, 4});
  CHECK_THROWS_WITH_AS(x.select(0, 3), "select: expected an index in [-3, 3) for dim 0, got 3",
                       IndexError);
  CHECK_THROWS_AS(x.slice(0, 0, 1, 0), Error);
  CHECK_THROWS_AS(x.narrow(0, 2, 2), IndexError);
  CHECK_THROWS_AS(x.narrow(0, 0, -1), IndexError);
  CHECK_THROWS_AS(tensor(1).select(0, 0), ShapeError);
}

TEST_CASE("unbind, split and chunk return views") {
  const Tensor x = counted({5, 2});
  CHECK(x.unbind().size() == 5);
  check_values(x.unbind(1)[1], {5}, {1, 3, 5, 7, 9});
  const std::vector<Tensor> parts = x.split(2);
  REQUIRE(parts.size() == 3);
  CHECK(parts[2].sizes() == IntArrayRef{1, 2});
  CHECK(aliases(parts[1], x));
  CHECK(x.split({1, 4}, 0)[1].sizes() == IntArrayRef{4, 2});
  CHECK(x.chunk(4).size() == 3);  // as torch: ceil(5 / 4) = 2 rows each
  CHECK(x.chunk(7).size() == 5);
  CHECK(zeros({0, 2}).split(3).size() == 1);
  CHECK(zeros({0, 2}).chunk(3).size() == 3);
  CHECK_THROWS_AS(x.split(0), ShapeError);
  CHECK_THROWS_AS(x.split({2, 2}, 0), ShapeError);
  CHECK_THROWS_AS(x.chunk(0), ShapeError);
}

TEST_CASE("as_strided creates any geometry inside of the storage, and none outside") {
  const Tensor x = counted({6});
  check_values(x.as_strided({3, 2}, {1, 2}, 1), {3, 2}, {1, 3, 2, 4, 3, 5});
  check_values(x.slice(0, 2).as_strided({2}, {1}), {2}, {2, 3});
  CHECK(x.as_strided({0}, {99}).numel() == 0);
  CHECK_THROWS_AS(x.as_strided({2}, {6}), ShapeError);
  CHECK_THROWS_AS(x.as_strided({2}, {1}, 5), ShapeError);
  CHECK_THROWS_AS(x.as_strided({2}, {-1}, 3), ShapeError);
  CHECK_THROWS_AS(x.as_strided({2}, {std::numeric_limits<int64_t>::max()}), ShapeError);
  CHECK_THROWS_AS(x.as_strided({2}, {1}, -1), ShapeError);
}

TEST_CASE("cat joins, promotes, and accepts empty 1-D tensors anywhere") {
  for_each_device([](Device d) {
    const Tensor a = counted({2, 2}, d), b = tensor({{10, 11}}, d);
    check_values(cat({a, b}), {3, 2}, {0, 1, 2, 3, 10, 11});
    CHECK(cat({b, a}).dtype() == kFloat64);
    check_values(cat({a, a.t()}, -1), {2, 4}, {0, 1, 0, 2, 2, 3, 1, 3});
    check_values(cat({zeros({0}, d), b}), {1, 2}, {10, 11});
    check_values(cat({b, zeros({0, 2}, d)}), {1, 2}, {10, 11});
    CHECK(cat({zeros({0}, d), zeros({0}, d)}).sizes() == IntArrayRef{0});
    check_values(cat({tensor({true}, d), tensor({2}, d)}), {2}, {1, 2});
  });
  CHECK_THROWS_AS(cat({ones({2, 2}), ones({2})}), ShapeError);
  CHECK_THROWS_AS(cat({ones({2, 2}), ones({2, 3})}), ShapeError);
  CHECK_THROWS_AS(cat({tensor(1), tensor(2)}), ShapeError);
  CHECK_THROWS_AS(cat(std::vector<Tensor>{}), ShapeError);
  CHECK_THROWS_AS(cat({ones({2}), Tensor()}), Error);
}

TEST_CASE("stack adds a dim at any position") {
  for_each_device([](Device d) {
    const Tensor a = tensor({1, 2}, d), b = tensor({3., 4.}, d);
    check_values(stack({a, b}), {2, 2}, {1, 2, 3, 4});
    check_values(stack({a, b}, 1), {2, 2}, {1, 3, 2, 4});
    check_values(stack({a, b}, -1), {2, 2}, {1, 3, 2, 4});
    check_values(stack({tensor(1, d), tensor(2, d)}), {2}, {1, 2});
  });
  CHECK_THROWS_AS(stack({ones({2}), ones({3})}), ShapeError);
  CHECK_THROWS_AS(stack({ones({2})}, 2), IndexError);
}

TEST_CASE("repeat tiles and flip reverses") {
  for_each_device([](Device d) {
    const Tensor x = tensor({{1, 2}, {3, 4}}, d);
    check_values(x.repeat({1, 2}), {2, 4}, {1, 2, 1, 2, 3, 4, 3, 4});
    check_values(tensor({1, 2}, d).repeat({2, 2}), {2, 4}, {1, 2, 1, 2, 1, 2, 1, 2});
    check_values(tensor(5, d).repeat({3}), {3}, {5, 5, 5});
    CHECK(x.repeat({0, 1}).sizes() == IntArrayRef{0, 2});
    check_values(x.flip({0}), {2, 2}, {3, 4, 1, 2});
    check_values(x.flip({0, -1}), {2, 2}, {4, 3, 2, 1});
    check_values(x.flip({}), {2, 2}, {1, 2, 3, 4});
    CHECK_FALSE(aliases(x.flip({}), x));
    CHECK(zeros({0, 2}, d).flip({0}).sizes() == IntArrayRef{0, 2});
    check_values(tensor(5, d).flip({0}), {}, {5});
    for (const DType dtype : {kBool, kInt16, kFloat32, kFloat64}) {
      INFO(std::string(name(dtype)));
      const Tensor long_lines = (arange(3 * 9001) % 7).to(dtype).reshape({3, 9001}).to(d);
      for (const Tensor& t : {long_lines, long_lines.t(), long_lines.narrow(1, 2, 5),
                              long_lines.view({3, 9001, 1}).expand({3, 9001, 2})}) {
        for (int64_t dim = 0; dim < t.dim(); ++dim) {
          const Tensor turned = t.flip({dim}).cpu(), host = t.cpu();
          const int64_t n = t.size(dim);
          CHECK(turned.sizes() == t.sizes());
          for (const int64_t i : {int64_t{0}, n / 2, n - 1}) {
            CHECK(turned.select(dim, i).equal(host.select(dim, n - 1 - i)));
          }
        }
        CHECK(t.flip({0, 1}).cpu().equal(t.flip({0}).flip({1}).cpu()));
      }
    }
    const Tensor cube = arange(24, d).reshape({2, 3, 4});
    for (const Dims& dims : {Dims{0, 2}, Dims{1, 2}, Dims{0, 1, 2}, Dims{2, 0, 1}}) {
      Tensor one_by_one = cube;
      for (const int64_t dim : dims) one_by_one = one_by_one.flip({dim});
      CHECK(cube.flip(dims).cpu().equal(one_by_one.cpu()));
    }
    // Contiguous lines, at positions in any order.
    const Tensor lines = arange(12, d).reshape({3, 4});
    check_values(lines.index_select(1, tensor({3, 1, 1, 2, 0}, d)), {3, 5},
                 {3, 1, 1, 2, 0, 7, 5, 5, 6, 4, 11, 9, 9, 10, 8});
    check_values(lines.index_select(1, tensor({2, 1}, d)), {3, 2}, {2, 1, 6, 5, 10, 9});
  });
  CHECK_THROWS_AS(ones({2, 2}).repeat({2}), ShapeError);
  CHECK_THROWS_AS(ones({2}).repeat({-1}), ShapeError);
  CHECK_THROWS_AS(ones({2, 2}).flip({0, -2}), ShapeError);
}

TEST_CASE("a tensor without elements is contiguous, for any strides") {
  const Tensor x = zeros({0, 3, 2}).transpose(1, 2);
  CHECK(x.is_contiguous());
  CHECK(x.contiguous().is_same(x));
  CHECK(aliases(x.view({0, 6}), x));
  CHECK(zeros({3, 2}).transpose(0, 1).narrow(0, 0, 0).is_contiguous());
  CHECK_FALSE(zeros({3, 2}).transpose(0, 1).is_contiguous());
}

TEST_CASE("sizes beyond any memory and dims of 0-dim tensors are errors") {
  CHECK_THROWS_AS(ones({1}).expand({int64_t{1} << 62, 4}), ShapeError);
  CHECK_THROWS_AS(zeros({0}).chunk(int64_t{1} << 32), ShapeError);
  CHECK_THROWS_AS(tensor(1).size(0), IndexError);
  CHECK_THROWS_AS(tensor(1).stride(-1), IndexError);
}
