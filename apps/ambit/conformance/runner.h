// The parent process: it hands the cases to workers and puts together what came of them. It never
// uses a device itself, so nothing that a backend does can end it.
#pragma once

#include <functional>
#include <stdexcept>

#include "options.h"
#include "result.h"

namespace conformance {

/// The options name no device that exists, or no case. The message is for the user.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Run {
  Plan plan;
  std::vector<Result> results;  // as the plan has them, and findings outside of any case
};

/// Run all cases; with `list`, only plan them. Call `on_result` after each.
/// A worker that crashes, hangs or breaks the pipe is a failure of the case that ran, and the next
/// case gets a fresh one.
/// Errors: Refused; std::system_error.
Run run_cases(const Options& options, const std::function<void(const Run&)>& on_result);

}  // namespace conformance
