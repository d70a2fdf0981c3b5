// Samplers: each position once, in an order that depends on the seed.
#include <ambit/archive.h>
#include <ambit/data/distributed_samplers.h>
#include <ambit/data/samplers.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/random.h>
#include <ambit/random.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <sstream>
#include <vector>

using namespace ambit;
namespace samplers = ambit::data::samplers;

namespace {

std::vector<size_t> drain(samplers::Sampler<>& sampler, size_t batch_size) {
  std::vector<size_t> all;
  while (const auto indices = sampler.next(batch_size)) {
    all.insert(all.end(), indices->begin(), indices->end());
  }
  return all;
}

}  // namespace

TEST_CASE("samplers of too many positions for the memory are an error, or need no memory") {
  const size_t huge = size_t{1} << 62;
  samplers::SequentialSampler counting(huge);
  CHECK(*counting.next(2) == std::vector<size_t>{0, 1});
  CHECK_THROWS_AS(counting.next(huge), OutOfMemoryError);
  CHECK(*counting.next(1) == std::vector<size_t>{2});
  samplers::RandomSampler random(huge);
  CHECK_THROWS_AS(random.next(1), OutOfMemoryError);
  CHECK_THROWS_AS(random.reset(huge), OutOfMemoryError);
  random.reset(3);
  CHECK(drain(random, 2).size() == 3);
  for (const size_t replicas : {1, 2}) {
    samplers::DistributedRandomSampler distributed(huge, replicas, 0);
    CHECK_THROWS_AS(distributed.next(1), OutOfMemoryError);
    distributed.reset(4);
    CHECK(drain(distributed, 2).size() == 4 / replicas);
  }
}

TEST_CASE("a sequential sampler counts") {
  samplers::SequentialSampler sampler(5);
  CHECK(*sampler.next(2) == std::vector<size_t>{0, 1});
  CHECK(drain(sampler, 2) == std::vector<size_t>{2, 3, 4});
  CHECK_FALSE(sampler.next(2));
  sampler.reset(1);
  CHECK(drain(sampler, 4) == std::vector<size_t>{0});
}

TEST_CASE("a random sampler returns each position once, in another order each epoch") {
  samplers::RandomSampler sampler(1000, 7);
  const std::vector<size_t> first = drain(sampler, 64);
  sampler.reset();
  const std::vector<size_t> second = drain(sampler, 64);
  CHECK(std::set<size_t>(first.begin(), first.end()).size() == 1000);
  CHECK(*std::max_element(first.begin(), first.end()) == 999);
  CHECK(first != second);
  CHECK(std::is_permutation(first.begin(), first.end(), second.begin()));
  samplers::RandomSampler again(1000, 7), other(1000, 8);
  CHECK(drain(again, 1) == first);
  CHECK(drain(other, 64) != first);
}

TEST_CASE("without its own seed a random sampler depends on manual_seed") {
  const auto order = [] {
    manual_seed(3);
    samplers::RandomSampler sampler(100);
    return drain(sampler, 10);
  };
  CHECK(order() == order());
}

TEST_CASE("a stream sampler returns numbers of samples") {
  samplers::StreamSampler sampler(5);
  CHECK(*sampler.next(2) == 2);
  CHECK(sampler.next(2)->size() == 2);
  CHECK(*sampler.next(2) == 1);
  CHECK_FALSE(sampler.next(2));
  sampler.reset(1);
  CHECK(*sampler.next(2) == 1);
}

