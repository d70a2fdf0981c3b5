// What is run when plans fail.
#include "backends/cuda/libraries/ranked_plans.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

using namespace ambit;
using ambit::cuda::RankedPlans;

namespace {

enum class Status { success, failed, refused };

// Plans are numbers: which of them fail, for which there is no room, and which were run.
struct Library {
  Status run(int plan) {
    runs.push_back(plan);
    if (too_large.contains(plan)) throw OutOfMemoryError("no room for " + std::to_string(plan));
    if (broken.contains(plan)) return plan % 2 == 0 ? Status::failed : Status::refused;
    return Status::success;
  }
  Status run(RankedPlans<int>& plans) {
    runs.clear();
    return plans.run([&](int plan) { return run(plan); },
                     [&] {
                       ++asked;
                       return std::vector<int>{2, 3};
                     });
  }
  std::set<int> broken, too_large;
  std::vector<int> runs;
  int asked = 0;
};

using Runs = std::vector<int>;

}  // namespace

TEST_CASE("the first plan runs, and no others are asked for") {
  Library library;
  RankedPlans<int> plans({0, 1});
  CHECK(library.run(plans) == Status::success);
  CHECK(library.runs == Runs{0});
  CHECK(library.asked == 0);
}

TEST_CASE("a plan that fails gives way to the next, for good") {
  Library library;
  library.broken = {0};
  library.too_large = {1};
  RankedPlans<int> plans({0, 1});
  CHECK(library.run(plans) == Status::success);
  CHECK(library.runs == Runs{0, 1, 2});
  CHECK(library.run(plans) == Status::success);
  CHECK(library.runs == Runs{2});
  library.broken = {0, 2};
  CHECK(library.run(plans) == Status::success);
  CHECK(library.runs == Runs{2, 3});
  CHECK(library.asked == 1);
  CHECK(plans.size() == 4);
}

TEST_CASE("when all plans fail, the last one's status tells, or that there was no room") {
  Library library;
  library.broken = {0, 1, 2, 3};
  RankedPlans<int> plans({0, 1});
  CHECK(library.run(plans) == Status::refused);
  CHECK(library.runs == Runs{0, 1, 2, 3});
  library.broken = {0, 2, 3};
  library.too_large = {1};
  CHECK_THROWS_WITH_AS(library.run(plans), "no room for 1", OutOfMemoryError);
  CHECK(library.runs == Runs{0, 1, 2, 3});
  library.too_large.clear();  // memory was freed
  CHECK(library.run(plans) == Status::success);
  CHECK(library.runs == Runs{0, 1});
  CHECK(library.asked == 1);
}
