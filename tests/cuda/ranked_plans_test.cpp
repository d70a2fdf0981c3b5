// Selection of another plan when a plan fails.
#include "backends/cuda/libraries/ranked_plans.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

using namespace ambit;
using ambit::cuda::RankedPlans;

namespace {

enum class Status { success, failed, refused };

// Plans are numbers: which of them fail, which have no memory, and which were run.
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
                       if (silent) throw BackendError("no answer");
                       return further;
                     });
  }
  std::set<int> broken, too_large;
  std::vector<int> further{2, 3};
  bool silent = false;  // it cannot list further plans
  std::vector<int> runs;
  int asked = 0;
};

using Runs = std::vector<int>;

}  // namespace

TEST_CASE("the first plan runs, and no others are requested") {
  Library library;
  RankedPlans<int> plans({0, 1});
  CHECK(library.run(plans) == Status::success);
  CHECK(library.runs == Runs{0});
  CHECK(library.asked == 0);
}

TEST_CASE("a plan that fails is replaced by the next one, permanently") {
  Library library;
  library.broken = {0, 1};
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

TEST_CASE("a plan without memory is tried again before slower ones") {
  Library library;
  library.broken = {1};
  library.too_large = {0};
  RankedPlans<int> plans({0, 1});
  CHECK(library.run(plans) == Status::success);
  CHECK(library.runs == Runs{0, 1, 2});
  CHECK(library.run(plans) == Status::success);
  CHECK(library.runs == Runs{0, 2});  // the failed plan is not run
  library.too_large.clear();          // memory was freed
  for (int i = 0; i < 2; ++i) {
    CHECK(library.run(plans) == Status::success);
    CHECK(library.runs == Runs{0});
  }
  CHECK(library.asked == 1);
}

TEST_CASE("if the library cannot list further plans, the call is not a success") {
  for (const bool no_room : {false, true}) {
    CAPTURE(no_room);
    Library library;
    library.silent = true;
    (no_room ? library.too_large : library.broken) = {0, 1};
    RankedPlans<int> plans({0, 1});
    for (int i = 1; i <= 3; ++i) {
      CHECK_THROWS_WITH_AS(library.run(plans), "no answer", BackendError);
      CHECK(library.runs == Runs{0, 1});  // it fails again, not only the first time
      CHECK(library.asked == i);
    }
    library.silent = false;
    CHECK(library.run(plans) == Status::success);
    CHECK(library.runs == Runs{0, 1, 2});
    CHECK(library.asked == 4);
  }
}

TEST_CASE("without further plans, the failed ones are tried each time") {
  Library library;
  library.broken = {0, 1};
  library.further = {};
  RankedPlans<int> plans({0, 1});
  for (int i = 0; i < 3; ++i) {
    CHECK(library.run(plans) == Status::refused);
    CHECK(library.runs == Runs{0, 1});
  }
  CHECK(library.asked == 1);
}

TEST_CASE("without any plan nothing runs, which is not a success") {
  Library library;
  library.further = {};
  RankedPlans<int> plans;
  for (int i = 0; i < 2; ++i) CHECK_THROWS_AS(library.run(plans), Error);
  CHECK(library.runs.empty());
}

TEST_CASE("an error other than lack of memory keeps the list of plans") {
  RankedPlans<int> plans({0, 1, 2});
  Runs runs;
  bool breaks = true;
  const auto run = [&](int plan) {
    runs.push_back(plan);
    if (plan == 1 && breaks) throw BackendError("lost");
    return plan == 0 ? Status::failed : Status::success;
  };
  const auto none = [] { return std::vector<int>{}; };
  CHECK_THROWS_AS(plans.run(run, none), BackendError);
  breaks = false;
  CHECK(plans.run(run, none) == Status::success);
  CHECK(runs == Runs{0, 1, 1});
}

TEST_CASE("when all plans fail, the last status is returned, or that there was no memory") {
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
