// The loader's workers: exceptions, number of batches ahead, order, and the settings that they
// inherit from the iterating thread.
#include <ambit/data/data.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/parallel.h>
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "counting.h"
#include "tests/devices.h"

using namespace ambit;
namespace samplers = ambit::data::samplers;
namespace transforms = ambit::data::transforms;
using data::DataLoaderOptions;
using data::Example;

namespace {

// Throws for one sample.
class Failing : public data::datasets::Dataset<Failing> {
 public:
  Example<> get(size_t i) override {
    if (i == 5) throw IndexError("sample 5 is broken");
    return {tensor(static_cast<int64_t>(i)), tensor(static_cast<int64_t>(i))};
  }
  std::optional<size_t> size() const override { return 8; }
};

// Sample `held` waits until it is released.
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

TEST_CASE("an exception is thrown at its batch, and the loader continues") {
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

TEST_CASE("the WorkerException contains a worker's exception, even if it is not a std::exception") {
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

TEST_CASE("without enforce_ordering batches are returned in the order of completion") {
  const auto gate = std::make_shared<Gate>();
  auto loader = data::make_data_loader<samplers::SequentialSampler>(
      Held(gate).map(transforms::Stack<>()),
      DataLoaderOptions(1).workers(2).max_jobs(2).enforce_ordering(false));
  std::vector<int64_t> seen;
  for (auto& batch : *loader) {
    seen.push_back(batch.target.item<int64_t>());
    if (seen.size() == 5)
      gate->let_go();  // all workers have started except the first, which still waits
  }
  CHECK(seen == std::vector<int64_t>{1, 2, 3, 4, 5, 0});
}

TEST_CASE("a batch that exceeds the timeout is an error, and is returned later") {
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

TEST_CASE("workers prepare at most max_jobs batches ahead") {
  // Counts the requested samples, over all copies of the dataset.
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

TEST_CASE("workers have the grad mode of the iterating thread") {
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

TEST_CASE("batches of any shape are in pinned memory if requested") {
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

TEST_CASE("each worker has its own copy of the dataset") {
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
