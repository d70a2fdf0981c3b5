// The distribution of reductions over threads includes every element once and depends only on the
// sizes.
#include <ambit/ambit.h>
#include <ambit/backend/reference.h>
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cuda/loops/accumulator.h"
#include "backends/cuda/loops/reduce_plan.h"
#include "backends/cuda/loops/reduce_walk.h"

using namespace ambit;
using namespace ambit::cuda;

TEST_CASE("a multiplication divides 64-bit positions exactly") {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const int64_t d : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{7}, int64_t{641},
                          int64_t{65537}, (int64_t{1} << 32) - 1, int64_t{1} << 32,
                          (int64_t{1} << 32) + 1, int64_t{1} << 62, kMost - 1, kMost}) {
    const LongDivider divider(d);
    for (const int64_t near : {int64_t{0}, d, d * (kMost / d / 2), d * (kMost / d), kMost - 2}) {
      for (int64_t n = std::max<int64_t>(near - 2, 0); n - near < 2; ++n) {
        CAPTURE(n);
        CAPTURE(d);
        CHECK(divider.divide(n) == n / d);
        if (n == kMost) break;
      }
    }
  }
}

TEST_CASE("steps through the reduced dims reach the same positions, with carries in all dims") {
  const Tensor x = empty({3, 5, 4, 7, 2}, kInt64);
  for (const uint64_t kept : {0u, 1u, 2u, 4u, 8u, 5u, 10u, 21u, 18u, 31u}) {
    const ReduceWalk walk = reduce_walk("sum", x, [&](size_t d) { return kept >> d & 1; });
    int64_t length = 1;
    for (int d = 0; d < walk.reduced_dims; ++d) length *= walk.reduced[d].size.divisor;
    for (const int64_t step : {1, 2, 7, 8, 64, 256}) {
      for (const int64_t first : {int64_t{0}, length / 3}) {
        ReduceSteps steps(walk, first, step);
        for (int64_t i = first; i < length; i += step, steps.advance()) {
          CAPTURE(kept);
          CAPTURE(step);
          CAPTURE(i);
          REQUIRE(steps.offset() == walk.reduced_offset(i));
        }
      }
    }
  }
}

TEST_CASE("a plan fills its blocks, and its splits cover every element once") {
  for (const int64_t results :
       {int64_t{1}, int64_t{2}, int64_t{31}, int64_t{1000}, (int64_t{1} << 31) + 5}) {
    for (const int64_t length : {int64_t{0}, int64_t{1}, int64_t{5}, int64_t{1024}, int64_t{100003},
                                 (int64_t{1} << 31) + 5}) {
      for (const bool along_memory : {false, true}) {
        CAPTURE(results);
        CAPTURE(length);
        CAPTURE(along_memory);
        const ReducePlan plan = plan_reduce(results, length, along_memory, 132);
        CHECK(plan.outputs * plan.lanes == kThreads);
        CHECK(std::has_single_bit(static_cast<unsigned>(plan.lanes)));
        CHECK(plan.blocks() / plan.splits * plan.outputs >= results);
        CHECK(plan.blocks() >= 1);
        CHECK(plan.split_begin(0) == 0);
        CHECK(plan.split_begin(plan.splits) == length);
        for (int64_t s = 0; s < plan.splits; ++s) {
          const int64_t n = plan.split_begin(s + 1) - plan.split_begin(s);
          CHECK(n >= length / plan.splits);
          CHECK(n <= length / plan.splits + 1);
        }
      }
    }
  }
}

TEST_CASE("one long sum is split over the whole GPU, many short ones are not split") {
  CHECK(plan_reduce(1, int64_t{1} << 28, true, 132).splits == 528);
  CHECK(plan_reduce(1, 2048, true, 132).splits == 2);
  CHECK(plan_reduce(1, 1000, true, 132).splits == 1);
  CHECK(plan_reduce(100000, 1 << 20, true, 132).splits == 1);
}

TEST_CASE("neighbouring threads read neighbouring elements") {
  CHECK(plan_reduce(1000, 64, true, 132).lanes == 16);
  // For sums of columns, the threads of a warp read along a row.
  CHECK(plan_reduce(1000, 64, false, 132).outputs >= 32);
  CHECK(plan_reduce(3, 100000, false, 132).outputs == 4);
}

TEST_CASE("the first of equal extremes is returned, and NaN before all others") {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const auto index = [](double a, double b, bool largest) {
    const Extreme<double> x{a, 3}, y{b, 8};
    const int64_t found = better(x, y, largest).index;
    CHECK(better(y, x, largest).index == found);  // for any order
    return found;
  };
  CHECK(index(1, 2, true) == 8);
  CHECK(index(1, 2, false) == 3);
  CHECK(index(2, 2, true) == 3);
  CHECK(index(2, kNaN, true) == 8);
  CHECK(index(2, kNaN, false) == 8);
  CHECK(index(kNaN, kNaN, true) == 3);
  const Extreme<double> none{0, -1}, some{-5, 4};
  CHECK(better(none, some, true).index == 4);
  CHECK(better(some, none, true).index == 4);
  CHECK(arithmetic::worst<int8_t>(true) == -128);
  CHECK(arithmetic::worst<float>(false) == std::numeric_limits<float>::infinity());
  CHECK_FALSE(arithmetic::worst<bool>(true));
}

// Sum as the lanes of all splits do, each over the elements assigned to it.
Tensor sum_by_plan(const Tensor& x, IntArrayRef kept_sizes, bool along_memory) {
  const Tensor y = zeros(kept_sizes, x.dtype());
  const ReduceWalk walk = reduce_walk("sum", x, [&](size_t d) { return kept_sizes[d] != 1; });
  const int64_t results = y.numel(), length = x.numel() / results;
  const ReducePlan plan = plan_reduce(results, length, along_memory, 132);
  for (int64_t result = 0; result < results; ++result) {
    for (int64_t split = 0; split < plan.splits; ++split) {
      for (int lane = 0; lane < plan.lanes; ++lane) {
        int64_t i = plan.split_begin(split) + lane;
        ReduceSteps steps(walk, i, plan.lanes);
        for (; i < plan.split_begin(split + 1); i += plan.lanes, steps.advance()) {
          y.data_ptr<int64_t>()[result] +=
              x.data_ptr<int64_t>()[walk.kept_offset(result) + steps.offset()];
        }
      }
    }
  }
  return y;
}

TEST_CASE("lanes and splits together have the reference's sum, for any dims and strides") {
  const Tensor dense = randint(-1000, 1000, {6, 5, 700, 3}, kInt64);
  for (const Tensor& x : {dense, dense.transpose(0, 3), dense.slice(2, 3, 600, 2),
                          dense.select(0, 2).unsqueeze(0).expand({4, 5, 700, 3})}) {
    for (int mask = 0; mask < 16; ++mask) {  // the summed dims
      Dims sizes(x.sizes());
      for (size_t d = 0; d < 4; ++d) {
        if (mask >> d & 1) sizes[d] = 1;
      }
      Tensor want = zeros(sizes, kInt64);
      reference::reduce(want, x, ReduceOp::sum);
      CAPTURE(mask);
      CHECK(sum_by_plan(x, sizes, true).equal(want));
      CHECK(sum_by_plan(x, sizes, false).equal(want));
    }
  }
}
