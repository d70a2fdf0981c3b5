// What does not fit when a module's tensors are loaded. Private to nn.
#pragma once

#include <ambit/tensor.h>

#include <string>

namespace ambit::nn {

/// Return why `value` cannot be the new content of `target`, as a line that names it; empty if it
/// can.
std::string state_mismatch(const std::string& name, const Tensor& target, const Tensor& value);

}  // namespace ambit::nn
