// Events of devices named "cuda", with libtorch's constructor.
#pragma once

#include <c10/cuda/CUDAStream.h>

namespace ambit::cuda {

class CUDAEvent : public Event {
 public:
  /// flags: cudaEventDefault, 0, enables timing, cudaEventDisableTiming, 2, disables it.
  explicit CUDAEvent(unsigned flags = 2) : Event((flags & 2) == 0) {}
};

}  // namespace ambit::cuda
