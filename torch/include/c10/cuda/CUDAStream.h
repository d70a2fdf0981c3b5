// Streams of devices named "cuda": ambit's, which need no events to order what ops do.
#pragma once

#include <ambit/cuda.h>
#include <torch/namespaces.h>

namespace ambit::cuda {

using CUDAStream = Stream;

}  // namespace ambit::cuda
