// Code shared by the scatters.
#pragma once

#include <ambit/backend/op.h>
#include <ambit/tensor.h>

namespace ambit {

/// Check the operands of a scatter as documented; return the wrapped dim.
int64_t check_scatter(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                      const Tensor& src, DeviceRule rule);

/// Return the part of src that index covers, as a view.
Tensor covered(const Tensor& src, const Tensor& index);

}  // namespace ambit
