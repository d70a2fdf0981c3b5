// Runs programs and waits for them.
#pragma once

#include <string>
#include <vector>

namespace bench {

/// Run a program, found via $PATH, and return its stdout. Errors: ambit::Error if it does not
/// start, or its exit status is not 0.
std::string output_of(std::vector<std::string> command);

/// Return the path of this program.
std::string own_file();

}  // namespace bench
