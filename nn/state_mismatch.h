// Checks for loading a module's tensors. Private to nn.
#pragma once

#include <ambit/tensor.h>

#include <string>
#include <string_view>

namespace ambit::nn {

/// Convert `value` to the shape of `target`, the tensor to be loaded, as PyTorch does: a 0-dim
/// target gets the first element of a 1-D value. The dtype is kept; a later copy converts it.
Tensor fitted(const Tensor& target, const Tensor& value);
/// Return why `value`, converted by fitted(), cannot be loaded into `target`, as a line that begins
/// with `name`; empty if it can. Floating-point dtypes may differ, and the integer dtypes of a
/// batch count.
std::string state_mismatch(const std::string& name, const Tensor& target, const Tensor& value);

/// Return true for num_batches_tracked of a norm, which files before PyTorch 0.4.1 lack.
bool is_batch_count(std::string_view name, const Tensor& target);

}  // namespace ambit::nn
