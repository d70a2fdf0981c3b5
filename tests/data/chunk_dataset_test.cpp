// ChunkDataset: its own threads read chunks ahead, which are divided into batches.
#include <ambit/data/data.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/random.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <sstream>
#include <vector>

using namespace ambit;
namespace datasets = ambit::data::datasets;
namespace samplers = ambit::data::samplers;
using data::DataLoaderOptions;
using datasets::ChunkDatasetOptions;

namespace {

using Ints = std::vector<int>;

// Chunk i has `sizes[i]` numbers, 10 i, 10 i + 1, ...; one chunk may be unreadable.
class Reader : public datasets::ChunkDataReader<int> {
 public:
  explicit Reader(std::vector<size_t> sizes, size_t broken = SIZE_MAX)
      : sizes_(std::move(sizes)), broken_(broken) {}
  Ints read_chunk(size_t i) override {
    if (i == broken_) throw IndexError("chunk is broken");
    Ints chunk(sizes_.at(i));
    std::iota(chunk.begin(), chunk.end(), static_cast<int>(10 * i));
    return chunk;
  }
  size_t chunk_count() override { return sizes_.size(); }
  void reset() override {}

 private:
  std::vector<size_t> sizes_;
  size_t broken_;
};

using Sequential =
    datasets::ChunkDataset<Reader, samplers::SequentialSampler, samplers::SequentialSampler>;

template <class Dataset>
std::vector<Ints> epoch(Dataset& dataset) {
  std::vector<Ints> batches;
  dataset.reset();
  while (auto batch = dataset.get_batch()) batches.push_back(std::move(*batch));
  return batches;
}

Ints joined(const std::vector<Ints>& batches) {
  Ints all;
  for (const Ints& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

}  // namespace

TEST_CASE("chunks are divided into batches that may contain samples of two chunks") {
  for (const size_t cache : {3, 4, 100}) {
    Sequential dataset(Reader({4, 0, 1, 5}), samplers::SequentialSampler(0),
                       samplers::SequentialSampler(0), ChunkDatasetOptions(1, 3, cache));
    const std::vector<Ints> expected{{0, 1, 2}, {3, 20, 30}, {31, 32, 33}, {34}};
    CHECK(epoch(dataset) == expected);
    CHECK(epoch(dataset) == expected);  // another epoch
  }
  Sequential empty(Reader({}), samplers::SequentialSampler(0), samplers::SequentialSampler(0),
                   ChunkDatasetOptions(2, 3));
  CHECK(epoch(empty).empty());
}

TEST_CASE("each sample appears once, with any preloaders, workers and shuffling") {
  for (const size_t preloaders : {1, 3}) {
    for (const size_t workers : {0, 1, 2}) {
      for (const size_t across : {1, 3}) {
        auto shared = datasets::make_shared_dataset<datasets::ChunkDataset<Reader>>(
            Reader({7, 3, 9, 1, 5, 2}), samplers::RandomSampler(0), samplers::RandomSampler(0),
            ChunkDatasetOptions(preloaders, 4, 8, across));
        auto loader = data::make_data_loader(shared, DataLoaderOptions(4).workers(workers));
        for (int i = 0; i < 2; ++i) {
          std::vector<Ints> batches;
          for (auto& batch : *loader) batches.push_back(batch);
          CHECK(batches.size() == 7);  // 27 samples
          Ints all = joined(batches);
          std::sort(all.begin(), all.end());
          CHECK(all.size() == 27);
          CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
        }
      }
    }
  }
}

TEST_CASE("a policy changes the samples of a chunk before they are divided") {
  Sequential dataset(Reader({2, 3, 2}), samplers::SequentialSampler(0),
                     samplers::SequentialSampler(0), ChunkDatasetOptions(1, 2, 100, 2),
                     [](Ints& chunks) { std::reverse(chunks.begin(), chunks.end()); });
  CHECK(joined(epoch(dataset)) == Ints{12, 11, 10, 1, 0, 21, 20});
}

TEST_CASE("an unreadable chunk is an error in its place, and the epoch continues") {
  Sequential dataset(Reader({2, 2, 2}, 1), samplers::SequentialSampler(0),
                     samplers::SequentialSampler(0), ChunkDatasetOptions(1, 3));
  for (int i = 0; i < 2; ++i) {
    dataset.reset();
    CHECK(*dataset.get_batch(3) == Ints{0, 1});
    CHECK_THROWS_WITH_AS(dataset.get_batch(3), doctest::Contains("chunk is broken"),
                         data::WorkerException);
    CHECK(*dataset.get_batch(3) == Ints{20, 21});
    CHECK_FALSE(dataset.get_batch(3));
    CHECK_FALSE(dataset.get_batch(3));
  }
  auto shared = datasets::make_shared_dataset<Sequential>(
      Reader({2, 2}, 0), samplers::SequentialSampler(0), samplers::SequentialSampler(0),
      ChunkDatasetOptions(1, 2));
  auto loader = data::make_data_loader(shared, DataLoaderOptions(2));
  CHECK_THROWS_AS(loader->begin(), data::WorkerException);
}

TEST_CASE("an epoch may be abandoned, and a dataset destroyed, while preloaders wait") {
  for (int i = 0; i < 5; ++i) {
    Sequential dataset(Reader(std::vector<size_t>(50, 9)), samplers::SequentialSampler(0),
                       samplers::SequentialSampler(0), ChunkDatasetOptions(3, 2, 4));
    dataset.reset();
    for (int taken = 0; taken < i; ++taken) CHECK(dataset.get_batch());
    if (i % 2) {
      dataset.reset();
      CHECK(dataset.get_batch());
    }
  }
}

TEST_CASE("a chunk dataset refuses invalid options") {
  Sequential dataset(Reader({4}), samplers::SequentialSampler(0), samplers::SequentialSampler(0),
                     ChunkDatasetOptions(1, 2));
  CHECK_THROWS_WITH_AS(dataset.get_batch(), doctest::Contains("expected reset()"), Error);
  dataset.reset();
  CHECK_THROWS_WITH_AS(dataset.get_batch(3), doctest::Contains("of its options, 2, got 3"), Error);
  CHECK(dataset.get_batch(2));
  CHECK_FALSE(dataset.size());
  CHECK_THROWS_AS(ChunkDatasetOptions(0, 1), Error);
  CHECK_THROWS_AS(ChunkDatasetOptions(1, 0), Error);
  CHECK_THROWS_AS(ChunkDatasetOptions(1, 3, 2), Error);
  CHECK_THROWS_AS(ChunkDatasetOptions(1, 1, 2048, 0), Error);
  struct Repeating : samplers::SequentialSampler {
    using SequentialSampler::SequentialSampler;
    std::optional<std::vector<size_t>> next(size_t n) override { return std::vector<size_t>(n, 0); }
  };
  datasets::ChunkDataset<Reader, samplers::SequentialSampler, Repeating> wrong(
      Reader({4}), samplers::SequentialSampler(0), Repeating(0), ChunkDatasetOptions(1, 2));
  wrong.reset();
  CHECK_THROWS_WITH_AS(wrong.get_batch(), doctest::Contains("each position below 4 once"),
                       data::WorkerException);
}

TEST_CASE("a chunk dataset continues before its sampler has the number of chunks") {
  const auto chunks = [](auto sampler) {
    using Sampler = decltype(sampler);
    return std::make_unique<datasets::ChunkDataset<Reader, Sampler, samplers::SequentialSampler>>(
        Reader({1, 1, 1, 1}), sampler, samplers::SequentialSampler(0),
        ChunkDatasetOptions(1, 1, 1));
  };
  const auto check = [&](auto sampler, const Ints& rest, const std::vector<size_t>& in_order) {
    const auto first = chunks(sampler), second = chunks(sampler);
    first->chunk_sampler().reset(4);
    CHECK(*first->chunk_sampler().next(2) == in_order);
    std::stringstream stream;
    save(*first, stream);
    load(*second, stream);
    CHECK(joined(epoch(*second)) == rest);
  };
  check(samplers::SequentialSampler(0), {20, 30}, {0, 1});
  check(samplers::DistributedSequentialSampler(0), {20, 30}, {0, 1});

  // libtorch's chunk dataset writes only the sampler's "index".
  const auto dataset = chunks(samplers::SequentialSampler(0));
  serialize::OutputArchive archive;
  archive.write("index", full({}, int64_t{3}), /*is_buffer=*/true);
  std::stringstream stream;
  archive.save_to(stream);
  load(*dataset, stream);
  CHECK(joined(epoch(*dataset)) == Ints{30});

  // The state is saved before the first epoch, whose order depends on the seed.
  const auto random = chunks(samplers::RandomSampler(0, 5)),
             other = chunks(samplers::RandomSampler(0, 6));
  std::stringstream before;
  save(*random, before);
  load(*other, before);
  const Ints order = joined(epoch(*random));
  CHECK(order.size() == 4);
  CHECK(joined(epoch(*other)) == order);
}

TEST_CASE("loading draws nothing from the default generator, even if it fails") {
  const auto make = [](auto sampler) {
    using Sampler = decltype(sampler);
    return std::make_unique<datasets::ChunkDataset<Reader, Sampler, samplers::SequentialSampler>>(
        Reader(std::vector<size_t>(40, 1)), sampler, samplers::SequentialSampler(0),
        ChunkDatasetOptions(1, 1, 1));
  };
  std::stringstream empty;
  serialize::OutputArchive().save_to(empty);
  std::stringstream saved;
  manual_seed(3);
  save(*make(samplers::RandomSampler(0)), saved);
  const uint64_t offset = default_generator().offset();

  const auto dataset = make(samplers::RandomSampler(0));
  CHECK_THROWS_AS(load(*dataset, empty), Error);
  CHECK(default_generator().offset() == offset);
  load(*dataset, saved);
  CHECK(default_generator().offset() == offset);

  // The first epoch after a load that failed has the order of the seed.
  const auto seeded = make(samplers::RandomSampler(0, 5)),
             other = make(samplers::RandomSampler(0, 5));
  empty.clear();
  empty.seekg(0);
  CHECK_THROWS_AS(load(*seeded, empty), Error);
  CHECK(joined(epoch(*seeded)) == joined(epoch(*other)));
}

TEST_CASE("a chunk dataset continues where it was saved") {
  const auto make = [] {
    return std::make_unique<Sequential>(Reader({1, 1, 1, 1}), samplers::SequentialSampler(4),
                                        samplers::SequentialSampler(0),
                                        ChunkDatasetOptions(1, 1, 1));
  };
  const auto first = make(), second = make();
  first->chunk_sampler().next(2);
  std::stringstream stream;
  save(*first, stream);
  load(*second, stream);
  CHECK(joined(epoch(*second)) == Ints{20, 30});
  CHECK(joined(epoch(*second)) == Ints{0, 10, 20, 30});
}
