// save() and load().
#pragma once

#include <ambit/checkpoint.h>
#include <ambit/nn/serialize.h>
#include <ambit/serialize.h>
#include <torch/nn.h>
#include <torch/optim.h>

namespace c10 {
using IValue = ambit::Value;
}  // namespace c10
namespace torch {
using c10::IValue;
}  // namespace torch
