// Combines index tensors of several dims into one index of the merged dim.
#pragma once

#include <ambit/tensor.h>

#include <vector>

namespace ambit {

/// An index tensor and its dim.
struct AxisIndex {
  Tensor index;      ///< int64; negative values count from the end
  int64_t size = 0;  ///< size of the dim
  int64_t dim = 0;   ///< for messages
};

/// Return the positions in the row-major merged dims, on `device`, in the broadcast shape of the
/// indices; the index itself if it already is the result. Errors: ShapeError; IndexError for
/// indices on cpu, which are checked here; on other devices an invalid index becomes a position out
/// of range, which the consuming kernel reports.
Tensor linear_index(const char* op, const std::vector<AxisIndex>& axes, Device device);

}  // namespace ambit
