// Modules.
#pragma once

#include <ambit/nn/nn.h>
#include <torch/arg.h>
#include <torch/enum.h>
#include <torch/expanding_array.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

/// In a module class, the arguments of its forward() that may be left out where an AnyModule or
/// Sequential calls it: FORWARD_HAS_DEFAULT_ARGS({1, torch::nn::AnyValue(2)}), by position.
#define FORWARD_HAS_DEFAULT_ARGS(...) \
  friend ::ambit::nn::AnyModule;      \
  static ::ambit::nn::AnyModule::Defaults forward_defaults() { return {__VA_ARGS__}; }
