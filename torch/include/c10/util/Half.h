// c10::Half: a floating-point number of 16 bits, IEEE's binary16.
#pragma once

#include <ambit/half.h>
#include <torch/namespaces.h>

namespace c10 {

using ambit::Half;

}  // namespace c10
