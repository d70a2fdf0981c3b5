// The loader: batches of different datasets and samplers, and iterators.
// data_loader_workers_test.cpp tests workers.
#include <ambit/data/data.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "counting.h"

using namespace ambit;
namespace samplers = ambit::data::samplers;
namespace transforms = ambit::data::transforms;
using data::DataLoaderOptions;
using data::Example;

TEST_CASE("batches have the same order for any number of workers") {
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

TEST_CASE("random batches repeat with the seed for any number of workers") {
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

TEST_CASE("drop_last drops only a smaller last batch") {
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

TEST_CASE("an epoch can be abandoned, and the next starts at its beginning") {
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

TEST_CASE("incrementing and reading an iterator past the end are errors") {
  for (const size_t workers : {0, 2}) {
    auto loader = data::make_data_loader<samplers::SequentialSampler>(
        Counting(2), DataLoaderOptions(2).workers(workers));
    auto it = loader->begin();
    auto same = it;
    CHECK(it == same);
    CHECK(it != loader->end());
    ++it;
    CHECK(it == loader->end());
    CHECK(same == loader->end());
    CHECK(loader->end() == loader->end());
    CHECK_THROWS_WITH_AS(*it, doctest::Contains("before the end to dereference"), Error);
    CHECK_THROWS_WITH_AS(++it, doctest::Contains("before the end to increment"), Error);
    CHECK_THROWS_AS(static_cast<void>(it->size()), Error);
    auto end = loader->end();
    CHECK_THROWS_AS(*end, Error);
    CHECK_THROWS_AS(++end, Error);
    std::vector<std::vector<Example<>>> copied;
    std::copy(loader->begin(), loader->end(), std::back_inserter(copied));
    CHECK(copied.size() == 1);
  }
}

// As in libtorch 2.15, an iterator equals only its copies, and an exhausted one equals end().
TEST_CASE("iterators of two calls of begin() are never equal") {
  for (const size_t workers : {0, 2}) {
    auto loader = data::make_data_loader<samplers::SequentialSampler>(
        Counting(2), DataLoaderOptions(2).workers(workers));
    auto first = loader->begin(), second = loader->begin();
    CHECK(first != second);
    const auto copy = second;
    CHECK(copy == second);
    CHECK(copy != first);
    ++second;
    CHECK(copy == second);
    CHECK(first != second);
    CHECK(second == loader->end());
    CHECK(loader->end() == second);
  }
}

TEST_CASE("a dataset with a const member, and one that cannot be copied, are loaded") {
  struct Const : data::datasets::Dataset<Const> {
    explicit Const(size_t n) : size_(n) {}
    Example<> get(size_t i) override { return {tensor(int64_t(i)), tensor(int64_t(i))}; }
    std::optional<size_t> size() const override { return size_; }
    const size_t size_;
  };
  struct Unique : data::datasets::Dataset<Unique> {
    Example<> get(size_t i) override { return {tensor(int64_t(i)), tensor(int64_t(i))}; }
    std::optional<size_t> size() const override { return 3; }
    std::unique_ptr<int> only;
  };
  for (const size_t workers : {0, 2}) {
    auto loader = data::make_data_loader<samplers::SequentialSampler>(
        Const(3).map(transforms::Stack<>()), DataLoaderOptions(2).workers(workers));
    CHECK(targets_of(*loader) == std::vector<std::vector<int64_t>>{{0, 1}, {2}});
  }
  auto loader = data::make_data_loader<samplers::SequentialSampler>(Unique(), 3);
  CHECK(loader->begin()->size() == 3);
  CHECK_THROWS_WITH_AS(
      data::make_data_loader<samplers::SequentialSampler>(Unique(), DataLoaderOptions().workers(1)),
      doctest::Contains("can be copied"), Error);
}

TEST_CASE("a loader has the options that were set, and those derived from them") {
  const auto plain = data::make_data_loader(Counting(4))->options();
  CHECK(plain.batch_size == 1);
  CHECK(plain.workers == 0);
  CHECK(plain.max_jobs == 0);
  CHECK(plain.enforce_ordering);
  CHECK_FALSE(plain.drop_last);
  CHECK_FALSE(plain.timeout);
  const data::FullDataLoaderOptions full(DataLoaderOptions(3).workers(4).drop_last(true));
  CHECK(full.max_jobs == 8);
  CHECK(full.drop_last);
  CHECK(data::FullDataLoaderOptions(DataLoaderOptions().workers(4).max_jobs(1)).max_jobs == 1);
}

TEST_CASE("a sampler may be endless, and request something other than a list of positions") {
  struct Endless : samplers::Sampler<> {
    void reset(std::optional<size_t>) override { next_ = 0; }
    std::optional<std::vector<size_t>> next(size_t n) override {
      std::vector<size_t> all;
      for (size_t i = 0; i < n; ++i) all.push_back(next_++ % 3);
      return all;
    }
    size_t next_ = 0;
  };
  struct Range : samplers::CustomBatchRequest {
    size_t first = 0, count = 0;
    size_t size() const override { return count; }
  };
  struct Ranges : samplers::Sampler<Range> {
    void reset(std::optional<size_t>) override { next_ = 0; }
    std::optional<Range> next(size_t n) override {
      if (next_ >= 5) return {};
      Range r;
      r.first = std::exchange(next_, next_ + n);
      r.count = std::min<size_t>(n, 5 - r.first);
      return r;
    }
    size_t next_ = 0;
  };
  struct OfRanges : data::datasets::BatchDataset<OfRanges, std::pair<size_t, size_t>, Range> {
    std::pair<size_t, size_t> get_batch(Range r) override { return {r.first, r.count}; }
    std::optional<size_t> size() const override { return {}; }
  };
  for (const size_t workers : {0, 2}) {
    auto loader = data::make_data_loader(Counting(3).map(transforms::Stack<>()), Endless(),
                                         DataLoaderOptions(2).workers(workers));
    std::vector<int64_t> seen;
    for (auto& batch : *loader) {
      seen.push_back(batch.target[0].item<int64_t>());
      if (seen.size() == 7) break;
    }
    CHECK(seen == std::vector<int64_t>{0, 2, 1, 0, 2, 1, 0});
    auto ranges =
        data::make_data_loader(OfRanges(), Ranges(), DataLoaderOptions(3).workers(workers));
    std::vector<std::pair<size_t, size_t>> all;
    for (auto& range : *ranges) all.push_back(range);
    CHECK(all == std::vector<std::pair<size_t, size_t>>{{0, 3}, {3, 2}});
  }
  struct Nothing : samplers::Sampler<> {
    void reset(std::optional<size_t>) override {}
    std::optional<std::vector<size_t>> next(size_t) override { return std::vector<size_t>(); }
  };
  auto none = data::make_data_loader(Counting(3), Nothing(), DataLoaderOptions(2));
  CHECK_THROWS_WITH_AS(none->begin(), doctest::Contains("at least 1, got 0"), Error);
}

TEST_CASE("a loader refuses a batch size of 0 and a dataset without a size") {
  CHECK_THROWS_AS(data::make_data_loader(Counting(3), DataLoaderOptions(0)), Error);
  struct Endless : data::datasets::Dataset<Endless> {
    Example<> get(size_t) override { return {}; }
    std::optional<size_t> size() const override { return {}; }
  };
  CHECK_THROWS_AS(data::make_data_loader(Endless(), 4), Error);
}
