// Reads the program and the tensors of a .pt2 file. Private to nn/graph.
#pragma once

#include <ambit/tensor.h>

#include <string>
#include <vector>

#include "program.h"

namespace ambit::graph {

struct LoadedProgram {
  Program program;
  std::vector<Tensor> state;  ///< in the order of Program::state, on the cpu
};

/// Errors: SerializationError naming the path; NotImplementedError listing every function and dtype
/// that ambit lacks; OutOfMemoryError.
LoadedProgram read_pt2(const std::string& path);

}  // namespace ambit::graph
