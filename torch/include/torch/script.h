// Header of programs that run TorchScript, many of which use only its tensors. TorchScript is not
// supported: calls of torch::jit::load() are compile errors.
#pragma once

#include <ATen/ATen.h>
#include <torch/autograd.h>
#include <torch/jit.h>
#include <torch/types.h>

#include <fstream>
