// Samplers: each position once, in an order that its seed decides.
#include <ambit/data/samplers.h>
#include <ambit/random.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

using namespace ambit;
namespace samplers = ambit::data::samplers;

namespace {

std::vector<size_t> drain(samplers::Sampler& sampler, size_t batch_size) {
  std::vector<size_t> all;
  while (const auto indices = sampler.next(batch_size)) {
    all.insert(all.end(), indices->begin(), indices->end());
  }
  return all;
}

}  // namespace

TEST_CASE("a sequential sampler counts") {
  samplers::SequentialSampler sampler(5);
  CHECK(*sampler.next(2) == std::vector<size_t>{0, 1});
  CHECK(drain(sampler, 2) == std::vector<size_t>{2, 3, 4});
  CHECK_FALSE(sampler.next(2));
  sampler.reset(1);
  CHECK(drain(sampler, 4) == std::vector<size_t>{0});
}

TEST_CASE("a random sampler gives each position once, in another order each epoch") {
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

TEST_CASE("without a seed of its own a random sampler follows manual_seed") {
  const auto order = [] {
    manual_seed(3);
    samplers::RandomSampler sampler(100);
    return drain(sampler, 10);
  };
  CHECK(order() == order());
}
