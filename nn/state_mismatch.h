// What does not fit when a module's tensors are loaded. Private to nn.
#pragma once

#include <ambit/tensor.h>

#include <string>
#include <string_view>

namespace ambit::nn {

/// Return `value` as it becomes the content of `target`, the tensor of that name, as PyTorch takes
/// it: of a tensor with one dim the first element for a target with none. Its dtype stays: a copy
/// converts it.
Tensor fitted(const Tensor& target, const Tensor& value);
/// Return why a fitted value cannot be the new content of `target`, as a line that names it; empty
/// if it can. A floating-point dtype may be another one, and the integer dtype of a count of
/// batches.
std::string state_mismatch(const std::string& name, const Tensor& target, const Tensor& value);

/// Return whether a tensor is a norm's count of batches, which files before PyTorch 0.4.1 lack.
bool is_batch_count(std::string_view name, const Tensor& target);

}  // namespace ambit::nn
