// Calls in float32 with large reduced floating-point operands: split into parts, so that an operand
// is never upcast as a whole.
#pragma once

#include <ambit/detail/upcast_call.h>

#include <vector>

namespace ambit {

/// An operand of a call that may be split.
struct Piece {
  Tensor tensor;
  bool reads, writes;   // by the call
  bool copies = false;  // copy each part: kernels may require the operand to be contiguous
};
using Pieces = std::vector<Piece>;

/// Return how many elements of a reduced floating-point operand are upcast at a time: 2 MiB for
/// each thread on the CPU. Errors: BackendError if the device does not exist.
int64_t part_elements(Device device);

/// Run a call of `op` (with its dim, if any) in as many parts as its operands' sizes require, as
/// far as it can be split (split_rules.h).
void run_in_parts(const OpBase& op, const Pieces& pieces, int64_t dim,
                  const UpcastCall::Call& call);

}  // namespace ambit
