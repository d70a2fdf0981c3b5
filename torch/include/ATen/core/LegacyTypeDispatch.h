// Guards under which a custom function calls what records no gradients: each is a NoGradGuard.
#pragma once

#include <ambit/autograd.h>
#include <torch/namespaces.h>

namespace at {

using AutoDispatchBelowADInplaceOrView = ambit::NoGradGuard;
using AutoDispatchBelowAutograd = ambit::NoGradGuard;
using AutoNonVariableTypeMode = ambit::NoGradGuard;

}  // namespace at
