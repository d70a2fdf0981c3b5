// The parent process: it starts workers for the cases and collects their results. It never uses a
// device itself, so a backend cannot end it.
#pragma once

#include <functional>
#include <stdexcept>

#include "options.h"
#include "result.h"

namespace conformance {

/// Thrown if the options name no existing device or no case. The message is for the user.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Run {
  Plan plan;
  std::vector<Result> results;  // in the order of the plan, and failures outside of any case
};

/// Run all cases; with `list`, only plan them. Call `on_result` after each. A worker that crashes,
/// hangs or breaks the pipe is a failure of the running case, and a new worker runs the next case.
/// Errors: Refused; std::system_error.
Run run_cases(const Options& options, const std::function<void(const Run&)>& on_result);

}  // namespace conformance
