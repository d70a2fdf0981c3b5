// Transposes of matrices, optionally with a map of the elements.
#pragma once

#include <ambit/dtype.h>
#include <ambit/function_table.h>

#include <cstddef>
#include <cstdint>

namespace ambit::cuda {

/// Queue to [batch,columns,rows] = transpose of from [batch,rows,columns], elements of 2, 4 or 8
/// bytes.
void transpose(void* to, const void* from, size_t element_bytes, int64_t batch, int64_t rows,
               int64_t columns);

/// As transpose(), and apply a map of kActivations: float32 or reduced floating-point types.
void transpose_map(void* to, const void* from, DType dtype, int64_t batch, int64_t rows,
                   int64_t columns, UnaryOp map);

}  // namespace ambit::cuda
