// Rows of a tensor: what a product with one matrix sees of it, the batch being only more rows.
#pragma once

#include <ambit/shape.h>

namespace ambit {

/// Number of rows over all batches, that is of elements but for the last dim.
inline int64_t row_count(IntArrayRef sizes) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < sizes.size(); ++i) rows *= sizes[i];
  return rows;
}

}  // namespace ambit
