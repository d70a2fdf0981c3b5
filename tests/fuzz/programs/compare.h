// Runs a program on `reference` and on another device, and compares.
#pragma once

#include <string>
#include <vector>

#include "program.h"

namespace fuzz {

/// Return the first difference, with its step; empty if there is none. Steps with `skip` set are
/// omitted. Compares values, shapes, dtypes, versions, requires_grad, other written tensors
/// (views), and the kind of error.
std::string compare(const Program& program, const std::vector<bool>& skip, ambit::Device device);

/// Return the smallest program that still differs, as lines of Python.
std::string shrink(const Program& program, ambit::Device device);

/// Append the program and its results on `reference` to `to`, for torch_oracle.py.
void write_python(const Program& program, std::ostream& to);

}  // namespace fuzz
