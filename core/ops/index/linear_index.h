// From several index tensors, one for each of several dims, to one that counts in their product.
#pragma once

#include <ambit/tensor.h>

#include <vector>

namespace ambit {

/// An index tensor and what it indexes.
struct AxisIndex {
  Tensor index;      ///< int64, negative values counting from the end
  int64_t size = 0;  ///< of the dim
  int64_t dim = 0;   ///< for messages
};

/// Return, in the shape that the indices broadcast to and on `device`, the positions in the
/// row-major product of the dims; the index itself where it says just these. Errors: ShapeError;
/// IndexError for indices on cpu, which are checked here; elsewhere a wrong one becomes a position
/// out of range, which the kernel that takes it reports.
Tensor linear_index(const char* op, const std::vector<AxisIndex>& axes, Device device);

}  // namespace ambit
