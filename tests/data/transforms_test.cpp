// Transforms of samples and of batches, on datasets of the test.
#include <ambit/data/data.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <doctest/doctest.h>

#include <optional>
#include <utility>
#include <vector>

#include "counting.h"

using namespace ambit;
namespace transforms = ambit::data::transforms;
using data::Example;

TEST_CASE("transforms apply in order, to the data or to the whole sample") {
  auto dataset = Counting(4)
                     .map(transforms::TensorLambda<>([](Tensor t) { return t + 1; }))
                     .map(transforms::Lambda<Example<>>(
                         [](Example<> e) { return Example<>(e.data * 10, e.target + 100); }))
                     .map(transforms::Stack<>());
  const std::vector<size_t> indices{2, 0};
  const Example<> batch = dataset.get_batch(indices);
  CHECK(batch.data.equal(tensor({{30., -10.}, {10., 10.}})));
  CHECK(batch.target.equal(tensor({102, 100})));
  CHECK(dataset.size() == 4);
}

TEST_CASE("functions map batches, and samples without targets are stacked") {
  using data::TensorExample;
  struct Rows : data::datasets::Dataset<Rows, TensorExample> {
    TensorExample get(size_t i) override { return full({2}, static_cast<double>(i)); }
    std::optional<size_t> size() const override { return 4; }
  };
  const std::vector<size_t> indices{3, 1};
  auto stacked = Rows()
                     .map(transforms::TensorLambda<void>([](Tensor t) { return t * 2; }))
                     .map(transforms::Stack<TensorExample>());
  const Tensor batch = stacked.get_batch(indices);
  CHECK(batch.equal(tensor({{6., 6.}, {2., 2.}})));
  using Batch = std::vector<TensorExample>;
  auto first = Rows().map(
      transforms::Collate<TensorExample>([](Batch all) { return std::move(all.front()); }));
  CHECK(first.get_batch(indices).data.equal(full({2}, 3.)));
  auto counted = data::datasets::map(
      Rows(), transforms::BatchLambda<Batch, size_t>([](Batch all) { return all.size(); }));
  CHECK(counted.get_batch(indices) == 2);
  struct Sum : transforms::Collation<Tensor, Batch> {
    Tensor apply_batch(Batch all) override { return all[0].data + all[1].data; }
  };
  CHECK(Rows().map(Sum()).get_batch(indices).equal(full({2}, 4.)));
}

TEST_CASE("Normalize subtracts the mean and divides by the deviation of each channel") {
  transforms::Normalize normalize({0.5, 1.0}, {0.5, 2.0});
  const Tensor x = tensor({{{0.0, 1.0}}, {{1.0, 5.0}}}, kFloat32);  // [2,1,2]
  CHECK(normalize(x).equal(tensor({{{-1.0, 1.0}}, {{0.0, 2.0}}}, kFloat32)));
  CHECK(transforms::Normalize(1.0, 2.0)(x).equal((x - 1) / 2));
  CHECK_THROWS_AS(normalize(ones({3, 1, 2})), ShapeError);
  CHECK_THROWS_AS(normalize(ones({2})), ShapeError);
  // PyTorch: (ones(2, 2) - tensor([1.])[:, None, None]) / 2 has sizes [1, 2, 2].
  CHECK(transforms::Normalize(1.0, 2.0)(ones({2, 2})).equal(zeros({1, 2, 2})));
  CHECK_THROWS_AS(transforms::Normalize({0.5}, std::vector{0.5, 0.5}), ShapeError);
  CHECK_THROWS_AS(transforms::Normalize(0.5, 0.0), Error);
}
