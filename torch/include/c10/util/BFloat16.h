// c10::BFloat16: the upper half of a float.
#pragma once

#include <ambit/half.h>
#include <torch/namespaces.h>

namespace c10 {

using ambit::BFloat16;

}  // namespace c10
