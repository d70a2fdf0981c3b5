// Writes a program and its tensors as a .pt2 file. Private to nn/graph.
#pragma once

#include <ambit/tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "program.h"

namespace ambit::graph {

/// Write the document from which the program was read, with the current values of `state`: one
/// tensor for each element of Program::state, with the same dtype and sizes. `training` replaces
/// the modes of the document's calls, if set. Errors: SerializationError naming the path and the
/// cause; OutOfMemoryError. Then an existing file is unchanged.
void write_pt2(const Program& program, const std::vector<Tensor>& state,
               std::optional<bool> training, const std::string& path);

}  // namespace ambit::graph
