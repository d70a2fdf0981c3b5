// Matrices exchanged for their transposes, from one place to another, and a map on the way.
#pragma once

#include <ambit/dtype.h>
#include <ambit/function_table.h>

#include <cstddef>
#include <cstdint>

namespace ambit::cuda {

/// Queue to [batch,columns,rows] = from [batch,rows,columns], of elements of 2, 4 or 8
/// bytes.
void transpose(void* to, const void* from, size_t element_bytes, int64_t batch, int64_t rows,
               int64_t columns);

/// Queue the same, and a map of kActivations of each element: float32, or 16 bits.
void transpose_map(void* to, const void* from, DType dtype, int64_t batch, int64_t rows,
                   int64_t columns, UnaryOp map);

}  // namespace ambit::cuda