// The rows are libtorch 1.13's, of DistributedSequentialSampler(10, 3, rank, allow_duplicates).
TEST_CASE("a distributed sampler returns the part of each process") {
  using Sequential = samplers::DistributedSequentialSampler;
  const auto part = [](Sequential sampler) { return drain(sampler, 3); };
  using Positions = std::vector<size_t>;
  CHECK(part(Sequential(10, 3, 0)) == Positions{0, 1, 2, 3});
  CHECK(part(Sequential(10, 3, 1)) == Positions{4, 5, 6, 7});
  CHECK(part(Sequential(10, 3, 2)) == Positions{8, 9, 0, 1});
  CHECK(part(Sequential(10, 3, 0, false)) == Positions{0, 1, 2});
  CHECK(part(Sequential(10, 3, 2, false)) == Positions{6, 7, 8});
  CHECK(part(Sequential(3, 1, 0, false)) == Positions{0, 1, 2});
  CHECK(part(Sequential(0, 2, 1)).empty());
  CHECK(part(Sequential(2, 5, 4)) == Positions{0});  // more processes than samples
  Sequential sampler(10, 2, 1);
  sampler.next(3);
  CHECK(sampler.index() == 8);
  sampler.reset(4);
  CHECK(drain(sampler, 4) == Positions{2, 3});
  CHECK_THROWS_AS(Sequential(10, 2, 2), Error);
  CHECK_THROWS_AS(Sequential(10, 0, 0), Error);
}

TEST_CASE("distributed random samplers have the same order of an epoch, and another in the next") {
  const auto epoch = [](size_t number) {
    std::vector<size_t> all;
    for (size_t rank = 0; rank < 3; ++rank) {
      samplers::DistributedRandomSampler sampler(30, 3, rank);
      sampler.set_epoch(number);
      sampler.reset();
      CHECK(sampler.epoch() == number);
      const auto part = drain(sampler, 4);
      CHECK(part.size() == 10);
      all.insert(all.end(), part.begin(), part.end());
    }
    CHECK(std::set<size_t>(all.begin(), all.end()).size() == 30);
    return all;
  };
  CHECK(epoch(1) == epoch(1));
  CHECK(epoch(1) != epoch(2));
}

TEST_CASE("samplers are saved and continue at their position") {
  const auto resume = [](auto sampler, auto other) {
    sampler.next(3);
    std::stringstream stream;
    save(sampler, stream);
    load(other, stream);
    for (;;) {
      const auto a = sampler.next(2), b = other.next(2);
      REQUIRE(a.has_value() == b.has_value());
      if (!a) break;
      CHECK(*a == *b);
    }
  };
  resume(samplers::SequentialSampler(8), samplers::SequentialSampler(8));
  resume(samplers::RandomSampler(8, 1), samplers::RandomSampler(8, 2));
  resume(samplers::StreamSampler(8), samplers::StreamSampler(8));
  resume(samplers::DistributedSequentialSampler(9, 2, 1),
         samplers::DistributedSequentialSampler(9, 2, 1));
  samplers::DistributedRandomSampler random(9, 2, 1);
  random.set_epoch(4);
  random.reset();
  resume(random, samplers::DistributedRandomSampler(9, 2, 1));
}

TEST_CASE("a random sampler saved before its first batch has the order of its first epoch") {
  // libtorch's sampler draws its order when it is constructed, and saves it.
  const auto passed_on = [](const samplers::RandomSampler& sampler, samplers::RandomSampler other) {
    std::stringstream stream;
    save(sampler, stream);
    load(other, stream);
    return other;
  };
  const auto check = [&](auto make, bool begins) {
    auto sampler = make();
    auto other = passed_on(sampler, samplers::RandomSampler(3, 9));
    rand({100});   // changes the generator's state
    if (begins) {  // as a loader does
      sampler.reset();
      other.reset();
    }
    const std::vector<size_t> order = drain(sampler, 3);
    CHECK(order.size() == 50);
    CHECK(drain(other, 7) == order);
    return order;
  };
  for (const bool begins : {false, true}) {
    const auto seeded = [] { return samplers::RandomSampler(50, 7); };
    CHECK(check(seeded, begins) == drain(*std::make_unique<samplers::RandomSampler>(50, 7), 5));
    check([] { return samplers::RandomSampler(50); }, begins);
  }
  samplers::RandomSampler sampler(50, 7), saved(50, 7);
  passed_on(saved, samplers::RandomSampler(50));
  passed_on(saved, samplers::RandomSampler(50));
  for (int epoch = 0; epoch < 3; ++epoch) {  // saving has no effect on later epochs
    CHECK(drain(saved, 5) == drain(sampler, 5));
    saved.reset();
    sampler.reset();
  }
  samplers::RandomSampler resized(50, 7), fresh(20, 7);
  passed_on(resized, samplers::RandomSampler(50));
  resized.reset(20);
  CHECK(drain(resized, 5) == drain(fresh, 5));
}

