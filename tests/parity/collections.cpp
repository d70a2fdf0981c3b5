// Data: datasets, transforms, samplers, loaders and chunks, with every name of libtorch.
#include <torch/data.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "parity.h"

using parity::report;
using parity::report_refusal;
using parity::wave;

namespace data = torch::data;
namespace samplers = torch::data::samplers;
namespace transforms = torch::data::transforms;
namespace datasets = torch::data::datasets;

namespace {

template <class Indices>
void report_indices(const std::string& what, const Indices& indices) {
  std::vector<int64_t> list(indices.begin(), indices.end());
  report(what, torch::tensor(list));
}

// All indices of an epoch, in batches of two.
template <class Sampler>
std::vector<int64_t> drawn(Sampler& sampler) {
  std::vector<int64_t> all;
  while (auto batch = sampler.next(2)) all.insert(all.end(), batch->begin(), batch->end());
  return all;
}

struct Numbers : datasets::Dataset<Numbers, int> {
  int get(size_t index) override { return static_cast<int>(index) * 10; }
  torch::optional<size_t> size() const override { return 7; }
};

}  // namespace

PARITY(data_samplers) {
  samplers::SequentialSampler sequential(5);
  report_indices("sequential", drawn(sequential));
  sequential.reset(3);
  report_indices("sequential again", drawn(sequential));
  report("index", static_cast<double>(sequential.index()));
  samplers::RandomSampler random(6);
  std::vector<int64_t> all = drawn(random);
  std::sort(all.begin(), all.end());
  report_indices("random", all);
  random.reset();
  report("random's index", static_cast<double>(random.index()));
  samplers::StreamSampler stream(5);
  while (const auto batch = stream.next(2)) {
    const samplers::CustomBatchRequest& request = *batch;
    report("stream", static_cast<double>(request.size()));
  }
  for (size_t rank = 0; rank < 3; ++rank) {
    for (const bool even : {true, false}) {
      samplers::DistributedSequentialSampler of_rank(7, 3, rank, even);
      report_indices("rank " + std::to_string(rank), drawn(of_rank));
    }
    samplers::DistributedRandomSampler of_rank(7, 3, rank, true);
    report("random of a rank", static_cast<double>(drawn(of_rank).size()));
  }
  samplers::DistributedRandomSampler parts(8, 2, 0), rest(8, 2, 1);
  samplers::DistributedSampler<>& base = parts;
  base.set_epoch(3);
  rest.set_epoch(3);
  parts.reset(8);
  rest.reset(8);
  report("epoch", static_cast<double>(base.epoch()));
  std::vector<int64_t> both = drawn(parts), other = drawn(rest);
  both.insert(both.end(), other.begin(), other.end());
  std::sort(both.begin(), both.end());
  report_indices("both ranks", both);
  samplers::Sampler<>& any = sequential;
  any.reset(2);
  report_indices("by the base", *any.next(9));
  report("none left", any.next(1).has_value());
  samplers::BatchSize size(4);
  report("a batch", static_cast<double>(size.size() + static_cast<size_t>(size)));
}

PARITY(data_samplers_saved) {
  samplers::SequentialSampler from(9), to(9);
  samplers::RandomSampler shuffled(9), again(9);
  from.next(4);
  shuffled.next(4);
  torch::serialize::OutputArchive out;
  torch::serialize::OutputArchive mixed;
  from.save(out);
  shuffled.save(mixed);
  std::stringstream first, second;
  out.save_to(first);
  mixed.save_to(second);
  torch::serialize::InputArchive in, of_mixed;
  in.load_from(first);
  of_mixed.load_from(second);
  to.load(in);
  again.load(of_mixed);
  report_indices("goes on", drawn(to));
  report("the same order", drawn(again) == drawn(shuffled));
}

