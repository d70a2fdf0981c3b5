// self + factor * other in one kernel: sums and differences with an alpha.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Promote, broadcast, allocate, run the kernel and record. Requires that both are defined and
/// their devices checked; errors name `op`.
Tensor add_scaled(const char* op, const Tensor& self, const Tensor& other, const Scalar& factor);
/// As above, in place; `name` is the name of the graph's node.
const Tensor& add_scaled_in_place(const char* op, const char* name, const Tensor& self,
                                  const Tensor& other, const Scalar& factor);

}  // namespace ambit
