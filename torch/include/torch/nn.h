// Modules.
#pragma once

#include <ambit/nn/nn.h>
#include <torch/arg.h>
#include <torch/enum.h>
#include <torch/expanding_array.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

/// In a module class: default arguments of forward() for calls by AnyModule or Sequential, by
/// position: FORWARD_HAS_DEFAULT_ARGS({1, torch::nn::AnyValue(2)}).
#define FORWARD_HAS_DEFAULT_ARGS(...) \
  friend ::ambit::nn::AnyModule;      \
  static ::ambit::nn::AnyModule::Defaults forward_defaults() { return {__VA_ARGS__}; }
