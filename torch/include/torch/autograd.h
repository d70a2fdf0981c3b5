// Gradients, custom functions and their modes.
#pragma once

#include <ambit/autograd.h>
#include <torch/types.h>

namespace torch {
using Variable = ambit::Tensor;
}  // namespace torch

namespace ambit::autograd {
using Variable = Tensor;
}  // namespace ambit::autograd
