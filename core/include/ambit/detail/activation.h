// Activations named by their rows of function_table.h, for what takes one as a parameter.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

namespace ambit {

/// Return relu(x), gelu(x) or gelu(x, "tanh"): one of kActivations. Errors: those of them; Error
/// for another function.
AMBIT_API Tensor activated(const Tensor& x, UnaryOp activation);

}  // namespace ambit
