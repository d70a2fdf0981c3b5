// Datasets, transforms and the loader, on datasets made here.
#include <ambit/data/data.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <ambit/parallel.h>

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

#include "tests/devices.h"

using namespace ambit;
namespace samplers = ambit::data::samplers;
namespace transforms = ambit::data::transforms;
using data::DataLoaderOptions;
using data::Example;

namespace {

// Sample i is ([i, -i], i).
class Counting : public data::datasets::Dataset<Counting> {
 public:
  explicit Counting(size_t size) : size_(size) {}
  Example<> get(size_t i) override {
    const auto v = static_cast<int64_t>(i);
    return {tensor({v, -v}, kFloat32), tensor(v)};
  }
  std::optional<size_t> size() const override { return size_; }

 private:
  size_t size_;
};

// Throws for one sample.
class Failing : public data::datasets::Dataset<Failing> {
 public:
  Example<> get(size_t i) override {
    if (i == 5) throw IndexError("sample 5 is broken");
    return {tensor(static_cast<int64_t>(i)), tensor(static_cast<int64_t>(i))};
  }
  std::optional<size_t> size() const override { return 8; }
};

template <class Loader>
std::vector<std::vector<int64_t>> targets_of(Loader& loader) {
  std::vector<std::vector<int64_t>> out;
  for (auto& batch : loader) {
    out.emplace_back();
    for (int64_t i = 0; i < batch.target.size(0); ++i) {
      out.back().push_back(batch.target[i].template item<int64_t>());
    }
  }
  return out;
}

}  // namespace

TEST_CASE("batches come in order and are the same whatever the number of workers") {
  const std::vector<std::vector<int64_t>> expected{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}};
  for (const size_t workers : {0, 1, 2, 5}) {
    INFO(workers);
    auto loader = data::make_data_loader<samplers::SequentialSampler>(
        Counting(10).map(transforms::Stack<>()),
        DataLoaderOptions().batch_size(4).workers(workers));
    CHECK(targets_of(*loader) == expected);
    CHECK(targets_of(*loader) == expected);  // a second epoch
    const auto first = loader->begin();
    CHECK(first->data.equal(tensor({{0., 0.}, {1., -1.}, {2., -2.}, {3., -3.}})));
  }
}

TEST_CASE("random batches repeat with the seed whatever the number of workers") {
  const auto epochs = [](size_t workers) {
    auto loader = data::make_data_loader(Counting(50).map(transforms::Stack<>()),
                                         samplers::RandomSampler(50, 11),
                                         DataLoaderOptions(8).workers(workers));
    auto first = targets_of(*loader);
    return std::pair(first, targets_of(*loader));
  };
  const auto expected = epochs(0);
  CHECK(expected.first != expected.second);
  CHECK(epochs(2) == expected);
  CHECK(epochs(3) == expected);
}

TEST_CASE("drop_last leaves out a smaller last batch only") {
  const auto batches = [](size_t size) {
    auto loader = data::make_data_loader<samplers::SequentialSampler>(
        Counting(size).map(transforms::Stack<>()),
        DataLoaderOptions().batch_size(4).workers(2).drop_last(true));
    return targets_of(*loader).size();
  };
  CHECK(batches(10) == 2);
  CHECK(batches(8) == 2);
  CHECK(batches(3) == 0);
  CHECK(batches(0) == 0);
}

TEST_CASE("without Stack a batch is a list of samples") {
  auto loader = data::make_data_loader<samplers::SequentialSampler>(Counting(3), 2);
  auto it = loader->begin();
  CHECK(it->size() == 2);
  CHECK((*it)[1].target.item<int64_t>() == 1);
  ++it;
  CHECK(it->size() == 1);
  ++it;
  CHECK(it == loader->end());
}

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

TEST_CASE("Normalize subtracts the mean and divides by the deviation of each channel") {
  transforms::Normalize normalize({0.5, 1.0}, {0.5, 2.0});
  const Tensor x = tensor({{{0.0, 1.0}}, {{1.0, 5.0}}}, kFloat32);  // [2,1,2]
  CHECK(normalize(x).equal(tensor({{{-1.0, 1.0}}, {{0.0, 2.0}}}, kFloat32)));
  CHECK(transforms::Normalize(1.0, 2.0)(x).equal((x - 1) / 2));
  CHECK_THROWS_AS(normalize(ones({3, 1, 2})), ShapeError);
  CHECK_THROWS_AS(normalize(ones({2})), ShapeError);
  CHECK_THROWS_AS(transforms::Normalize({0.5}, std::vector{0.5, 0.5}), ShapeError);
  CHECK_THROWS_AS(transforms::Normalize(0.5, 0.0), Error);
}

TEST_CASE("an exception reaches the caller at its batch, and the loader goes on") {
  for (const size_t workers : {0, 1, 3}) {
    INFO(workers);
    auto loader = data::make_data_loader<samplers::SequentialSampler>(
        Failing().map(transforms::Stack<>()), DataLoaderOptions().batch_size(2).workers(workers));
    for (int epoch = 0; epoch < 2; ++epoch) {
      std::vector<int64_t> seen;
      auto it = loader->begin();
      seen.push_back(it->target[0].item<int64_t>());
      ++it;
      seen.push_back(it->target[0].item<int64_t>());
      CHECK_THROWS_WITH_AS(++it, "sample 5 is broken", IndexError);
      ++it;
      seen.push_back(it->target[0].item<int64_t>());
      ++it;
      CHECK(it == loader->end());
      CHECK(seen == std::vector<int64_t>{0, 2, 6});
    }
  }
}

