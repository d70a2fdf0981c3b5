// Numbers on a command line. CLI11 itself accepts -1 as the largest unsigned number, 10^20 as the
// largest signed one, 010 as eight, and "nan" within every range.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace terminal {

/// Validate a whole number in decimal digits, from `least` to `most`.
CLI::Validator whole_number(uint64_t least, uint64_t most);

/// Validate a finite number from `least` to `most`.
CLI::Validator finite_number(double least, double most);

}  // namespace terminal
