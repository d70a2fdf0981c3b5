#include "scratch.h"

#include <ambit/backend/registry.h>

namespace ambit::cpu {

Scratch::Scratch(size_t bytes)
    : bytes_(bytes), data_(bytes == 0 ? nullptr : backend_of(kCPU).allocate(0, bytes)) {}

Scratch::~Scratch() {
  if (data_) backend_of(kCPU).free(0, data_, bytes_);
}

}  // namespace ambit::cpu
