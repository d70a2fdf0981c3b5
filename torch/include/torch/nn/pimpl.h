// TORCH_MODULE(Net): the holder Net of the module class NetImpl.
#pragma once

#include <ambit/nn/module_holder.h>
#include <torch/namespaces.h>

/// Define the holder `Name` of the module class that follows.
#define TORCH_MODULE_IMPL(Name, ...)                                \
  class Name : public ::ambit::nn::NamedHolder<__VA_ARGS__, Name> { \
   public:                                                          \
    using Impl = __VA_ARGS__;                                       \
    using ::ambit::nn::NamedHolder<__VA_ARGS__, Name>::NamedHolder; \
  }
#define TORCH_MODULE(Name) TORCH_MODULE_IMPL(Name, Name##Impl)
