// Matrices exchanged for their transposes, from one place to another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ambit::cuda {

/// Queue to [batch,columns,rows] = from [batch,rows,columns], of elements of 2, 4 or 8
/// bytes.
void transpose(void* to, const void* from, size_t element_bytes, int64_t batch, int64_t rows,
               int64_t columns);

}  // namespace ambit::cuda
