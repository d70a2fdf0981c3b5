// Guards for calls in custom functions and Autograd kernels: nothing is recorded, and a custom
// operator's kernel for the device is called instead of its Autograd kernel.
#pragma once

#include <ambit/autograd.h>
#include <c10/core/DispatchKey.h>
#include <torch/namespaces.h>

namespace at {

class AutoDispatchBelowAutograd {
 public:
  AutoDispatchBelowAutograd() : excluded_(c10::DispatchKey::Autograd) {}

 private:
  ambit::NoGradGuard no_grad_;
  c10::impl::ExcludeDispatchKeyGuard excluded_;
};
using AutoDispatchBelowADInplaceOrView = AutoDispatchBelowAutograd;
using AutoNonVariableTypeMode = AutoDispatchBelowAutograd;

}  // namespace at
