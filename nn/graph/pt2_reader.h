// Reads the program and the tensors of a .pt2 file. Private to nn/graph.
#pragma once

#include <string>

#include "program.h"

namespace ambit::graph {

/// Errors: SerializationError naming the path; NotImplementedError listing every function and dtype
/// that ambit lacks; OutOfMemoryError.
LoadedProgram read_pt2(const std::string& path);

}  // namespace ambit::graph
