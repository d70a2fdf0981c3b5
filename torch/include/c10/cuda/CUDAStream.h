// Streams of devices named "cuda"; ambit orders ops of different streams without events.
#pragma once

#include <ambit/cuda.h>
#include <torch/namespaces.h>

namespace ambit::cuda {

using CUDAStream = Stream;

}  // namespace ambit::cuda
