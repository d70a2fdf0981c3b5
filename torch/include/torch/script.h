// What programs that run TorchScript include; many use its tensors alone. TorchScript itself ambit
// lacks: the compiler says so where a program calls torch::jit::load().
#pragma once

#include <ATen/ATen.h>
#include <torch/autograd.h>
#include <torch/jit.h>
#include <torch/types.h>
