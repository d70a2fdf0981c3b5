// Gradients, custom functions and their modes.
#pragma once

#include <ambit/autograd.h>
#include <torch/types.h>

#include <vector>

namespace torch {
using Variable = ambit::Tensor;
}  // namespace torch

namespace ambit::autograd {
using ambit::AutoGradMode;
using ambit::GradMode;
using Variable = Tensor;
using tensor_list = std::vector<Tensor>;
}  // namespace ambit::autograd
