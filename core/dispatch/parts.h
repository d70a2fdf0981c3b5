// Calls in float32 whose operands of 16 bits are large: cut into parts, so that never all of such
// an operand is there in float32.
#pragma once

#include <ambit/detail/widened.h>

#include <vector>

namespace ambit {

/// An operand of a call that may be cut.
struct Piece {
  Tensor tensor;
  bool reads, writes;    // what the call does with it
  bool gathers = false;  // it was contiguous, as kernels want it, before it was cut
};
using Pieces = std::vector<Piece>;

/// Return how many elements of an operand of 16 bits a device has in float32 at a time: on the CPU
/// 2 MiB for each thread. Errors: BackendError when the device does not exist.
int64_t part_elements(Device device);

/// Do a call of `op`, of ops along a dim along `dim`, in as many parts as the size of its operands
/// asks for, as far as it comes apart (cuts.h).
void run_in_parts(const OpBase& op, const Pieces& pieces, int64_t dim, const Widened::Call& call);

}  // namespace ambit
