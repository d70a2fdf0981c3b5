// The options --profile FILE and --profile-with memory,shapes of every program.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace terminal {

/// Add the options. A file that cannot be written is a command-line error.
void add_profile_option(CLI::App& app);
/// Start the profile, if requested.
void begin_profile();
/// Run the body and return its exit code; then finish a started profile, even after an exception:
/// write the trace and print the table on stderr. Processes that train together each write a file,
/// rank 1 "trace.rank1.json" for "trace.json", and rank 0 prints its table. Errors:
/// ambit::SerializationError if the file cannot be written; those of the body.
int run_profiled(const std::function<int()>& body);

}  // namespace terminal
