// Plans of a library for one problem, run in turn until one succeeds: that a library offers a plan
// does not mean that it works, nor that there is room for its workspace. No CUDA here: tested on
// any machine.
#pragma once

#include <ambit/error.h>

#include <cstddef>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace ambit::cuda {

/// The plans, the best first. A plan that fails is not tried again, as long as another works; one
/// that there was no room for is.
template <class Plan>
class RankedPlans {
 public:
  RankedPlans() = default;
  /// Of at least one plan, where there is any.
  explicit RankedPlans(std::vector<Plan> best) { append(std::move(best)); }

  bool empty() const { return ranked_.empty(); }
  size_t size() const { return ranked_.size(); }

  /// Run plans until `run(plan)` returns Status{}, which is success, and return that. `more()`
  /// returns further plans, asked for once, when those at hand have failed or have no room. When
  /// all have, return the last one's status. Errors: OutOfMemoryError when all have failed and one
  /// for want of memory; all others of `run` and `more` at once; Error when there is no plan.
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
  // Another time it may go better. Between calls there is always a plan that may be run.
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
