// Reads the program and the tensors of a .pt2 file. Private to nn/graph.
#pragma once

#include <map>
#include <string>

#include "program.h"

namespace ambit::graph {

/// Errors: SerializationError naming the path; NotImplementedError listing every function and dtype
/// that ambit lacks; OutOfMemoryError.
LoadedProgram read_pt2(const std::string& path);

/// Read a program from the JSON of a file, with tensors by name. Errors: SerializationError;
/// NotImplementedError listing every function that ambit lacks.
LoadedProgram read_document(std::string document, const std::map<std::string, Tensor>& tensors);

}  // namespace ambit::graph