PARITY(data_transforms) {
  using Alone = data::example::NoTarget;
  struct Twice : transforms::Transform<int, int> {
    int apply(int x) override { return by * x; }
    int by = 2;
  };
  const auto batch_of = [](auto dataset) { return dataset.get_batch({1, 2, 5}); };
  auto summed = batch_of(Numbers().map(Twice()).map(transforms::BatchLambda<std::vector<int>, int>(
      [](std::vector<int> all) { return std::accumulate(all.begin(), all.end(), 0); })));
  report("mapped", summed);
  auto shifted = batch_of(Numbers().map(transforms::Lambda<int>([](int x) { return x + 1; })));
  report("each", static_cast<double>(shifted[2]));
  struct Longest : transforms::BatchTransform<std::vector<int>, size_t> {
    size_t apply_batch(std::vector<int> all) override { return all.size(); }
  };
  report("a transform of batches", static_cast<double>(batch_of(Numbers().map(Longest()))));
  const auto images = [] { return datasets::TensorDataset(wave({6, 2, 3, 3}).cpu()); };
  auto normal = batch_of(images()
                             .map(transforms::Normalize<Alone>({0.5, 0.25}, {2, 4}))
                             .map(transforms::Stack<data::TensorExample>()));
  report("normalized", normal.data);
  auto negative =
      batch_of(images()
                   .map(transforms::TensorLambda<Alone>([](torch::Tensor t) { return -t; }))
                   .map(transforms::Stack<data::TensorExample>()));
  report("negative", negative.data);
  struct Sum : transforms::TensorTransform<Alone> {
    torch::Tensor operator()(torch::Tensor t) override { return t.abs().sum(); }
  };
  report("summed", batch_of(images().map(Sum()).map(transforms::Stack<data::TensorExample>())).data,
         18);
  datasets::MapDataset<Numbers, Twice> mapped(Numbers{}, Twice{});
  report("size", static_cast<double>(*mapped.size()));
  report("transform", mapped.transform().by);
  report("of the dataset", static_cast<double>(*mapped.dataset().size()));
  data::Example<> example(wave({2}), wave({1}));
  data::Example<torch::Tensor, Alone> alone(wave({2}));
  report("example", example.target);
  report("without a target", alone.data);
}

namespace {

// Returns three numbers at a time, ten times.
struct Stream : datasets::StatefulDataset<Stream, std::vector<int>, size_t> {
  torch::optional<std::vector<int>> get_batch(size_t size) override {
    if (at >= 10) return torch::nullopt;
    std::vector<int> batch(std::min<size_t>(size, 10 - at));
    std::iota(batch.begin(), batch.end(), static_cast<int>(at));
    at += batch.size();
    return batch;
  }
  torch::optional<size_t> size() const override { return 10; }
  void reset() override { at = 0; }
  void save(torch::serialize::OutputArchive&) const override {}
  void load(torch::serialize::InputArchive&) override {}
  size_t at = 0;
};

// Numbers in chunks: chunk i has i + 1 of them.
struct Chunks : datasets::ChunkDataReader<int> {
  using BatchType = datasets::ChunkDataReader<int>::ChunkType;
  std::vector<int> read_chunk(size_t chunk) override { return std::vector<int>(chunk + 1, 5); }
  size_t chunk_count() override { return 4; }
  void reset() override {}
};

template <class Loader>
void report_loader(const std::string& what, Loader& loader) {
  for (int epoch = 0; epoch < 2; ++epoch) {
    int64_t batches = 0, sum = 0;
    for (auto& batch : loader) {
      ++batches;
      sum = std::accumulate(batch.begin(), batch.end(), sum);
    }
    report(what, torch::tensor({batches, sum}));
  }
}

}  // namespace

