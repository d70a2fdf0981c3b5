// Functions of one or two numbers, computed in float64 on the host.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Return f of each element, in self's dtype or the default float, and record that a gradient is
/// refused. `name` is the op's.
Tensor by_host(const char* name, const Tensor& self, double (*f)(double));
/// As above for two operands, which broadcast; errors call them x and n.
Tensor by_host(const char* name, const Tensor& x, const Tensor& n, double (*f)(double, double));

}  // namespace ambit
