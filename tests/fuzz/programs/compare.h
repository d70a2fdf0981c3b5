// Runs a program on `reference` and another device side by side.
#pragma once

#include <string>
#include <vector>

#include "program.h"

namespace fuzz {

/// Return what differs first, with the step; empty where nothing does. Steps with `skip` set are
/// left out. Besides values it compares shapes, dtypes, versions, whether a gradient is wanted,
/// what else was written (views), and the kind of error.
std::string compare(const Program& program, const std::vector<bool>& skip, ambit::Device device);

/// Return the program with as few steps as still differ, as lines of Python.
std::string shrink(const Program& program, ambit::Device device);

/// Append the program and what it gave on `reference` to `to`, for torch_oracle.py.
void write_python(const Program& program, std::ostream& to);

}  // namespace fuzz
