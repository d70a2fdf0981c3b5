// What the CUDA backend brings: one line per kernel. A wrong signature does not compile.
#include <ambit/kernels.h>
#include <ambit/plugin.h>

#include <memory>

#include "backend.h"
#include "call.h"
#include "kernels.h"

namespace ambit::cuda {

void load(Registry& registry) {
  registry.add_backend(std::make_unique<CudaBackend>());

  add<kernels::random, random>(registry);
}

}  // namespace ambit::cuda

AMBIT_PLUGIN(cuda, ambit::cuda::load)
