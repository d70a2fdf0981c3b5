// Datasets, transforms and the loader, on datasets made here.
#include <ambit/data/data.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <ambit/parallel.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <memory>
#include <mutex>
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

TEST_CASE("batches are mapped by functions, and samples without targets are stacked") {
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
      if (workers == 0) {
        CHECK_THROWS_WITH_AS(++it, "sample 5 is broken", IndexError);
      } else {
        CHECK_THROWS_WITH_AS(++it,
                             "Caught exception in DataLoader worker thread. Original message: "
                             "sample 5 is broken",
                             data::WorkerException);
      }
      CHECK(it != loader->end());
      CHECK_THROWS_WITH_AS(*it, doctest::Contains("could not be made"), Error);
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
  CHECK_THROWS_AS(failing->begin(), data::WorkerException);
}

TEST_CASE(
    "a worker's own exception is in the WorkerException, also one that is no std::exception") {
  struct Odd : data::datasets::Dataset<Odd> {
    Example<> get(size_t i) override {
      if (i == 1) throw IndexError("broken");
      if (i == 2) throw 7;
      return {};
    }
    std::optional<size_t> size() const override { return 4; }
  };
  auto loader =
      data::make_data_loader<samplers::SequentialSampler>(Odd(), DataLoaderOptions(1).workers(1));
  auto it = loader->begin();
  const auto thrown_next = [&]() -> std::exception_ptr {
    try {
      ++it;
    } catch (const data::WorkerException& e) {
      return e.original_exception;
    }
    return {};
  };
  CHECK_THROWS_WITH_AS(std::rethrow_exception(thrown_next()), "broken", IndexError);
  CHECK_THROWS_AS(std::rethrow_exception(thrown_next()), int);
  CHECK_FALSE(thrown_next());
}

TEST_CASE("an iterator past the end is neither moved nor read") {
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

namespace {

// Sample `held` waits until it is let go.
struct Gate {
  std::mutex mutex;
  std::condition_variable opened;
  bool open = false;
  void wait() {
    std::unique_lock lock(mutex);
    opened.wait(lock, [this] { return open; });
  }
  void let_go() {
    const std::lock_guard lock(mutex);
    open = true;
    opened.notify_all();
  }
};
struct Held : data::datasets::Dataset<Held> {
  explicit Held(std::shared_ptr<Gate> g) : gate(std::move(g)) {}
  Example<> get(size_t i) override {
    if (i == 0) gate->wait();
    return {tensor(int64_t(i)), tensor(int64_t(i))};
  }
  std::optional<size_t> size() const override { return 6; }
  std::shared_ptr<Gate> gate;
};

}  // namespace

TEST_CASE("without enforce_ordering batches come as they are done") {
  const auto gate = std::make_shared<Gate>();
  auto loader = data::make_data_loader<samplers::SequentialSampler>(
      Held(gate).map(transforms::Stack<>()),
      DataLoaderOptions(1).workers(2).max_jobs(2).enforce_ordering(false));
  std::vector<int64_t> seen;
  for (auto& batch : *loader) {
    seen.push_back(batch.target.item<int64_t>());
    if (seen.size() == 5) gate->let_go();  // all but the first, which still waits
  }
  CHECK(seen == std::vector<int64_t>{1, 2, 3, 4, 5, 0});
}

TEST_CASE("a batch that does not come in time is an error, and comes later") {
  const auto gate = std::make_shared<Gate>();
  auto loader = data::make_data_loader<samplers::SequentialSampler>(
      Held(gate).map(transforms::Stack<>()),
      DataLoaderOptions(1).workers(2).timeout(std::chrono::milliseconds(1)));
  CHECK_THROWS_WITH_AS(loader->begin(), "DataLoader: expected a batch within 1 ms, got none",
                       Error);
  gate->let_go();
  auto patient = data::make_data_loader<samplers::SequentialSampler>(
      Held(gate).map(transforms::Stack<>()),
      DataLoaderOptions(1).workers(2).timeout(std::chrono::hours(1)));
  CHECK(targets_of(*patient).size() == 6);
}

TEST_CASE("a loader has the options that were set, and what follows from them") {
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

TEST_CASE("a sampler may go on for ever, and ask for what is no list of positions") {
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
