// Rows of a tensor, for products with a single matrix, where the batch is merged into the rows.
#pragma once

#include <ambit/backend/alias.h>
#include <ambit/shape.h>
#include <ambit/tensor.h>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {

/// Return the number of rows over all batches: elements divided by the last dim's size.
inline int64_t row_count(IntArrayRef sizes) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < sizes.size(); ++i) rows *= sizes[i];
  return rows;
}

/// Run a kernel on input [...,K] with weight [N,K]: kernel(out [rows,N], x [rows,K]), x strided;
/// return out as [...,N].
template <class Kernel>
Tensor by_rows(const char* op, const Tensor& input, const Tensor& weight, const Kernel& kernel) {
  const int64_t rows = row_count(input.sizes()), n = weight.sizes()[0], k = weight.sizes()[1];
  const bool as_is = input.dim() == 2;
  const Tensor x = as_is ? input : alias(dense(input), {rows, k});
  Tensor out = allocate(op, {rows, n}, input.dtype(), input.device());
  kernel(out, x);
  if (!as_is) {
    Dims sizes = input.sizes();
    sizes[sizes.size() - 1] = n;
    set_sizes(out, sizes);
  }
  return out;
}

}  // namespace ambit
