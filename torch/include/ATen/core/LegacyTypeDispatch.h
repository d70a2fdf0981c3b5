// Guards for calls without gradient recording in custom functions; each is a NoGradGuard.
#pragma once

#include <ambit/autograd.h>
#include <torch/namespaces.h>

namespace at {

using AutoDispatchBelowADInplaceOrView = ambit::NoGradGuard;
using AutoDispatchBelowAutograd = ambit::NoGradGuard;
using AutoNonVariableTypeMode = ambit::NoGradGuard;

}  // namespace at
