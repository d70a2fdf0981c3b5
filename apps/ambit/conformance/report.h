// What a run prints: a table for people, the same in Markdown, or JSON for programs.
#pragma once

#include <string>

#include "options.h"
#include "runner.h"

namespace conformance {

/// The run in the format that the options ask for. Each failure is told in full in JSON; the other
/// formats tell the first in full, with the command that repeats it, and name the others.
std::string report(const Run& run, const Options& options);

/// How many cases have an outcome.
size_t count(const Run& run, Outcome outcome);

}  // namespace conformance