TEST_CASE("an epoch can be left early, and the next starts at its beginning") {
  auto loader = data::make_data_loader<samplers::SequentialSampler>(
      Counting(1000).map(transforms::Stack<>()), DataLoaderOptions().batch_size(2).workers(3));
  for (int epoch = 0; epoch < 20; ++epoch) {
    int64_t next = 0;
    for (auto& batch : *loader) {
      CHECK(batch.target[0].item<int64_t>() == 2 * next);
      if (++next == epoch % 5) break;
    }
  }
}

TEST_CASE("a loader can be destroyed at any time") {
  for (const int taken : {0, 1, 7}) {
    auto loader = data::make_data_loader<samplers::SequentialSampler>(
        Counting(1000), DataLoaderOptions().batch_size(2).workers(2).max_jobs(8));
    if (taken == 0) continue;  // never iterated: it has no threads yet
    auto it = loader->begin();
    for (int i = 1; i < taken; ++i) ++it;
  }
  auto failing = data::make_data_loader<samplers::SequentialSampler>(
      Failing(), DataLoaderOptions().batch_size(6).workers(2));
  CHECK_THROWS_AS(failing->begin(), IndexError);
}

TEST_CASE("workers make no more batches ahead than max_jobs") {
  // Counts the samples asked for, over all copies of the dataset.
  struct Watched : data::datasets::Dataset<Watched> {
    std::shared_ptr<std::atomic<size_t>> asked = std::make_shared<std::atomic<size_t>>(0);
    Example<> get(size_t i) override {
      ++*asked;
      return {tensor(static_cast<int64_t>(i)), tensor(0)};
    }
    std::optional<size_t> size() const override { return 100; }
  };
  const Watched dataset;
  auto loader = data::make_data_loader<samplers::SequentialSampler>(
      dataset, DataLoaderOptions().batch_size(1).workers(2).max_jobs(3));
  size_t taken = 0;
  for ([[maybe_unused]] auto& batch : *loader) CHECK(*dataset.asked <= ++taken + 2);
  CHECK(*dataset.asked == 100);
}

TEST_CASE("workers record gradients as the thread that iterates does") {
  struct Watched : data::datasets::Dataset<Watched> {
    Example<> get(size_t) override { return {tensor(GradMode::is_enabled()), tensor(0)}; }
    std::optional<size_t> size() const override { return 4; }
  };
  auto loader = data::make_data_loader<samplers::SequentialSampler>(
      Watched().map(transforms::Stack<>()), DataLoaderOptions().batch_size(4).workers(1));
  CHECK(loader->begin()->data.all().item<bool>());
  NoGradGuard no_grad;
  CHECK_FALSE(loader->begin()->data.any().item<bool>());
}

TEST_CASE("batches of any shape come in pinned memory where that is asked for") {
  for_each_device([](Device d) {
    const bool there_is = ones({1}).pin_memory(d).is_pinned(d);  // not on cpu and reference
    for (const size_t workers : {0, 2}) {
      const auto options = DataLoaderOptions().batch_size(4).workers(workers).pin_memory(d);
      auto stacked = data::make_data_loader<samplers::SequentialSampler>(
          Counting(10).map(transforms::Stack<>()), options);
      for (auto& batch : *stacked) {
        CHECK(batch.data.is_pinned(d) == there_is);
        CHECK(batch.target.is_pinned(d) == there_is);
      }
      CHECK(targets_of(*stacked) ==
            std::vector<std::vector<int64_t>>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}});
      auto listed = data::make_data_loader<samplers::SequentialSampler>(Counting(10), options);
      for (const auto& batch : *listed) CHECK(batch.at(0).data.is_pinned(d) == there_is);
    }
  });
}

TEST_CASE("kernels in a worker stay on its thread") {
  struct Watched : data::datasets::Dataset<Watched> {
    Example<> get(size_t) override { return {tensor(get_num_threads()), tensor(0)}; }
    std::optional<size_t> size() const override { return 1; }
  };
  const int before = get_num_threads();
  set_num_threads(3);
  const auto threads_with = [](size_t workers) {
    auto loader = data::make_data_loader<samplers::SequentialSampler>(
        Watched().map(transforms::Stack<>()), DataLoaderOptions(1).workers(workers));
    return loader->begin()->data.item<int>();
  };
  CHECK(threads_with(0) == 3);
  CHECK(threads_with(1) == 1);
  set_num_threads(before);
}

TEST_CASE("each worker has a dataset of its own") {
  // get() is not thread-safe: it fails when two threads are inside one copy.
  struct Private : data::datasets::Dataset<Private> {
    Private() = default;
    Private(const Private&) : Dataset() {}
    Private& operator=(const Private&) { return *this; }
    Example<> get(size_t i) override {
      if (inside_.exchange(true)) throw std::logic_error("shared");
      std::this_thread::yield();
      inside_ = false;
      return {tensor(static_cast<int64_t>(i)), tensor(0)};
    }
    std::optional<size_t> size() const override { return 200; }
    std::atomic<bool> inside_{false};
  };
  auto loader = data::make_data_loader<samplers::SequentialSampler>(
      Private(), DataLoaderOptions().batch_size(1).workers(4));
  size_t batches = 0;
  for ([[maybe_unused]] auto& batch : *loader) ++batches;
  CHECK(batches == 200);
}

TEST_CASE("a loader refuses a batch size of 0 and a dataset without a size") {
  CHECK_THROWS_AS(data::make_data_loader(Counting(3), DataLoaderOptions(0)), Error);
  struct Endless : data::datasets::Dataset<Endless> {
    Example<> get(size_t) override { return {}; }
    std::optional<size_t> size() const override { return {}; }
  };
  CHECK_THROWS_AS(data::make_data_loader(Endless(), 4), Error);
}
