// c10::Half: a 16-bit floating-point number, IEEE binary16.
#pragma once

#include <ambit/half.h>
#include <torch/namespaces.h>

namespace c10 {

using ambit::Half;

}  // namespace c10
