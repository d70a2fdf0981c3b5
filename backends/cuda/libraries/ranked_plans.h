// Plans of a library for one problem, tried in order until one succeeds: a plan that the library
// offers may fail, or lack memory for its workspace. The class does not depend on CUDA, so that it
// is tested on any machine.
#pragma once

#include <ambit/error.h>

#include <cstddef>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace ambit::cuda {

/// Plans, best first. A failed plan is not tried again while another works; a plan that lacked
/// memory is.
template <class Plan>
class RankedPlans {
 public:
  RankedPlans() = default;
  /// Requires at least one plan, if any exist.
  explicit RankedPlans(std::vector<Plan> best) { append(std::move(best)); }

  bool empty() const { return ranked_.empty(); }
  size_t size() const { return ranked_.size(); }

  /// Run plans until `run(plan)` returns Status{}, which is success; return that. `more()` returns
  /// further plans; it is called once, when all plans have failed or lacked memory. If all fail,
  /// return the last status. Errors: OutOfMemoryError if all have failed, one of them for lack of
  /// memory; other errors of `run` and `more` immediately; Error if there is no plan.
  template <class Run, class More>
  auto run(const Run& run, const More& more) {
    using Status = decltype(run(ranked_[0].plan));
    std::optional<Status> status;
    std::exception_ptr no_room;
    for (size_t i = 0; i < ranked_.size() || has_more(more); ++i) {
      Ranked& next = ranked_[i];
      if (next.failed) continue;
      try {
        status = run(next.plan);
        if (*status == Status{}) return *status;
        next.failed = true;
      } catch (const OutOfMemoryError&) {
        no_room = std::current_exception();
      }
    }
    forget_failures();
    if (no_room) std::rethrow_exception(no_room);
    if (!status) throw Error("run: expected a plan, got none");
    return *status;
  }

 private:
  struct Ranked {
    Plan plan;
    bool failed = false;
  };

  void append(std::vector<Plan> plans) {
    for (Plan& plan : plans) ranked_.push_back({std::move(plan)});
  }
  // Allow failed plans again, so that there is always a plan to run in a later call.
  void forget_failures() {
    for (Ranked& r : ranked_) r.failed = false;
  }
  template <class More>
  bool has_more(const More& more) {
    if (is_all_) return false;
    const size_t known = ranked_.size();
    try {
      append(more());
    } catch (...) {
      forget_failures();
      throw;
    }
    is_all_ = true;
    return ranked_.size() > known;
  }

  std::vector<Ranked> ranked_;
  bool is_all_ = false;
};

}  // namespace ambit::cuda
