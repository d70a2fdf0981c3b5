// Events of devices named "cuda", made as libtorch makes them.
#pragma once

#include <c10/cuda/CUDAStream.h>

namespace ambit::cuda {

class CUDAEvent : public Event {
 public:
  /// flags: CUDA's cudaEventDefault, 0, keeps time, cudaEventDisableTiming, 2, does not.
  explicit CUDAEvent(unsigned flags = 2) : Event((flags & 2) == 0) {}
};

}  // namespace ambit::cuda
