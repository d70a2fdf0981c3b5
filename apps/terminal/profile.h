// --profile FILE and --profile-with memory,shapes, which every program has.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace terminal {

/// Add the options. A file that could not be written is refused with the command line.
void add_profile_option(CLI::App& app);
/// Begin the profile, if the command line has asked for one.
void begin_profile();
/// Run the body and return its exit code; then end a profile that has begun, however the body ends:
/// write the trace and print the table on stderr. Of processes that train together each writes a
/// file of its own, rank 1 "trace.rank1.json" for "trace.json", and rank 0 prints its table.
/// Errors: ambit::SerializationError when the file cannot be written; those of the body.
int run_profiled(const std::function<int()>& body);

}  // namespace terminal