PARITY(data_loaders) {
  for (const size_t workers : {0, 2}) {
    const auto options =
        data::DataLoaderOptions().batch_size(3).workers(workers).enforce_ordering(true);
    auto loader = data::make_data_loader(Numbers(), options);
    report_loader("numbers", *loader);
    auto last = data::make_data_loader<samplers::SequentialSampler>(
        Numbers(), data::DataLoaderOptions(options).drop_last(true));
    report_loader("without the last", *last);
    auto stream = data::make_data_loader(Stream(), data::DataLoaderOptions(4));
    report_loader("stream", *stream);
    data::StatelessDataLoader<Numbers, samplers::RandomSampler> stateless(
        Numbers(), samplers::RandomSampler(7), options);
    report_loader("stateless", stateless);
    report("options", static_cast<double>(stateless.options().batch_size));
  }
  data::StatefulDataLoader<Stream> stateful(Stream(), data::DataLoaderOptions(5));
  report_loader("stateful", stateful);
  auto loader = data::make_data_loader(Numbers(), 4);
  data::Iterator<std::vector<int>> at = loader->begin();
  report("first", static_cast<double>(at->size()));
  report_refusal("twice at once", [&] { loader->begin(); });
  report("at the end", ++at == loader->end());
  const data::FullDataLoaderOptions full(data::DataLoaderOptions().batch_size(2).workers(3));
  report("jobs", static_cast<double>(full.max_jobs));
  report("workers", static_cast<double>(full.workers));
}

PARITY(data_shared_and_chunks) {
  auto shared = datasets::make_shared_dataset<Numbers>();
  datasets::SharedBatchDataset<Numbers> copy = shared;
  report("shared", static_cast<double>(copy.get_batch({0, 6})[1] + *shared.size()));
  report("the same", &*copy == &*shared);
  using Dataset =
      datasets::ChunkDataset<Chunks, samplers::SequentialSampler, samplers::SequentialSampler>;
  auto chunks = datasets::make_shared_dataset<Dataset>(Chunks(), samplers::SequentialSampler(0),
                                                       samplers::SequentialSampler(0),
                                                       datasets::ChunkDatasetOptions(1, 4, 16));
  auto loader = data::make_data_loader(chunks, data::DataLoaderOptions(4).workers(0));
  report_loader("chunks", *loader);
  report_refusal("no loaders", [] { datasets::ChunkDatasetOptions(0, 4); });
  // Through its base class, whose type determines the parameters.
  Stream stream;
  datasets::BatchDataset<Stream, torch::optional<std::vector<int>>, size_t>& base = stream;
  report("by the base", static_cast<double>(base.get_batch(3)->size()));
}

PARITY(data_errors_and_files) {
  struct Broken : datasets::Dataset<Broken, int> {
    int get(size_t) override { throw std::runtime_error("broken"); }
    torch::optional<size_t> size() const override { return 4; }
  };
  auto loader = data::make_data_loader(Broken(), data::DataLoaderOptions(2).workers(1));
  try {
    report("went on", static_cast<double>(loader->begin()->size()));
  } catch (const data::WorkerException& e) {
    report("says why", std::string(e.what()).find("broken") != std::string::npos);
  }
}

namespace {

// A file in MNIST's format: big-endian sizes, then bytes.
void write_idx(const std::string& path, const std::vector<uint32_t>& head, size_t bytes) {
  std::ofstream file(path, std::ios::binary);
  for (const uint32_t word : head) {
    for (const int shift : {24, 16, 8, 0}) file.put(static_cast<char>(word >> shift & 0xff));
  }
  std::string rest(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) rest[i] = static_cast<char>(i % 10);
  file << rest;
}

}  // namespace

PARITY(data_mnist) {
  const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("parity_mnist_" + std::to_string(getpid()));
  std::filesystem::create_directory(root);
  write_idx(root / "t10k-images-idx3-ubyte", {2051, 10000, 28, 28}, 10000 * 784);
  write_idx(root / "t10k-labels-idx1-ubyte", {2049, 10000}, 10000);
  {
    datasets::MNIST mnist(root, datasets::MNIST::Mode::kTest);
    report("size", static_cast<double>(*mnist.size()));
    report("train", mnist.is_train());
    report("image", mnist.get(9999).data.mean());
    report("targets", mnist.targets().slice(0, 3, 9));
    report("images", mnist.images().slice(0, 0, 1).sum(), 784);
  }
  report_refusal("no file", [&] { datasets::MNIST(root, datasets::MNIST::Mode::kTrain); });
  std::filesystem::remove_all(root);
}
