// c10::Stream and c10::StreamGuard: those of devices named "cuda", the only ones with streams.
#pragma once

#include <c10/cuda/CUDAGuard.h>

namespace c10 {

using Stream = ambit::cuda::Stream;
using StreamGuard = ambit::cuda::StreamGuard;

}  // namespace c10
