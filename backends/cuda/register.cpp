// The CUDA backend's entry.
#include <ambit/backend/plugin.h>

#include <memory>

#include "backends/cuda/runtime/backend.h"
#include "backends/cuda/runtime/call.h"
#include "kernels.h"

namespace ambit::cuda {

void load(Registry& registry) {
  registry.add_backend(std::make_unique<CudaBackend>());
#define AMBIT_ADD(name) add<kernels::name, name>(registry);
  AMBIT_CUDA_KERNELS(AMBIT_ADD)
#undef AMBIT_ADD
}

}  // namespace ambit::cuda

AMBIT_PLUGIN(cuda, ambit::cuda::load)