TEST_CASE("the epochs after saving a random sampler are the same") {
  samplers::RandomSampler sampler(50, 7), other(50, 8);
  drain(sampler, 5);
  sampler.reset();
  sampler.next(20);
  std::stringstream stream;
  save(sampler, stream);
  load(other, stream);
  for (int epoch = 0; epoch < 3; ++epoch) {
    CHECK(drain(other, 5) == drain(sampler, 5));
    other.reset();
    sampler.reset();
  }
}

TEST_CASE("a distributed sampler is saved before its first batch, too") {
  samplers::DistributedRandomSampler sampler(9, 2, 1), other(9, 2, 1);
  sampler.set_epoch(4);
  std::stringstream stream;
  save(sampler, stream);
  load(other, stream);
  CHECK(other.epoch() == 4);
  CHECK(drain(other, 2) == drain(sampler, 2));
}

TEST_CASE("a sampler refuses an invalid state, and remains unchanged") {
  const auto load_index = [](samplers::Sampler<>& sampler, int64_t index, const Tensor& order) {
    serialize::OutputArchive archive;
    archive.write("index", full({}, index));
    archive.write("indices", order);
    archive.write("sample_index_", full({}, index));
    archive.write("epoch_", full({}, int64_t{0}));
    std::stringstream stream;
    archive.save_to(stream);
    load(sampler, stream);
  };
  const Tensor order = arange(4);
  samplers::SequentialSampler sequential(4);
  samplers::RandomSampler random(4, 1);
  samplers::DistributedSequentialSampler distributed(8, 2, 1);
  for (const int64_t index : {-1, 5}) {
    CHECK_THROWS_AS(load_index(sequential, index, order), SerializationError);
    CHECK_THROWS_AS(load_index(random, index, order), SerializationError);
  }
  CHECK_THROWS_AS(load_index(distributed, 3, order), SerializationError);
  CHECK_THROWS_AS(load_index(distributed, 9, order), SerializationError);
  CHECK_THROWS_AS(load_index(random, 0, tensor({0, 1, 1})), SerializationError);
  CHECK_THROWS_AS(load_index(random, 0, tensor({0, 1, 3})), SerializationError);
  for (const char* key : {"seed", "ahead"}) {
    for (const Tensor& wrong : {tensor({1}), ones({2}), arange(3)}) {
      serialize::OutputArchive archive;
      archive.write("index", full({}, int64_t{0}));
      archive.write("indices", order);
      archive.write(key, wrong);
      std::stringstream stream;
      archive.save_to(stream);
      CHECK_THROWS_AS(load(random, stream), SerializationError);
    }
  }
  CHECK(drain(sequential, 2) == std::vector<size_t>{0, 1, 2, 3});
  CHECK(drain(random, 2).size() == 4);
  CHECK_THROWS_AS(samplers::RandomSampler(4, kFloat32), DTypeError);
  CHECK(samplers::RandomSampler(4, kInt32).next(9)->size() == 4);
  struct Own : samplers::Sampler<> {
    void reset(std::optional<size_t>) override {}
    std::optional<std::vector<size_t>> next(size_t) override { return {}; }
  } own;
  std::ostringstream stream;
  CHECK_THROWS_AS(save(own, stream), NotImplementedError);
}
