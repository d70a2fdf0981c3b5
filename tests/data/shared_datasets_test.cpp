// Stateful datasets, shared datasets, and the rows of a tensor as a dataset.
#include <ambit/data/data.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <sstream>
#include <vector>

using namespace ambit;
namespace datasets = ambit::data::datasets;
namespace samplers = ambit::data::samplers;
namespace transforms = ambit::data::transforms;
using data::DataLoaderOptions;
using data::TensorExample;

namespace {

// Batches of 0, 1, ..., ten in an epoch; thread-safe.
class Numbers : public datasets::StatefulDataset<Numbers, std::vector<int>> {
 public:
  std::optional<std::vector<int>> get_batch(size_t n) override {
    const std::lock_guard lock(mutex_);
    if (next_ >= 10) return {};
    std::vector<int> batch;
    while (batch.size() < n && next_ < 10) batch.push_back(next_++);
    return batch;
  }
  std::optional<size_t> size() const override { return {}; }
  void reset() override { next_ = 0; }
  void save(serialize::OutputArchive& archive) const override {
    archive.write("next", Value(next_));
  }
  void load(serialize::InputArchive& archive) override {
    Value v;
    archive.read("next", v);
    next_ = static_cast<int>(v.to_int());
  }

 private:
  std::mutex mutex_;
  int next_ = 0;
};

struct Doubled : transforms::BatchTransform<std::vector<int>, std::vector<int>> {
  std::vector<int> apply_batch(std::vector<int> batch) override {
    for (int& n : batch) n *= 2;
    return batch;
  }
};

}  // namespace

TEST_CASE("a stateful dataset determines batches and the end, with any number of workers") {
  for (const size_t workers : {0, 1, 3}) {
    INFO(workers);
    auto loader = data::make_data_loader(datasets::make_shared_dataset<Numbers>().map(Doubled()),
                                         DataLoaderOptions(4).workers(workers));
    for (int epoch = 0; epoch < 2; ++epoch) {
      std::vector<int> all;
      for (auto& batch : *loader) all.insert(all.end(), batch.begin(), batch.end());
      std::sort(all.begin(), all.end());  // several workers may alternate in any order
      CHECK(all == std::vector<int>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18});
    }
  }
}

TEST_CASE("a stateful dataset is saved and loaded") {
  Numbers numbers, other;
  numbers.get_batch(3);
  std::stringstream stream;
  save(numbers, stream);
  load(other, stream);
  CHECK(other.get_batch(2) == std::vector<int>{3, 4});
  struct Silent : datasets::StatefulDataset<Silent> {
    std::optional<std::vector<data::Example<>>> get_batch(size_t) override { return {}; }
    std::optional<size_t> size() const override { return {}; }
    void reset() override {}
  } silent;
  CHECK_THROWS_AS(save(silent, stream), NotImplementedError);
}

TEST_CASE("all handles and workers use the same shared dataset") {
  struct Watched : datasets::Dataset<Watched> {
    explicit Watched(size_t n) : size_(n) {}
    data::Example<> get(size_t i) override {
      ++asked;
      return {tensor(static_cast<int64_t>(i)), tensor(0)};
    }
    std::optional<size_t> size() const override { return size_; }
    size_t size_;
    std::atomic<size_t> asked{0};  // not copyable
  };
  auto shared = datasets::make_shared_dataset<Watched>(size_t{12});
  auto loader =
      data::make_data_loader<samplers::SequentialSampler>(shared, DataLoaderOptions(3).workers(2));
  size_t batches = 0;
  for ([[maybe_unused]] auto& batch : *loader) ++batches;
  CHECK(batches == 4);
  CHECK(shared->asked == 12);
  CHECK((*shared).size() == 12);
  CHECK_THROWS_AS(datasets::SharedBatchDataset<Watched>(nullptr), Error);
}

TEST_CASE("the rows of a tensor are a dataset") {
  datasets::TensorDataset rows(arange(6.).view({3, 2}));
  CHECK(rows.size() == 3);
  const Tensor row = rows.get(1);
  CHECK(row.equal(tensor({2., 3.})));
  CHECK_THROWS_AS(rows.get(3), IndexError);
  CHECK_THROWS_AS(rows.get(static_cast<size_t>(-1)), IndexError);
  const datasets::TensorDataset stacked(std::vector<Tensor>{ones({2}), zeros({2})});
  CHECK(stacked.tensor.equal(tensor({{1., 1.}, {0., 0.}})));
  CHECK_THROWS_AS(datasets::TensorDataset{tensor(1.)}, ShapeError);
  CHECK_THROWS_AS(datasets::TensorDataset{Tensor()}, Error);
  auto loader = data::make_data_loader<samplers::SequentialSampler>(
      rows.map(transforms::Stack<TensorExample>()), DataLoaderOptions(2).workers(1));
  std::vector<Tensor> batches;
  for (auto& batch : *loader) batches.push_back(batch);
  CHECK(batches.size() == 2);
  CHECK(batches[0].equal(rows.tensor.slice(0, 0, 2)));
  CHECK(batches[1].equal(rows.tensor.slice(0, 2)));
}

TEST_CASE("a stream is given numbers of samples") {
  struct Stream : datasets::StreamDataset<Stream, std::vector<int>> {
    std::vector<int> get_batch(size_t n) override { return std::vector<int>(n, 7); }
    std::optional<size_t> size() const override { return {}; }
  };
  for (const size_t workers : {0, 2}) {
    auto loader = data::make_data_loader(Stream(), samplers::StreamSampler(10),
                                         DataLoaderOptions(4).workers(workers));
    std::vector<size_t> sizes;
    for (auto& batch : *loader) sizes.push_back(batch.size());
    CHECK(sizes == std::vector<size_t>{4, 4, 2});
    auto whole = data::make_data_loader(Stream(), samplers::StreamSampler(10),
                                        DataLoaderOptions(4).workers(workers).drop_last(true));
    CHECK(std::distance(whole->begin(), whole->end()) == 2);
  }
}
