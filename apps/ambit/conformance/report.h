// Reports of a run: a table, Markdown, or JSON.
#pragma once

#include <string>

#include "options.h"
#include "runner.h"

namespace conformance {

/// Return the run in the requested format. JSON has every failure in full; the other formats have
/// the first in full, with the command that repeats it, and the names of the others.
std::string report(const Run& run, const Options& options);

/// Return the number of cases with an outcome.
size_t count(const Run& run, Outcome outcome);

}  // namespace conformance
