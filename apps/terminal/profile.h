// --profile FILE, which every program has.
#pragma once

namespace CLI {
class App;
}

namespace terminal {

/// Add the option. A file that could not be written is refused with the command line.
void add_profile_option(CLI::App& app);
/// Begin the profile, if the command line has asked for one.
void begin_profile();
/// Stop it; write the trace and print the table on stderr.
/// Errors: ambit::SerializationError when the file cannot be written.
void finish_profile();

}  // namespace terminal
