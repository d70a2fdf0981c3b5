// Programs that are run and waited for.
#pragma once

#include <string>
#include <vector>

namespace bench {

/// Run a program, found on $PATH, and return what it wrote on stdout. Errors: ambit::Error when it
/// does not start or ends in any other way than with 0.
std::string output_of(std::vector<std::string> command);

/// Return the file of this program.
std::string own_file();

}  // namespace bench
