// Rewriting of programs for inference. Results differ from those of the original program only in
// rounding.
#pragma once

#include <vector>

#include "trace.h"

namespace ambit::graph {

/// A program whose calls on parameters and constants are separated, because they run only once for
/// many runs.
struct Rewritten {
  Program program{};
  std::vector<Node> prelude{};        ///< calls on values of Program::state only
  std::vector<uint32_t> constants{};  ///< results of `prelude` that are inputs of the block, in
                                      ///< order after those of the program
};

/// Rewrite a program: fold constants, and batch norms in evaluation into the convolution or linear
/// layer before them; fuse relu and gelu with such a layer; drop unused indices of pooling; make
/// numbers that follow from sizes constants. `traced`: its trace.
Rewritten rewrite(const Program& program, const Trace& traced, const Mode& mode);

/// Compute elementwise functions in place where their operand is not used again. `traced`: the
/// trace of the program.
void reuse_operands(Program& program, const Trace& traced);

/// Set last_used of all nodes again.
void refresh_last_uses(Block& block);

}  // namespace ambit::graph
