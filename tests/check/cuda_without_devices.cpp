// libambit_cuda_without_devices.so: a backend like that of CUDA on a machine without a GPU.
#include <ambit/backend/plugin.h>

#include <memory>

#include "tests/plugin/toy.h"

namespace {

void load(ambit::Registry& registry) {
  registry.add_backend(std::make_unique<toy::ToyBackend>("cuda", 0));
}

}  // namespace

AMBIT_PLUGIN(cuda_without_devices, load)
