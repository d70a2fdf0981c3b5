// Plans of a library for one problem, run in turn until one succeeds: that a library offers a plan
// does not mean that it works, nor that there is room for its workspace. No CUDA here: tested on
// any machine.
#pragma once

#include <ambit/error.h>

#include <cstddef>
#include <exception>
#include <iterator>
#include <utility>
#include <vector>

namespace ambit::cuda {

/// The plans, the best first. A plan that fails is not tried again, as long as another works.
template <class Plan>
class RankedPlans {
 public:
  RankedPlans() = default;
  /// Of at least one plan, where there is any.
  explicit RankedPlans(std::vector<Plan> best) : plans_(std::move(best)) {}

  bool empty() const { return plans_.empty(); }
  size_t size() const { return plans_.size(); }

  /// Run plans until `run(plan)` returns Status{}, which is success, and return that. `more()`
  /// returns further plans, asked for once, when those at hand have failed. When all have, return
  /// the last one's status. Errors: OutOfMemoryError when all have failed and one for want of
  /// memory; all others of `run` and `more` at once.
  template <class Run, class More>
  auto run(const Run& run, const More& more) {
    decltype(run(plans_[0])) status{};
    std::exception_ptr no_room;
    for (;; ++next_) {
      if (next_ == plans_.size() && !std::exchange(is_all_, true)) {
        std::vector<Plan> others = more();
        std::move(others.begin(), others.end(), std::back_inserter(plans_));
      }
      if (next_ == plans_.size()) break;
      try {
        status = run(plans_[next_]);
        if (status == decltype(status){}) return status;
      } catch (const OutOfMemoryError&) {
        no_room = std::current_exception();
      }
    }
    next_ = 0;  // another time it may go better
    if (no_room) std::rethrow_exception(no_room);
    return status;
  }

 private:
  std::vector<Plan> plans_;
  size_t next_ = 0;
  bool is_all_ = false;
};

}  // namespace ambit::cuda
