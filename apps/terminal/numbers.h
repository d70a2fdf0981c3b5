// Numbers on a command line. CLI11 takes -1 for the largest unsigned number, 10^20 for the largest
// signed one, 010 for eight, and "nan" for a number within every range.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace terminal {

/// Check for a whole number in decimal digits, from `least` to `most`.
CLI::Validator whole_number(uint64_t least, uint64_t most);

/// Check for a number from `least` to `most`, which infinity and NaN are not.
CLI::Validator finite_number(double least, double most);

}  // namespace terminal
