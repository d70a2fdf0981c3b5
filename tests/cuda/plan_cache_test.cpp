// Keys and cache of the plans of cuDNN and cuBLASLt.
#include "backends/cuda/libraries/plan_cache.h"

#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <string>

using namespace ambit;
using ambit::cuda::PlanCache;
using ambit::cuda::PlanKey;

TEST_CASE("keys differ if shapes, strides, dtypes, alignment or definedness differ") {
  const auto key = [](const Tensor& t) { return PlanKey().add(t); };
  const Tensor t = zeros({4, 8});
  CHECK(key(t) == key(zeros({4, 8})));
  CHECK(key(t).hash() == key(zeros({4, 8})).hash());
  CHECK_FALSE(key(t) == key(zeros({8, 4})));
  CHECK_FALSE(key(t) == key(zeros({8, 4}).transpose(0, 1)));
  CHECK_FALSE(key(t) == key(zeros({4, 8}, kFloat64)));
  CHECK_FALSE(key(t) == key(zeros({33}).slice(0, 1).view({4, 8})));  // alignment 4 instead of 16
  CHECK_FALSE(key(t) == key(Tensor()));
  CHECK_FALSE(PlanKey().add(IntArrayRef{1, 2}).add(IntArrayRef{3}) ==
              PlanKey().add(IntArrayRef{1}).add(IntArrayRef{2, 3}));
  CHECK_FALSE(PlanKey().add(1) == PlanKey().add(2));
}

TEST_CASE("a plan is created once, and the least recently used one is removed") {
  PlanCache<std::string> cache(2);
  int made = 0;
  const auto get = [&](int64_t key) {
    return cache.get(PlanKey().add(key),
                     [&] { return std::to_string(key) + "/" + std::to_string(++made); });
  };
  CHECK(get(1) == "1/1");
  CHECK(get(2) == "2/2");
  CHECK(get(1) == "1/1");
  CHECK(get(3) == "3/3");  // removes 2
  CHECK(cache.size() == 2);
  CHECK(get(1) == "1/1");
  CHECK(get(2) == "2/4");
}

TEST_CASE("a plan that cannot be created is not cached") {
  PlanCache<int> cache;
  CHECK_THROWS_AS(cache.get(PlanKey().add(1), []() -> int { throw 1; }), int);
  CHECK(cache.get(PlanKey().add(1), [] { return 7; }) == 7);
}
